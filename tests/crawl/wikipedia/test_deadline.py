import os
import signal
import time

import pytest

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.wikipedia.deadline import KillableCall, KillableCallFailed


def sleep_for(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(marker: str) -> str:
    if not os.path.exists(marker):
        open(marker, "x").close()
        die()
    return "lived"


def raise_bad_article() -> None:
    raise BadArticle("no_lead", "none")


@pytest.fixture
def guard():
    made = []

    def make(name: str, seconds: float = 20) -> KillableCall:
        made.append(KillableCall(f"tests.crawl.wikipedia.test_deadline:{name}", seconds))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.mark.slow
def test_gives_back_results_and_errors(guard):
    assert guard("sleep_for").call(0) == "slept"
    with pytest.raises(BadArticle, match="none"):
        guard("raise_bad_article").call()


@pytest.mark.slow
def test_a_call_over_its_time_is_ended_and_the_next_one_works(guard):
    slow = guard("sleep_for", 3)
    with pytest.raises(KillableCallFailed, match="took over 3 s"):
        slow.call(60)
    assert slow.call(0) == "slept"


def test_a_child_that_dies_is_reported_of(guard):
    with pytest.raises(KillableCallFailed, match="died"):
        guard("die").call()


@pytest.mark.slow
def test_a_child_that_dies_once_makes_no_difference(guard, tmp_path):
    assert guard("die_once").call(str(tmp_path / "marker")) == "lived"
