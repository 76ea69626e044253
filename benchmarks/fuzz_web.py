"""Feed damaged answers of servers to the live client, the WARC writer and the index readers.

    python -m benchmarks.fuzz_web [--rounds 100000] [--seed 0] [--only answers archive ...]

The answers are bytes in memory that stand for the network, so that the whole client runs, from the
status line to robots.txt and redirects (answers), on a clock that skips all waiting. A fetched page
is written to a WARC file, and so are odd exchanges (archive); both are read back with warcio and
with the project's own reader. A damaged segment is recovered (rescue). A crawl's index is damaged
in each of its three forms (zipnum, columnar, server). A round fails if anything but a documented
error is raised, if a page has no outcome, or if a written page is not read back as it was. Rounds
are those of benchmarks/fuzz_readers.py.
"""

import asyncio
import atexit
import contextlib
import gzip
import io
import json
import random
import selectors
import shutil
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from unittest import mock

import httpcore2
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard
from httpcore2 import AsyncMockStream
from warcio.archiveiterator import ArchiveIterator

from benchmarks.fuzz_readers import FIELDS, JUNK, ROBOTS, VALUES, main, mutate
from wikisum.crawl.errors import BadAnswer, BadLine, BadRecord
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.crawl.web.addresses import Address
from wikisum.crawl.web.targets import target_of
from wikisum.pipeline.live.archive import Segment, read_outcomes
from wikisum.pipeline.live.client import Exchange, WebClient
from wikisum.pipeline.live.fetcher import Fetcher, LivePage, PageResult
from wikisum.pipeline.live.segments import recover
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.keys import Lookup, Lookups
from wikisum.pipeline.locate.look_up import ANSWERS, redirect_of, results_of
from wikisum.pipeline.locate.reader import IndexReader, IndexSlice
from wikisum.pipeline.records import Outcome, schema_of, to_table

FOLDER = Path(tempfile.mkdtemp(prefix="wikisum-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
SETTINGS = LiveSettings(attempts=2, concurrency=2)
BODY = b"<html><p>A page with some text.</p></html>"
HEADER_NAMES = (
    b"Content-Type", b"Content-Encoding", b"Transfer-Encoding", b"Content-Length", b"Location",
    b"Retry-After", b"X-\xc3\xa9", b"", b" ", b"Content-Type ", b"X:Y", b"Set-Cookie", b"WARC-Type",
)  # fmt: skip
HEADER_VALUES = (
    b"text/html; charset=utf-8", b"application/pdf", b"gzip", b"chunked", b"br, gzip", b"0", b"-1",
    b"99999999999", b"\xff\xfe", b"", b"http://[", b"//b.example/\xc3\xa9", b"javascript:1", b"1e9",
    b"Fri, 31 Feb 2024 99:99:99 GMT", b"a\tb", b"http://10.0.0.1/", b"?" * 9000, b"caf\xe9",
    b"/new", b"%" * 50, b"text/html\r\n folded", b"one\rtwo",
)  # fmt: skip
STATUSES = (b"200 OK", b"404 Non Trouv\xc3\xa9", b"301 Moved", b"302", b"503 Busy", b"999 \xff",
            b"206 Partial", b"100 Continue", b"101 Switching", b"304 Not Modified")  # fmt: skip


class SkippingSelector(selectors.SelectSelector):
    """A selector that never waits: `skipped` are the seconds that it was to wait."""

    skipped = 0.0

    def select(self, timeout: float | None = None) -> Any:
        self.skipped += timeout or 0.0
        return super().select(0)


class SkippingLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next event."""

    def __init__(self) -> None:
        self._skipping = SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        return super().time() + self._skipping.skipped


class Network:
    """Each connection gets the next of some answers, in blocks of any length."""

    def __init__(self, rng: random.Random, answers: list[bytes]) -> None:
        self._rng = rng
        self._answers = answers

    async def connect_tcp(self, *_: object) -> AsyncMockStream:
        data = self._answers.pop(0) if self._answers else b""
        size = self._rng.choice((1 << 16, 7, 100))
        return AsyncMockStream([data[i : i + size] for i in range(0, len(data), size)])


def _headers(rng: random.Random, count: int) -> list[tuple[bytes, bytes]]:
    return [(rng.choice(HEADER_NAMES), rng.choice(HEADER_VALUES)) for _ in range(count)]


def _body(rng: random.Random) -> tuple[bytes, bytes]:
    """(name of an encoding, a body that is encoded so, or damaged)."""
    body = BODY * rng.choice((1, 30, 300))
    packers = {b"gzip": gzip.compress, b"zstd": zstandard.compress, b"identity": bytes}
    name = rng.choice(list(packers))
    packed = packers[name](body)
    return name, mutate(rng, packed) if rng.random() < 0.3 else packed


def _answer(rng: random.Random) -> bytes:
    """A response as a server sends it, damaged in half of the cases."""
    name, body = _body(rng)
    if rng.random() < 0.2:
        body = ROBOTS
    fields = [(b"Content-Type", b"text/html"), (b"Content-Encoding", name)]
    if rng.random() < 0.5:
        size = rng.choice((1, 50, 5000))
        pieces = [body[i : i + size] for i in range(0, len(body), size)][:200]
        body = b"".join(b"%x\r\n%b\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        fields.append((b"Transfer-Encoding", b"chunked"))
    else:
        fields.append((b"Content-Length", b"%d" % len(body)))
    fields += _headers(rng, rng.choice((0, 0, 1, 3)))
    lines = b"".join(b"%b: %b\r\n" % field for field in fields)
    status = rng.choice(STATUSES) if rng.random() < 0.5 else b"200 OK"
    data = b"HTTP/1.1 " + status + b"\r\n" + lines + b"\r\n" + body
    return mutate(rng, data) if rng.random() < 0.5 else data


async def _resolve(host: str) -> list[Address]:
    return [ip_address("93.184.216.34")]


def answers_round(rng: random.Random) -> Counter[str]:
    """Fetch two pages of a host from a network of damaged answers, and write them."""
    answers = [_answer(rng) for _ in range(6)]
    if rng.random() < 0.7:  # else robots.txt mostly forbids the pages
        answers[0] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    found: list[PageResult] = []

    async def fetch() -> None:
        client = WebClient(SETTINGS, _resolve)
        pages = [LivePage(f"http://a.example/{n}", f"http://a.example/{n}") for n in range(2)]
        await Fetcher(client, SETTINGS, found.append).run(pages)
        await client.aclose()

    network = mock.patch.object(httpcore2, "AnyIOBackend", return_value=Network(rng, answers))
    with network, contextlib.closing(SkippingLoop()) as loop:
        loop.run_until_complete(fetch())
    assert len(found) == 2
    _check_written(found)
    return Counter(result.outcome.reason for result in found)


def _check_written(results: list[PageResult]) -> bytes:
    """Write pages to a segment, read them back; return its bytes."""
    path = FOLDER / "live" / "live-00000.warc.gz"
    segment = Segment(str(path), SETTINGS)
    for result in results:
        segment.write(result.hops, result.outcome._replace(file=path.name))
    segment.close()
    data = path.read_bytes()
    outcomes = [outcome for outcome, _ in read_outcomes(io.BytesIO(data))]
    assert outcomes == [r.outcome._replace(file=path.name) for r in results], "outcomes differ"
    hops = [hop for result in results for hop in result.hops]
    records = ArchiveIterator(io.BytesIO(data), check_digests="raise", no_record_parse=False)
    bodies = []
    for record in records:
        body = record.raw_stream.read()
        if record.rec_type == "response":
            bodies.append((record.rec_headers.get_header("WARC-Target-URI"), body))
    assert bodies == [(hop.target.url, hop.body) for hop in hops], "warcio reads another body"
    captures = list(read_captures(io.BytesIO(data)))
    damaged = [c for c in captures if not isinstance(c, PageRecord)
               and c.reason in ("bad_record", "truncated_record", "not_a_warc")
               and c.detail != "length"]  # fmt: skip
    assert not damaged, f"our reader: {damaged[0]}"
    return data


def _exchange(rng: random.Random, url: str) -> Exchange:
    """An exchange as the client may return it: whatever the HTTP library lets through."""
    name, body = _body(rng)
    fields = [(b"Content-Type", b"text/html"), (b"Content-Encoding", name)]
    fields += [
        (key, value) for key, value in _headers(rng, rng.randrange(4))
        if key.strip() == key and key and b":" not in key and b"\r" not in value
    ]  # fmt: skip
    phrase = rng.choice(("OK", "", "Non Trouv\xe9", "a\tb", "\x85", "x" * 5000))
    status = rng.choice((200, 200, 200, 301, 404, 999, 100))
    when = datetime(2024, 2, 3, tzinfo=UTC)
    return Exchange(target_of(url), [(b"Host", b"a.example")], status, phrase,
                    rng.choice(("HTTP/1.1", "HTTP/1.0")), fields, body, rng.random() < 0.2,
                    rng.choice(("", "93.184.216.34", "2606::1")), when)  # fmt: skip


def _odd_result(rng: random.Random, number: int) -> PageResult:
    text = rng.choice(JUNK).decode("utf-8", "replace")
    urls = [f"http://a.example/{number}", f"https://b.example/?{number}", "http://b\u00fc.example/"]
    hops = [_exchange(rng, rng.choice(urls)) for _ in range(rng.randrange(4))]
    reason = "fetched" if hops and rng.random() < 0.7 else "timeout"
    final = hops[-1].target.url if hops else None
    outcome = Outcome(urls[0], reason, text, 200 if hops else None, final, "", "2024-02-03")
    return PageResult(hops, outcome)


def archive_round(rng: random.Random) -> Counter[str]:
    """Write odd exchanges and read them back."""
    results = [_odd_result(rng, number) for number in range(2)]
    _check_written(results)
    return Counter(result.outcome.reason for result in results)


def rescue_round(rng: random.Random) -> Counter[str]:
    """Recover the damaged segment of a killed run, with or without its final name."""
    for path in (FOLDER / "live").glob("*"):
        path.unlink()
    data = mutate(rng, _check_written([_odd_result(rng, number) for number in range(2)]))
    path = FOLDER / "live" / "live-00000.warc.gz"
    path.unlink()
    hidden = path.with_name(f".{path.name}.part")
    (hidden if rng.random() < 0.5 else path).write_bytes(data)
    number = recover(str(FOLDER))
    return Counter([f"next segment {number}"])


class Crawl:
    """A crawl's files in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files

    def size(self, path: str) -> int:
        return len(self.get(path, 1 << 40))

    def get(self, path: str, max_bytes: int) -> bytes:
        if path not in self.files:
            raise BadAnswer("no_such_file", path)
        return self.files[path]

    def read(self, path: str, offset: int, length: int) -> bytes:
        data = self.get(path, 1 << 40)[offset : offset + length]
        if len(data) < length:
            raise BadAnswer("past_end", path)
        return data


KEYS = ["org,a)/", "org,b)/", "org,c)/", "org,d)/"]
URL_BY_KEY = {key: f"http://{key[4]}.org/" for key in KEYS}
LOOKUPS = FOLDER / "keys.parquet"
pq.write_table(
    to_table([Lookup(k, u, u) for k, u in URL_BY_KEY.items()], schema_of(Lookup)), LOOKUPS
)
INDEX = "cc-index/collections/C/indexes"
TABLE_LIST = "crawl-data/C/cc-index-table.paths.gz"


def _lines(rng: random.Random) -> list[bytes]:
    lines = []
    for key, url in URL_BY_KEY.items():
        fields = {**FIELDS, "urlkey": key, "url": url}
        for name in rng.sample(sorted(fields), rng.choice((0, 0, 1, 2))):
            fields[name] = rng.choice(VALUES)  # type: ignore[assignment]
        lines.append(json.dumps(fields).encode())
    return lines


def _zipnum(rng: random.Random) -> dict[str, bytes]:
    lines = [
        key.encode() + b" 20240101 " + line for key, line in zip(KEYS, _lines(rng), strict=True)
    ]
    text = [b"\n".join(pair) + b"\n" for pair in (lines[:2], lines[2:])]
    if rng.random() < 0.3:
        text = [mutate(rng, block) for block in text]
    blocks = [gzip.compress(block) for block in text]
    sizes = [0, len(blocks[0])]
    cluster = b"".join(
        b"%b 20240101\tcdx-0.gz\t%d\t%d\t%d\n" % (KEYS[2 * n].encode(), sizes[n], len(blocks[n]), n)
        for n in range(2)
    )
    files = {f"{INDEX}/cluster.idx": cluster, f"{INDEX}/cdx-0.gz": b"".join(blocks)}
    return _damaged(rng, files)


def _damaged(rng: random.Random, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files, one of which is damaged in two thirds of the cases."""
    if rng.random() < 0.67:
        name = rng.choice(list(files))
        files[name] = mutate(rng, files[name])
    return files


def _table(rng: random.Random) -> bytes:
    row: dict[str, Any] = {
        "url_surtkey": "", "url": "", "fetch_time": datetime(2024, 1, 2), "fetch_status": 200,
        "fetch_redirect": None, "content_digest": "D", "content_mime_type": "text/html",
        "content_truncated": None, "warc_filename": "f.warc.gz", "warc_record_offset": 5,
        "warc_record_length": 10,
    }  # fmt: skip
    for name in rng.sample(sorted(row), rng.choice((0, 0, 1, 2))):
        row[name] = rng.choice((None, 7, -1, "text", b"\xff", 1.5, [1], {"a": 1}, True))
    if rng.random() < 0.2:
        row.pop(rng.choice(list(row)))
    rows = [{**row, **({"url_surtkey": k, "url": u} if "url" in row and rng.random() < 0.9 else {})}
            for k, u in URL_BY_KEY.items()]  # fmt: skip
    out = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_pylist(rows), out, row_group_size=2)
    except (pa.ArrowException, TypeError):  # a table that Arrow cannot make
        pq.write_table(pa.table({"url_surtkey": KEYS}), out)
    return out.getvalue()


def _columnar(rng: random.Random) -> dict[str, bytes]:
    path = "table/subset=warc/part-0.parquet"
    return _damaged(rng, {TABLE_LIST: gzip.compress(path.encode()), path: _table(rng)})


def _server(rng: random.Random) -> dict[str, bytes]:
    lines = _lines(rng)
    answers = {f"http://cdx.example/?url=http%3A%2F%2F{k[4]}.org%2F&output=json": line
               for k, line in zip(KEYS, lines, strict=True)}  # fmt: skip
    return _damaged(rng, answers)


MAKERS = {"zipnum": _zipnum, "columnar": _columnar, "server": _server}


def _index_round(kind: str, rng: random.Random) -> Counter[str]:
    """Look keys up in a damaged index; what is found must fit into the results' table."""
    remote: Any = Crawl(MAKERS[kind](rng))
    lookups = Lookups((str(LOOKUPS),), len(KEYS))
    reader = IndexReader(remote, 1, lookups, "http://cdx.example/")
    part_count = rng.choice((1, 2))
    outcomes: Counter[str] = Counter()
    for part in range(part_count):
        try:
            for answer in ANSWERS[kind](IndexSlice(0, "C", part, part_count), reader):
                for lookup in answer.lookups:
                    results = list(results_of(lookup, answer, 0, 0, 1.7e9, 2))
                    redirect_of(lookup, answer, None)
                    to_table(results, schema_of(type(results[0]))) if results else None
                    outcomes.update(result.reason or "capture" for result in results)
        except (BadAnswer, BadLine, BadRecord) as error:
            outcomes[f"slice: {error.reason}"] += 1
    return outcomes


ROUNDS = {
    "answers": answers_round, "archive": archive_round, "rescue": rescue_round,
    "zipnum": lambda rng: _index_round("zipnum", rng),
    "columnar": lambda rng: _index_round("columnar", rng),
    "server": lambda rng: _index_round("server", rng),
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(ROUNDS, "fuzz_web", __doc__))
