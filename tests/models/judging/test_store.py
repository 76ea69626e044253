import sqlite3
import threading
from contextlib import closing

import pytest

from wikisum.models.judging.assignment import Screen
from wikisum.models.judging.questions import Question
from wikisum.models.judging.store import Answer, Example, Judge, Store, create

JUDGES = [Judge(1, "one", "judge"), Judge(2, "two", "judge"), Judge(3, "three", "marker")]
EXAMPLE = Example("é", "T", "L", ("p",), ("s", "t"), (Question("q", "a"),))
SCREENS = {1: [Screen(0, (1, 0)), Screen(0, (0,))], 2: [], 3: [Screen(0, question=0)]}


@pytest.fixture
def store(tmp_path):
    create(tmp_path / "s.sqlite", JUDGES, [EXAMPLE], SCREENS)
    return Store(tmp_path / "s.sqlite")


def test_what_was_written_is_read(store):
    assert store.judges() == JUDGES
    assert store.judge("two") == JUDGES[1]
    assert store.judge("tw") is store.judge("") is None
    assert store.examples() == [EXAMPLE]
    assert {j: store.screens(j) for j in (1, 2, 3)} == SCREENS
    with closing(sqlite3.connect(store.path)) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_the_newest_answer_counts(store):
    store.save(1, 2, {"a": "1", "b": "2"})
    store.save(1, 2, {"a": "3"})
    store.save(2, 1, {"a": "4"})
    assert store.answers(1) == [Answer(1, 2, "a", "3"), Answer(1, 2, "b", "2")]
    store.delete(1, 2, "b")
    assert store.answers() == [Answer(1, 2, "a", "3"), Answer(2, 1, "a", "4")]


@pytest.mark.slow
def test_judges_at_once_lose_nothing(store):
    def work(judge):
        for number in range(25):
            store.save(judge, number, {"a": str(number), "b": "x"})

    threads = [threading.Thread(target=work, args=(judge,)) for judge in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.answers()) == 8 * 25 * 2


def test_a_missing_database_is_not_created(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Store(tmp_path / "s.sqlite").judges()
    assert not list(tmp_path.iterdir())
