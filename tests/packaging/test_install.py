"""The wheel works outside the checkout, with no more packages than its extras require."""

from pathlib import Path

import pytest

from tests.packaging.environments import (
    ROOT,
    build,
    copy_checkout,
    install,
    make_environment,
    names_in,
    run,
    unpack,
)
from tests.test_readme import commands_of

pytestmark = [pytest.mark.slow, pytest.mark.longest]

# of the tutorial: build, validate, then what a training machine does
COMMANDS = list(commands_of((ROOT / "docs" / "tutorial.md").read_text()))
FEWER = {"ranker": ["--steps", 2, "--validate-every", 1],
         "summarizer": ["--steps", 2, "--warmup-steps", 1]}  # fmt: skip

IMPORT_ALL = """
import importlib, pkgutil, wikisum
for module in pkgutil.walk_packages(wikisum.__path__, "wikisum."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""
PACKAGE_DATA = (
    "crawl/extract/main_text.json",
    "models/judging/web/page.css",
    "models/judging/web/page.js",
    "pipeline/report/report.html",
    "py.typed",
)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return copy_checkout(tmp_path_factory.mktemp("source") / "checkout")


@pytest.fixture(scope="module")
def wheel(checkout, tmp_path_factory):
    """The wheel that is built from the sdist, as `python -m build` does."""
    folder = tmp_path_factory.mktemp("dist")
    sdist = build(checkout, "sdist", folder)
    return build(unpack(sdist, folder / "unpacked"), "wheel", folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the commands of the tutorial can run."""
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "tests").symlink_to(ROOT / "tests")
    text = "The lake lies in the valley, and many birds rest there in spring. "
    (folder / "page.html").write_text(f"<title>Lake Verrin</title><p>{text * 3}</p>")
    return folder


@pytest.fixture(scope="module")
def dataset(wheel, folder) -> Path:
    """The sample, built in an environment that has the extra `build` and not torch."""
    programs = make_environment(folder / "build", wheel, "build")
    build_words, validate_words = COMMANDS[:2]
    run(programs / "wikisum", *build_words, "--workers", 1, cwd=folder)
    run(programs / "wikisum", *validate_words, cwd=folder)
    return folder / "out" / "demo"


def test_checkout_and_sdist_give_the_same_wheel(checkout, wheel, tmp_path):
    names = names_in(wheel)
    assert names == names_in(build(checkout, "wheel", tmp_path))
    assert {f"wikisum/{name}" for name in PACKAGE_DATA} <= set(names)
    assert not [name for name in names if not name.startswith(("wikisum/", "wikisum-"))]


def test_build_needs_nothing_but_its_extra(dataset):
    assert (dataset / "report" / "index.html").is_file()
    assert list((dataset / "examples").glob("train-*.parquet"))


def test_training_needs_nothing_but_its_extra(wheel, dataset, folder, tmp_path):
    programs = make_environment(tmp_path / "venv", wheel, "train")
    code = "from importlib.util import find_spec as f; print(f('apache_beam'), f('spacy'))"
    assert run(programs / "python", "-c", code, cwd=tmp_path) == "None None\n"
    for words in COMMANDS[2:]:
        fewer = FEWER[words[1]] if words[0] == "train" else []
        run(programs / "wikisum", *words, *fewer, cwd=folder)
    run_folder = folder / "out" / "demo-ht"
    assert (run_folder / "test.jsonl").read_text().count("\n") == 2
    assert (run_folder / "scores" / "index.html").is_file()


def test_every_module_is_imported_from_the_wheel(wheel, tmp_path):
    programs = make_environment(tmp_path / "venv", wheel, "all")
    printed = run(programs / "python", "-c", IMPORT_ALL, cwd=tmp_path)
    assert len(printed.split()) > 200


def test_an_editable_install_imports_the_checkout(checkout, tmp_path):
    python = install(build(checkout, "editable", tmp_path), tmp_path / "venv")
    code = "import wikisum.crawl.errors as e; print(e.__file__)"
    assert str(checkout) in run(python, "-c", code, cwd=tmp_path)
