import shutil
import subprocess
import sys

import pytest

from tests.packaging.environments import ROOT, setup_arguments

PACKAGES = ("crawl", "ranker", "graphs", "pipeline", "models")


@pytest.fixture
def broken(tmp_path):
    """A checkout in which git wrote links as text files, as it does where there are no links."""
    (tmp_path / "wikisum").mkdir()
    shutil.copy(ROOT / "setup.py", tmp_path)
    shutil.copy(ROOT / "wikisum" / "__init__.py", tmp_path / "wikisum")
    for name in PACKAGES:
        (tmp_path / "wikisum" / name).write_text(f"../{name}")
    return tmp_path


@pytest.mark.parametrize("words", [("setup.py", "--version"), ("-c", "import wikisum")])
def test_a_checkout_without_links_is_reported(broken, words):
    done = subprocess.run(
        [sys.executable, "-P", *words] if words[0] == "setup.py" else [sys.executable, *words],
        cwd=broken, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "wikisum/crawl is not a folder: the checkout has lost its symbolic links" in last
    assert "git clone -c core.symlinks=true" in last


def test_there_is_one_version():
    import wikisum

    assert setup_arguments()["version"] == wikisum.__version__
    assert f"## {wikisum.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_citation_file_is_one_that_tools_read():
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["cff-version"] == "1.2.0"
    assert {"title", "authors", "message", "license"} <= set(cited)
    assert len(cited["references"]) == 2
