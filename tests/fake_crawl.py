"""A small CommonCrawl on this machine: laid out from WARC files, served with faults on demand."""

import base64
import gzip
import hashlib
import io
import json
import random
import re
import shutil
import socket
import struct
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from warcio.archiveiterator import ArchiveIterator

from wikisum.crawl.errors import BadUrl
from wikisum.crawl.index.surt import surt_key

CRAWL = "CC-MAIN-2024-10"
_BLOCK = 1 << 14


class IndexLine(NamedTuple):
    """A line of the index: its key, time stamp, and what the JSON tells."""

    surt: str
    timestamp: str
    fields: dict[str, str]

    def __bytes__(self) -> bytes:
        return f"{self.surt} {self.timestamp} {json.dumps(self.fields)}\n".encode()


def gzip_members(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of each member of a gzip file; damaged ones are passed over."""
    place, view = 0, memoryview(data)
    while (place := data.find(b"\x1f\x8b\x08", place)) >= 0:
        decoder, end = zlib.decompressobj(31), place
        try:
            while end < len(data) and not decoder.eof:
                decoder.decompress(view[end : end + _BLOCK])
                end = min(end + _BLOCK, len(data))
        except zlib.error:
            place += 1
            continue
        end -= len(decoder.unused_data)
        yield place, data[place:end]
        place = end


def index_lines(warc: Path, filename: str) -> Iterator[IndexLine]:
    """The lines that CommonCrawl's index would have for the pages of a WARC file.

    Read by another reader than ours, so that the two are held against each other.
    """
    for offset, member in gzip_members(warc.read_bytes()):
        record = next(iter(ArchiveIterator(io.BytesIO(member))))
        if record.rec_type in ("response", "revisit", "conversion"):
            with suppress(BadUrl):  # a crawler would not have come to what is no address
                yield _index_line(record, offset, len(member), filename)


def _index_line(record: Any, offset: int, length: int, filename: str) -> IndexLine:
    headers, http = record.rec_headers, record.http_headers
    url = headers["WARC-Target-URI"]
    sha1 = base64.b32encode(hashlib.sha1(record.raw_stream.read()).digest()).decode()
    digest = headers["WARC-Payload-Digest"] or headers["WARC-Block-Digest"] or sha1
    mime = http.get_header("Content-Type", "unk").split(";")[0] if http else "text/plain"
    result = {
        "url": url,
        "mime": "warc/revisit" if record.rec_type == "revisit" else mime,
        "mime-detected": mime,
        "status": http.get_statuscode() if http else "200",
        "digest": digest.rpartition(":")[2],
        "length": str(length),
        "offset": str(offset),
        "filename": filename,
    }
    if truncated := headers["WARC-Truncated"]:
        result["truncated"] = truncated
    if http and (location := http.get_header("Location")):
        result["redirect"] = location
    return IndexLine(surt_key(url), re.sub(r"\D", "", headers["WARC-Date"])[:14], result)


def write_zipnum(
    root: Path, lines: list[IndexLine], crawl: str = CRAWL, block_lines: int = 20, files: int = 2
) -> None:
    """Write the lines as a ZipNum index: cdx-NNNNN.gz and cluster.idx."""
    folder = root / "cc-index" / "collections" / crawl / "indexes"
    folder.mkdir(parents=True, exist_ok=True)
    ordered = sorted(lines, key=lambda line: (line.surt, line.timestamp))
    blocks = [ordered[i : i + block_lines] for i in range(0, len(ordered), block_lines)]
    cluster = b""
    for number in range(files):
        name = f"cdx-{number:05d}.gz"
        data = b""
        for block in blocks[len(blocks) * number // files : len(blocks) * (number + 1) // files]:
            member = gzip.compress(b"".join(map(bytes, block)), mtime=0)
            first = f"{block[0].surt} {block[0].timestamp}"
            row = (
                first,
                name,
                len(data),
                len(member),
                cluster.count(b"\n") + 1,
                "further",
                "cells",
            )
            cluster += "\t".join(map(str, row)).encode() + b"\n"
            data += member
        (folder / name).write_bytes(data)
    (folder / "cluster.idx").write_bytes(cluster)


def write_table(
    root: Path, lines: list[IndexLine], crawl: str = CRAWL, files: int = 2, group_rows: int = 10
) -> None:
    """Write the lines as CommonCrawl's columnar index, and the list of its files."""
    ordered = sorted(lines, key=lambda line: (line.surt, line.timestamp))
    folder = f"cc-index/table/cc-main/warc/crawl={crawl}"
    names = []
    for number in range(files):
        some = ordered[len(ordered) * number // files : len(ordered) * (number + 1) // files]
        names.append(f"{folder}/subset=warc/part-{number:05d}.parquet")
        path = root / names[-1]
        path.parent.mkdir(parents=True, exist_ok=True)
        rows = [_table_row(line) for line in some]
        pq.write_table(pa.Table.from_pylist(rows, TABLE), path, row_group_size=group_rows)
    names.append(f"{folder}/subset=robotstxt/part-00000.parquet")
    listed = root / "crawl-data" / crawl / "cc-index-table.paths.gz"
    listed.parent.mkdir(parents=True, exist_ok=True)
    listed.write_bytes(gzip.compress("\n".join(names).encode() + b"\n"))


TABLE = pa.schema(
    {
        "url_surtkey": pa.string(),
        "url": pa.string(),
        "url_host_name": pa.string(),
        "fetch_time": pa.timestamp("ms"),
        "fetch_status": pa.int16(),
        "fetch_redirect": pa.string(),
        "content_digest": pa.string(),
        "content_mime_type": pa.string(),
        "content_mime_detected": pa.string(),
        "content_truncated": pa.string(),
        "warc_filename": pa.string(),
        "warc_record_offset": pa.int32(),
        "warc_record_length": pa.int32(),
    }
)


def _table_row(line: IndexLine) -> dict[str, Any]:
    result = line.fields
    status = result["status"]
    return {
        "url_surtkey": line.surt,
        "url": result["url"],
        "url_host_name": urlsplit(result["url"]).hostname,
        "fetch_time": datetime.strptime(line.timestamp, "%Y%m%d%H%M%S"),
        "fetch_status": int(status) if status.isdigit() else None,
        "fetch_redirect": result.get("redirect"),
        "content_digest": result["digest"],
        "content_mime_type": result["mime"],
        "content_mime_detected": result["mime-detected"],
        "content_truncated": result.get("truncated"),
        "warc_filename": result["filename"],
        "warc_record_offset": int(result["offset"]),
        "warc_record_length": int(result["length"]),
    }


def cdx_server(lines: list[IndexLine]) -> Callable[[str], tuple[int, bytes]]:
    """What a CDX server answers to a query: lines of JSON, or 404 if it has none."""

    def answer(query: str) -> tuple[int, bytes]:
        asked = parse_qs(query)
        key = surt_key(asked["url"][0])
        found = [
            json.dumps({"urlkey": line.surt, "timestamp": line.timestamp, **line.fields})
            for line in lines
            if line.surt == key and asked["output"] == ["json"]
        ]
        if not found:
            return 404, b'{"message": "No Captures found"}'
        return 200, "\n".join(found).encode() + b"\n"

    return answer


def lay_out(root: Path, warcs: list[Path], crawl: str = CRAWL, **zipnum: int) -> list[IndexLine]:
    """A crawl of these files under `root`, by their own names; the lines of its index."""
    lines: list[IndexLine] = []
    for warc in warcs:
        (root / warc.name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(warc, root / warc.name)
        lines += index_lines(warc, warc.name)
    write_zipnum(root, lines, crawl, **zipnum)
    write_table(root, lines, crawl)
    return lines


@dataclass
class Faults:
    """Shares of the answers that go wrong, and the number of times one request may.

    `seed` decides which; a request for the same bytes is another one each time.
    """

    busy: float = 0.0
    reset: float = 0.0
    short: float = 0.0
    stalled: float = 0.0
    wrong_range: float = 0.0
    whole: float = 0.0
    retry_after: str | None = None
    stall_seconds: float = 30.0
    seed: int = 7
    _random: random.Random = field(init=False)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def draw(self) -> str | None:
        """What goes wrong with the next answer, if anything."""
        with self._lock:
            chance = self._random.random()
        for name in ("busy", "reset", "short", "stalled", "wrong_range", "whole"):
            chance -= getattr(self, name)
            if chance < 0:
                return name
        return None


@dataclass(frozen=True)
class Asked:
    """A request that came: path, range, when, and what the client calls itself."""

    path: str
    range: str | None
    seconds: float
    agent: str
    fault: str | None


class FakeCrawl:
    """Serves a folder with ranges on 127.0.0.1, goes wrong as asked, and notes every request."""

    def __init__(self, root: Path, faults: Faults | None = None) -> None:
        self.root = root
        self.faults = faults or Faults()
        self.asked: list[Asked] = []
        self.wrong_ranges = 0  # how many of the next ranges are other ones
        self.broken: dict[str, int] = {}  # status by the end of a path
        self.answers: dict[str, Callable[[str], tuple[int, bytes]]] = {}
        self._stop = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # a client that hangs up
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    @property
    def requests(self) -> Counter[tuple[str, str | None]]:
        """How often each range of each file was asked for."""
        return Counter((a.path, a.range) for a in self.asked)

    def count(self, ending: str) -> int:
        """How many requests there were for files whose path ends so."""
        return sum(a.path.endswith(ending) for a in self.asked)

    def __enter__(self) -> "FakeCrawl":
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        crawl = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                crawl._answer(self)

        return Handler

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        path, asked_range = request.path.lstrip("/"), request.headers.get("Range")
        fault = self.faults.draw()
        if fault is None and asked_range and asked_range != "bytes=0-0" and self.wrong_ranges:
            self.wrong_ranges -= 1
            fault = "wrong_range"
        agent = request.headers.get("User-Agent", "")
        self.asked.append(Asked(path, asked_range, time.monotonic(), agent, fault))
        name, _, query = path.partition("?")
        if fault == "busy":
            after = self.faults.retry_after
            _send(request, 503, b"SlowDown", {"Retry-After": after} if after else {})
        elif fault == "reset":
            _reset(request)
        elif fault == "stalled":
            self._stop.wait(self.faults.stall_seconds)
            request.close_connection = True
        elif status := next((s for end, s in self.broken.items() if name.endswith(end)), None):
            _send(request, status, b"broken")
        elif name in self.answers:
            _send(request, *self.answers[name](query))
        elif not (self.root / name).is_file():
            _send(request, 404, b"not here")
        else:
            self._send_file(request, self.root / name, asked_range, fault)

    def _send_file(
        self,
        request: BaseHTTPRequestHandler,
        path: Path,
        range_header: str | None,
        fault: str | None,
    ) -> None:
        size = path.stat().st_size
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", range_header or "")
        if not match or fault == "whole":
            _send(request, 200, path.read_bytes())
            return
        first, last = int(match[1]), min(int(match[2]), size - 1)
        if first >= size:
            _send(request, 416, b"", {"Content-Range": f"bytes */{size}"})
            return
        if fault == "wrong_range":
            first, last = max(0, first - 1), max(0, last - 1)
        with path.open("rb") as file:
            file.seek(first)
            data = file.read(last - first + 1)
        cut = len(data) // 2 if fault == "short" else None
        _send(request, 206, data, {"Content-Range": f"bytes {first}-{last}/{size}"}, cut)


def _send(
    request: BaseHTTPRequestHandler,
    status: int,
    body: bytes,
    headers: dict[str, str] | None = None,
    cut: int | None = None,
) -> None:
    """Send an answer, or only the first `cut` bytes of its body and then nothing more."""
    request.send_response(status)
    for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(body[:cut])
    if cut is not None:
        request.close_connection = True


def _reset(request: BaseHTTPRequestHandler) -> None:
    """Break the connection off without an answer, as an overloaded server does."""
    linger = struct.pack("ii", 1, 0)
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    request.close_connection = True
    request.connection.close()


@contextmanager
def served(root: Path, faults: Faults | None = None) -> Iterator[FakeCrawl]:
    """The folder, served while the block runs."""
    with FakeCrawl(root, faults) as crawl:
        yield crawl
