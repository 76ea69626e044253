"""Every script of benchmarks/ finds what it imports, and every fuzzer runs."""

import importlib
import random
from pathlib import Path

import pytest

import benchmarks

FOLDER = Path(next(iter(benchmarks.__path__)))
# warcio leaves the closing of its temporary files to the garbage collector
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.py")))
def test_a_benchmark_imports_what_exists(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))  # as `python benchmarks/NAME.py` does
    try:
        importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package in {"wikisum", "benchmarks", "tests"} or (FOLDER / f"{package}.py").exists():
            raise
        pytest.skip(f"{package} is not installed")


@pytest.mark.parametrize("name", ["fuzz_data", "fuzz_readers", "fuzz_web"])
def test_a_fuzzer_finds_nothing_in_a_few_rounds(name):
    rng = random.Random(5)
    for play in importlib.import_module(f"benchmarks.{name}").ROUNDS.values():
        for _ in range(10):
            assert play(rng)
