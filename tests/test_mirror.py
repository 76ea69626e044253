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
    "pipeline/corpora/corpus.py": ("pipeline/corpora/test_read.py", "records of the readers"),
    "pipeline/commands/exchange/*.py": ("pipeline/corpora/test_stage.py", "flags of one call each"),
    "crawl/wikipedia/marks.py": ("crawl/wikipedia/test_mend.py", "constants"),
    "ranker/training/loop.py": ("models/training/test_train.py", "needs a model to train"),
    "ranker/training/settings.py": ("ranker/training/test_fields.py", "fields"),
    "ranker/training/reader.py": ("models/data/test_batches.py", "a protocol of two readers"),
    "ranker/training/loss.py": ("ranker/training/test_monitor.py", "sums of losses"),
    "models/vocabulary/subwords.py": ("models/vocabulary/test_run_vocabulary.py", "one of two"),
    "models/training/vocabulary.py": ("models/training/test_train.py", "a step of training"),
    "models/convert/*.py": ("models/convert", "steps of one conversion"),
    "models/export/*.py": ("models/export/test_formats.py", "steps of one export"),
    "models/decoding/split.py": ("models/decoding/test_summarize.py", "a loop over a split"),
    "models/hierarchical_decoder/*.py": (
        "models/hierarchical_decoder/test_hierarchical_decoder.py",
        "compared as whole models with their equations",
    ),
    "models/pointer/*.py": (
        "models/pointer/test_pointer_generator.py",
        "compared as whole models with their equations",
    ),
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
