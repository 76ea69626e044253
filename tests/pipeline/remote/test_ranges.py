import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fake_crawl import FakeCrawl, Faults, served
from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.remote import ranges as http_ranges
from wikisum.pipeline.remote.ranges import RangeClient

DATA = bytes(range(256)) * 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    (folder / "f").write_bytes(DATA)
    (folder / "empty").write_bytes(b"")
    return folder


@pytest.fixture
def crawl(folder) -> Iterator[FakeCrawl]:
    with served(folder) as crawl:
        yield crawl


def client(timeout_seconds: float = 5.0, connections: int = 2) -> RangeClient:
    return RangeClient("test", connections, timeout_seconds)


def fault(call: Callable[[], object]) -> tuple[str, bool]:
    with pytest.raises(BadAnswer) as caught:
        call()
    return caught.value.reason, caught.value.is_transient


def test_the_very_bytes(crawl):
    web = client()
    assert web.read(crawl.url + "f", 100, 1000) == DATA[100:1100]
    assert web.read(crawl.url + "f", len(DATA) - 1, 1) == DATA[-1:]
    assert web.size(crawl.url + "f") == len(DATA)
    assert web.size(crawl.url + "empty") == 0
    assert web.get(crawl.url + "f", len(DATA)) == DATA
    assert crawl.asked[0].range == "bytes=100-1099"
    assert {a.agent for a in crawl.asked} == {"test"}


def test_a_connection_is_used_again(crawl):
    connections = set()
    answer = crawl._answer

    def note(request: object) -> None:
        connections.add(request.client_address)
        answer(request)

    crawl._answer = note
    web = client(connections=1)
    for offset in range(20):
        web.read(crawl.url + "f", offset, 5)
    assert len(connections) == 1


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (Faults(busy=1), "http_503"),
        (Faults(reset=1), "reset"),
        (Faults(short=1), "short_body"),
        (Faults(wrong_range=1), "wrong_range"),
        (Faults(stalled=1), "timeout"),
    ],
)
def test_faults_that_pass(folder, faults, reason):
    with served(folder, faults) as crawl:
        web = client(0.5 if reason == "timeout" else 15.0, connections=1)
        for _ in range(3):  # no connection is lost
            assert fault(lambda: web.read(crawl.url + "f", 10, 1000)) == (reason, True)
        crawl.faults = Faults()
        assert web.read(crawl.url + "f", 10, 1000) == DATA[10:1010]


def test_a_whole_file_where_a_range_was_asked_for(folder, monkeypatch):
    with served(folder, Faults(whole=1)) as crawl:
        web = client()
        assert web.read(crawl.url + "f", 1000, 50) == DATA[1000:1050]
        assert fault(lambda: web.read(crawl.url + "f", len(DATA) - 5, 50)) == ("short_body", True)
        assert web.size(crawl.url + "f") == len(DATA)
        monkeypatch.setattr(http_ranges, "MAX_SKIPPED_BYTES", 500)
        assert fault(lambda: web.read(crawl.url + "f", 1000, 50)) == ("range_ignored", False)


def test_what_is_not_there_does_not_pass(crawl):
    web = client()
    assert fault(lambda: web.read(crawl.url + "g", 0, 5)) == ("http_404", False)
    assert fault(lambda: web.size(crawl.url + "g")) == ("http_404", False)
    assert fault(lambda: web.read(crawl.url + "f", len(DATA) - 5, 10)) == ("past_end", False)
    assert fault(lambda: web.read(crawl.url + "f", len(DATA), 10)) == ("past_end", False)
    assert fault(lambda: web.get(crawl.url + "f", 100)) == ("too_large", False)


@pytest.mark.parametrize("status", [400, 403, 404, 418, 451, 501])
def test_statuses_that_do_not_pass(crawl, status):
    crawl.broken = {"f": status}
    assert fault(lambda: client().read(crawl.url + "f", 0, 5)) == (f"http_{status}", False)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_statuses_that_pass(crawl, status):
    crawl.broken = {"f": status}
    assert fault(lambda: client().read(crawl.url + "f", 0, 5)) == (f"http_{status}", True)


def test_retry_after_is_reported(folder):
    with served(folder, Faults(busy=1, retry_after="7")) as crawl, pytest.raises(BadAnswer) as at:
        client().read(crawl.url + "f", 0, 5)
    assert at.value.wait_seconds == 7


def test_nobody_there():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    url = f"http://127.0.0.1:{port}/f"
    assert fault(lambda: client().read(url, 0, 5)) == ("no_connection", True)
    assert fault(lambda: client().read("http://no.such.host.invalid/f", 0, 5))[0] == "no_connection"
    assert fault(lambda: client().read("http://[bad/f", 0, 5))[0] == "bad_url"


def test_a_body_that_drips_is_given_up(monkeypatch):
    monkeypatch.setattr(http_ranges, "SLOWEST_BYTES_PER_SECOND", 1 << 20)
    listener = socket.create_server(("127.0.0.1", 0))

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            head = b"HTTP/1.1 206 x\r\nContent-Range: bytes 0-999/1000\r\nContent-Length: 1000\r\n"
            try:
                connection.sendall(head + b"\r\n")
                for _ in range(1000):
                    connection.sendall(b"x")
                    time.sleep(0.05)
            except OSError:
                pass

    threading.Thread(target=drip, daemon=True).start()
    with listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        start = time.monotonic()
        assert fault(lambda: client(0.3).read(url, 0, 1000)) == ("timeout", True)
        assert time.monotonic() - start < 10


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 206 x\r\nContent-Range: bytes 0-4/5\r\n\r\n",  # ends without its bytes
        b"HTTP/1.1 206 x\r\nContent-Length: 5\r\n\r\n01234",  # does not tell its range
        b"HTTP/1.1 206 x\r\nContent-Range: bytes x\r\nContent-Length: 5\r\n\r\n01234",
        b"HTTP/1.1 206 x\r\nContent-Range: bytes 9-13/99\r\nContent-Length: 5\r\n\r\n01234",
        b"HTTP/1.1 206 x\r\nTransfer-Encoding: chunked\r\nContent-Range: bytes 0-4/5\r\n\r\nzz\r\n",
        b"220 an FTP server\r\n",
        b"\x16\x03\x01\x00\x00",
        b"",
    ],
)
def test_answers_that_are_none_pass(answer):
    listener = socket.create_server(("127.0.0.1", 0))

    def reply() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(answer)

    threading.Thread(target=reply, daemon=True).start()
    with listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/f"
        reason, is_transient = fault(lambda: client().read(url, 0, 5))
    assert is_transient
    assert reason in ("short_body", "wrong_range", "reset")
