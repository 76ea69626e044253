import os
import signal
import time

import pytest

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.wikipedia.deadline import KillableCall, KillableCallFailed


def sleep_for(seconds: float) -> str:
    time.sleep(seconds)
    return "slept"


def length(text: str, seconds: float = 0) -> int:
    time.sleep(seconds)
    return len(text)


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


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 2_000_000])
def test_a_child_that_is_stopped_takes_no_longer_than_one_that_works(guard, size):
    """Whether or not the arguments fit into the buffer of the connection."""
    stopped = guard("length", 2)
    assert stopped.call("") == 0
    os.kill(stopped._child.pid, signal.SIGSTOP)
    start = time.monotonic()
    with pytest.raises(KillableCallFailed, match="took over 2 s"):
        stopped.call("a" * size)
    assert time.monotonic() - start < 15
    assert stopped.call("a" * 2_000_000) == 2_000_000


@pytest.mark.slow
def test_an_answer_that_nobody_waited_for_is_not_given_to_the_next_call(guard):
    interrupted = guard("length")
    interrupted.call("")
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted.call("a", 1)
    finally:
        signal.signal(signal.SIGALRM, before)
    time.sleep(1)
    assert interrupted.call("bc") == 2


def test_a_child_that_dies_is_reported_of(guard):
    with pytest.raises(KillableCallFailed, match="died"):
        guard("die").call()


@pytest.mark.slow
def test_a_child_that_dies_once_makes_no_difference(guard, tmp_path):
    assert guard("die_once").call(str(tmp_path / "marker")) == "lived"
