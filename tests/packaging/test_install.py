"""The wheel works outside the checkout, with no more packages than its extras require."""

from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from tests.packaging.environments import (
    build,
    copy_checkout,
    install,
    make_environment,
    names_in,
    run,
    unpack,
)

pytestmark = pytest.mark.slow

IMPORT_ALL = """
import importlib, pkgutil, wikisum
for module in pkgutil.walk_packages(wikisum.__path__, "wikisum."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""
BUILT_FILES = ("crawl/extract/main_text.json", "pipeline/report/report.html", "py.typed")


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
def dataset(wheel, tmp_path_factory) -> Path:
    """The sample, built in an environment that has the extra `build` and not torch."""
    folder = tmp_path_factory.mktemp("build")
    programs = make_environment(folder / "venv", wheel, "build")
    words = ["--articles", GOLDEN / "sample.xml.bz2", "--warcs", f"{GOLDEN}/sample-*.gz"]
    words += ["--search-results", GOLDEN / "search.jsonl", "--vocab-size", 1000]
    run(programs / "wikisum", "build", *words, "--out", folder / "data", cwd=folder)
    run(programs / "wikisum", "validate", folder / "data", cwd=folder)
    return folder / "data"


def test_checkout_and_sdist_give_the_same_wheel(checkout, wheel, tmp_path):
    names = names_in(wheel)
    assert names == names_in(build(checkout, "wheel", tmp_path))
    assert {f"wikisum/{name}" for name in BUILT_FILES} <= set(names)
    assert not [name for name in names if not name.startswith(("wikisum/", "wikisum-"))]


def test_build_needs_nothing_but_its_extra(dataset):
    assert (dataset / "report" / "index.html").is_file()
    assert list((dataset / "examples").glob("train-*.parquet"))


def test_training_needs_nothing_but_its_extra(wheel, dataset, tmp_path):
    programs = make_environment(tmp_path / "venv", wheel, "train")
    code = "from importlib.util import find_spec as f; print(f('apache_beam'), f('spacy'))"
    assert run(programs / "python", "-c", code, cwd=tmp_path) == "None None\n"
    sizes = ["--steps", 2, "--batch-tokens", 2000, "--validate-every", 2]
    run(programs / "wikisum", "train", "summarizer", "--preset", "tiny", "--data", dataset,
        "--out", "ht", *sizes, cwd=tmp_path)  # fmt: skip
    run(programs / "wikisum", "summarize", "--run", "ht", "--split", "test", "--max-tokens", 5,
        "--beam", 1, "--out", "test.jsonl", cwd=tmp_path)  # fmt: skip
    run(programs / "wikisum", "evaluate", "summaries", "test.jsonl", "--data", dataset,
        "--split", "test", "--out", "scores", cwd=tmp_path)  # fmt: skip
    run(programs / "wikisum", "train", "ranker", "--preset", "tiny", "--data", dataset,
        "--steps", 1, "--out", "ranker", cwd=tmp_path)  # fmt: skip
    assert (tmp_path / "test.jsonl").read_text().count("\n") > 0
    assert (tmp_path / "scores" / "index.html").is_file()


def test_every_module_is_imported_from_the_wheel(wheel, tmp_path):
    programs = make_environment(tmp_path / "venv", wheel, "all")
    printed = run(programs / "python", "-c", IMPORT_ALL, cwd=tmp_path)
    assert len(printed.split()) > 200


def test_beam_stages_an_sdist_that_installs(checkout, tmp_path):
    from apache_beam.options.pipeline_options import PipelineOptions
    from apache_beam.runners.portability.stager import Stager

    options = PipelineOptions([f"--setup_file={checkout / 'setup.py'}"])
    Stager.create_job_resources(options, str(tmp_path))
    (staged,) = tmp_path.glob("*.tar.gz")
    wheel = build(unpack(staged, tmp_path / "unpacked"), "wheel", tmp_path / "dist")
    programs = make_environment(tmp_path / "venv", wheel, "build")
    code = "import wikisum.pipeline.build as b; print(b.__file__)"
    assert str(tmp_path) in run(programs / "python", "-c", code, cwd=tmp_path)


def test_an_editable_install_imports_the_checkout(checkout, tmp_path):
    python = install(build(checkout, "editable", tmp_path), tmp_path / "venv")
    code = "import wikisum.crawl.errors as e; print(e.__file__)"
    assert str(checkout) in run(python, "-c", code, cwd=tmp_path)
