import multiprocessing
from pathlib import Path

import pytest

from benchmarks import mutation
from benchmarks.mutants import mutants_of
from benchmarks.mutation import ModuleTests, failing_test, judge


@pytest.fixture
def repository(tmp_path) -> Path:
    """A product of two modules with tests, one of which fails when a number changes."""
    root = tmp_path / "0"
    texts = {
        "ranker/half.py": '"""x"""\n\nHALF = 2\nUNUSED = 3\n',
        "ranker/whole.py": "from wikisum.ranker.half import HALF\n",
        "tests/ranker/test_half.py": "def test_nothing():\n    pass\n",
        "tests/ranker/test_whole.py": "from ranker.half import HALF\n\n\n"
        "def test_it():\n    assert HALF == 2\n",
        "tests/ranker/data/test_deep.py": "import time\n\n\ndef test_it():\n    time.sleep(60)\n",
        "tests/crawl/wikipedia/test_mend.py": "",
        "tests/test_build.py": "from wikisum.ranker import half\n",
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_the_tests_of_a_module_come_first_and_builds_not_at_all(repository):
    tests = ModuleTests(repository)
    assert tests.own("ranker/half.py") == ["tests/ranker/test_half.py"]
    assert tests.own("ranker/other.py") == []
    assert tests.own("crawl/wikipedia/marks.py") == ["tests/crawl/wikipedia/test_mend.py"]
    assert tests.wider("ranker/half.py", 10) == ["tests/ranker/test_whole.py"]


def test_a_mutant_is_noticed_or_survives_and_the_file_is_restored(repository, monkeypatch):
    monkeypatch.setattr("benchmarks.mutants.ROOT", repository)
    multiprocessing.set_forkserver_preload([])
    path = repository / "ranker" / "half.py"
    two, three = sorted(mutants_of(path), key=lambda mutant: mutant.line)
    text = path.read_text()
    tests = ModuleTests(repository)
    row = judge(two, repository, tests, 10)
    assert row["noticed_by"] == "tests/ranker/test_whole.py::test_it"
    assert (row["before"], row["after"], row["text"]) == ("2", "3", "HALF = 2")
    assert path.read_text() == text
    assert judge(three, repository, tests, 10)["noticed_by"] is None


def test_tests_that_take_too_long_are_ended(repository):
    multiprocessing.set_forkserver_preload([])
    assert failing_test(repository, ["tests/ranker/data/test_deep.py"], 5) == mutation.TOO_LONG
