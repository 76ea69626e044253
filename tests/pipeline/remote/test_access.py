import io
import threading
from collections.abc import Callable

import pytest

from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.remote.access import Access, Remote, access_of, is_loopback, rate_of
from wikisum.pipeline.remote.budget import Budget
from wikisum.pipeline.remote.roots import Roots
from wikisum.pipeline.remote.settings import RemoteSettings

A, B = "http://a.example/", "http://b.example/"
BUSY = BadAnswer("http_503", "busy", True)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Client:
    """Answers as it is asked, and notes what it was asked."""

    def __init__(self, *answers: bytes | BadAnswer) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def read(self, url: str, offset: int, length: int) -> bytes:
        self.asked.append(url)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BadAnswer):
            raise answer
        return answer


def remote(client: Client, clock: Clock, *roots: str, **settings: object) -> Remote:
    plain = RemoteSettings(roots=roots or (A,), **settings)
    budget = Budget(None, 0.0, clock, clock.sleep)
    return Remote(plain, Roots(plain.roots, clock), budget, client, clock.sleep, lambda: 1.0)


def test_a_busy_server_is_asked_again_after_growing_pauses():
    clock, client = Clock(), Client(BUSY, BUSY, BUSY, b"data")
    source = remote(client, clock)
    assert source.read("f", 0, 4) == b"data"
    assert clock.slept == [1, 2, 4]
    assert client.asked == [A + "f"] * 4
    assert source.costs == {"requests": 4, "requests_again": 3, "bytes_read": 4}


def test_there_is_a_limit():
    clock, client = Clock(), Client(BUSY)
    with pytest.raises(BadAnswer, match="busy"):
        remote(client, clock, attempts=3).read("f", 0, 4)
    assert len(client.asked) == 3
    assert clock.slept == [1, 2]


def test_what_does_not_pass_is_not_asked_again():
    clock, client = Clock(), Client(BadAnswer("http_404"))
    with pytest.raises(BadAnswer):
        remote(client, clock).read("f", 0, 4)
    assert (len(client.asked), clock.slept) == (1, [])


def test_retry_after_holds_everybody_back():
    clock = Clock()
    client = Client(BadAnswer("http_429", "", True, 20.0), b"data")
    source = remote(client, clock, first_pause_seconds=0.0)
    budget = source._budget
    assert source.read("f", 0, 4) == b"data"
    assert sum(clock.slept) == 20
    budget.hold(5.0)
    budget.take()
    assert sum(clock.slept) == 25


def test_a_server_that_asks_for_hours_is_left_alone():
    clock, client = Clock(), Client(BadAnswer("http_503", "", True, 7200.0))
    with pytest.raises(BadAnswer):
        remote(client, clock).read("f", 0, 4)
    assert (len(client.asked), clock.slept) == (1, [])


def test_the_next_root_is_asked_after_a_failure():
    client = Client(BUSY, b"data", b"more")
    source = remote(client, Clock(), A, B)
    source.read("f", 0, 4)
    source.read("g", 0, 4)
    assert client.asked == [A + "f", B + "f", A + "g"]


def test_a_silent_root_is_asked_again_after_its_rest():
    clock = Clock()
    client = Client(BadAnswer("timeout", "", True), b"data", b"more", b"data")
    source = remote(client, clock, A, B)
    source.read("f", 0, 4)
    source.read("g", 0, 4)
    clock.now += 31
    source.read("h", 0, 4)
    assert client.asked == [A + "f", B + "f", B + "g", A + "h"]


def test_all_roots_silent_are_asked_all_the_same():
    client = Client(BadAnswer("timeout", "", True))
    with pytest.raises(BadAnswer):
        remote(client, Clock(), A, B, attempts=4).read("f", 0, 4)
    assert sorted(client.asked) == [A + "f"] * 2 + [B + "f"] * 2


def test_a_server_that_is_down_stops_the_job():
    clock, client = Clock(), Client(BUSY)
    source = remote(client, clock, attempts=10)
    gone = 0
    for number in range(10):
        try:
            source.read(f"f{number}", 0, 4)
        except BadAnswer:
            continue
        except OSError as error:
            assert "run the same command to resume" in str(error)  # noqa: PT017
            gone += 1
    assert gone == 7  # the first three were given up within a quarter of an hour


def test_one_answer_shows_that_it_is_up():
    clock, client = Clock(), Client(BUSY)
    source = remote(client, clock, attempts=10)
    for number in range(10):
        with pytest.raises(BadAnswer):
            source.read(f"f{number}", 0, 4)
        client.answers = [BadAnswer("http_404")]
        with pytest.raises(BadAnswer):
            source.read("gone", 0, 4)
        client.answers = [BUSY]


def test_files_are_read_by_ranges(tmp_path):
    (tmp_path / "f").write_bytes(b"0123456789")
    source = remote(Client(b""), Clock(), str(tmp_path))
    assert source.read("f", 2, 3) == b"234"
    assert source.size("f") == 10
    assert source.get("f", 10) == b"0123456789"
    for call, reason in (
        (lambda: source.read("f", 8, 5), "past_end"),
        (lambda: source.read("g", 0, 1), "no_such_file"),
        (lambda: source.size("g"), "no_such_file"),
        (lambda: source.get("f", 9), "too_large"),
    ):
        with pytest.raises(BadAnswer) as caught:
            call()
        assert caught.value.reason == reason


def test_an_object_store_that_fails_is_asked_again(monkeypatch):
    def fail(*_: object) -> bytes:
        raise RuntimeError("SlowDown")

    monkeypatch.setattr("wikisum.pipeline.engine.files.read_range", fail)
    clock = Clock()
    with pytest.raises(BadAnswer, match="RuntimeError: SlowDown"):
        remote(Client(b""), clock, "s3://bucket/", attempts=3).read("f", 0, 1)
    assert len(clock.slept) == 2


@pytest.mark.parametrize(
    ("url", "is_own"),
    [
        ("http://127.0.0.1:80/", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]:5/", True),
        ("http://localhost/", True),
        ("https://data.commoncrawl.org/", False),
        ("http://10.0.0.1/", False),
        ("/a/folder", False),
    ],
)
def test_this_machine(url, is_own):
    assert is_loopback(url) is is_own


def test_only_others_servers_are_spared():
    assert rate_of(RemoteSettings()) == 2
    assert rate_of(RemoteSettings(roots=("http://127.0.0.1:1/",))) == 0
    assert rate_of(RemoteSettings(roots=("/a/folder", "s3://bucket/"))) == 0
    assert rate_of(RemoteSettings(roots=("/a/folder", "https://c.example/"))) == 2
    assert rate_of(RemoteSettings(rate=0.5)) == 0.5
    assert rate_of(RemoteSettings(rate=0.0)) == 0


def test_workers_share_the_connections():
    assert Access(RemoteSettings(connections=4), None, 2).connections == 2
    assert Access(RemoteSettings(connections=4), None, 8).connections == 1


def test_workers_on_one_machine_share_a_budget(tmp_path):
    here = Job(Workspace(str(tmp_path)), io.StringIO(), workers=3)
    found = access_of(here, RemoteSettings())
    assert (found.budget_path, found.workers) == (str(tmp_path / ".work/requests.budget"), 3)
    spread = Job(Workspace(str(tmp_path)), io.StringIO(), beam_flags=("--runner=X",))
    assert access_of(spread, RemoteSettings()).budget_path is None


def test_requests_name_the_contact():
    client = Access(RemoteSettings(contact="you@host.example"), None, 1).remote()._client
    assert client._pool.headers["User-Agent"].endswith(" (+you@host.example)")


def test_a_budget_spaces_requests():
    clock = Clock()
    budget = Budget(None, 2.0, clock, clock.sleep)
    for _ in range(5):
        budget.take()
    assert clock.slept == [0.5] * 4
    clock.now += 10
    budget.take()
    assert clock.slept == [0.5] * 4  # time that was not used is not saved up


def in_threads(count: int, do: Callable[[], None]) -> None:
    threads = [threading.Thread(target=do) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_all_who_name_a_file_share_its_budget(tmp_path):
    path = str(tmp_path / "budget")
    waits: list[float] = []
    clock = Clock()

    def ask() -> None:
        budget = Budget(path, 10.0, clock, waits.append)
        for _ in range(5):
            budget.take()

    in_threads(4, ask)
    assert sorted(waits) == pytest.approx([n / 10 for n in range(1, 20)])


def test_a_file_from_another_time_is_no_matter(tmp_path):
    clock = Clock()
    for content in (b"", b"short", b"\xff" * 8, b"\x7f" * 8):
        (tmp_path / "budget").write_bytes(content)
        for _ in range(2):
            Budget(str(tmp_path / "budget"), 1.0, clock, clock.sleep).take()
        clock.now += 10
    assert clock.slept == [1.0] * 4


def test_one_budget_for_workers_on_any_machine(tmp_path):
    """The rate of all processes together, however many machines, is at most that of the job."""
    others = RemoteSettings(roots=("https://data.example/",), rate=6.0)
    spread = Access(others, None, 3)
    assert spread.max_tasks == 3
    assert spread.max_tasks * (1 / spread.remote()._budget._interval_seconds) <= 6.0
    assert Access(others, str(tmp_path / "budget"), 3).max_tasks is None  # they share a file
    assert Access(RemoteSettings(roots=(str(tmp_path),)), None, 3).max_tasks is None
