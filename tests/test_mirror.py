"""Every module has its own test file, tests/<package>/<folder>/test_<module>.py, or a reason.

A module without one is tested by the file that is named here; the text says why.
"""

from pathlib import Path

import pytest

from tests.test_layers import PACKAGES, ROOT, modules

# module, or the modules of a pattern: (test file, reason)
ELSEWHERE = {
    "pipeline/errors.py": ("pipeline/engine/test_run.py", "a class without a body"),
    "pipeline/reasons.py": ("pipeline/test_stages.py", "sentences; one rule serves all stages"),
    "pipeline/*/settings.py": ("pipeline/test_stage_settings.py", "fields; one rule serves all"),
    "pipeline/commands/exchange/*.py": ("pipeline/corpora/test_stage.py", "flags of one call each"),
    "crawl/wikipedia/marks.py": ("crawl/wikipedia/test_mend.py", "constants"),
    "ranker/data/errors.py": ("ranker/data/test_check.py", "a class without a body"),
    "pipeline/recurring/stage.py": ("pipeline/recurring/test_count.py", "a stage, run as a whole"),
    "ranker/training/settings.py": ("ranker/learned/test_settings.py", "fields"),
    "ranker/training/loss.py": ("ranker/training/test_loop.py", "records without methods"),
}


def exception_of(path: Path) -> str | None:
    """The pattern that lists a module, if one does."""
    return next((pattern for pattern in ELSEWHERE if path.match(pattern)), None)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_its_own_test_file(package):
    missing = []
    for module in modules(package):
        path = module.relative_to(ROOT)
        has_tests = (ROOT / "tests" / path.with_name(f"test_{path.name}")).exists()
        if not has_tests and exception_of(path) is None:
            missing.append(str(path))
    assert missing == []


@pytest.mark.parametrize("pattern", ELSEWHERE)
def test_an_exception_names_modules_and_tests_that_exist(pattern):
    tests, reason = ELSEWHERE[pattern]
    assert list(ROOT.glob(pattern)), f"{pattern} names no module"
    assert (ROOT / "tests" / tests).exists(), f"{tests} does not exist"
    assert reason
