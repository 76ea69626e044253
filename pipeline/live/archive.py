"""WARC segments of fetched pages: requests, responses, and the outcome of each page.

A segment is written under a hidden name and renamed when it is full. The outcome of a page follows
its records, so a segment of a killed run is complete up to its last outcome.
"""

import json
import os
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, BinaryIO

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.http import decode_body
from wikisum.crawl.urls import is_same_page
from wikisum.pipeline.live.client import Exchange
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import Outcome

OUTCOME_TYPE = "application/vnd.wikisum.outcome+json"
MAX_DECODED_BYTES = 16 << 20
_READ_BYTES = 1 << 18
_NOT_AS_SENT = frozenset(("transfer-encoding",))  # the chunks are undone


class _HttpHead(StatusAndHeaders):
    """The status or request line and the header lines, written as the bytes that they came as."""

    def to_ascii_bytes(self, filter_func: Any = None) -> bytes:
        """Return all lines; warcio's method escapes headers and fails for an odd status line."""
        return f"{self.to_str(filter_func)}\r\n".encode("latin-1")


class Segment:
    """A WARC file that is being written."""

    def __init__(self, path: str, settings: LiveSettings) -> None:
        folder, name = os.path.split(path)
        self.name = name
        self._path = path
        self._part = part_path(path)
        os.makedirs(folder, exist_ok=True)
        self._file = open(self._part, "wb")  # noqa: SIM115
        self._writer = WARCWriter(self._file, gzip=True, warc_version="1.1")
        info = {
            "software": settings.user_agent.split(" ")[0],
            "http-header-user-agent": settings.user_agent,
            "robots": "RFC 9309",
            "format": "WARC File Format 1.1",
        }
        self._writer.write_record(self._writer.create_warcinfo_record(name, info))
        self.outcomes: list[Outcome] = []

    @property
    def size_bytes(self) -> int:
        return self._file.tell()

    def write(self, hops: list[Exchange], outcome: Outcome) -> None:
        """Write the responses for a page in order, and its outcome.

        If redirects led to another URL, the page is also written as a resource record under the
        wanted URL, so that it is found under it.
        """
        last = ""
        for hop in hops:
            last = self._write_exchange(hop)
        is_fetched = bool(hops) and outcome.reason == "fetched"
        if is_fetched and not is_same_page(hops[-1].target.url, outcome.url):
            self._write_resource(hops[-1], outcome.url, last)
        plain = json.dumps(outcome._asdict()).encode()
        warc_headers = {"WARC-Concurrent-To": last} if last else {}
        self._write(outcome.url, "metadata", plain, OUTCOME_TYPE, warc_headers)
        self.outcomes.append(outcome)

    def close(self) -> None:
        """Rename the finished segment, or delete it if it holds no page."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        if self.outcomes:
            os.replace(self._part, self._path)
        else:
            os.remove(self._part)

    def _write_exchange(self, hop: Exchange) -> str:
        """Write a response and its request; return the record id of the response."""
        url, date = hop.target.url, _date(hop.fetched_at)
        headers = [(_name(k), v.decode("latin-1")) for k, v in hop.headers]
        warc_headers = {"WARC-Date": date}
        if hop.address:
            warc_headers["WARC-IP-Address"] = hop.address
        if hop.is_cut:
            warc_headers["WARC-Truncated"] = "length"
        status = f"{hop.status} {hop.reason_phrase}".strip()
        answer = _HttpHead(status, headers, protocol=hop.version)
        record_id = self._write(url, "response", hop.body, "", warc_headers, answer)
        sent = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in hop.request_headers]
        line = f"GET {hop.target.path} HTTP/1.1"
        request = _HttpHead(line, sent, is_http_request=True)
        warc_headers = {"WARC-Date": date, "WARC-Concurrent-To": record_id}
        self._write(url, "request", b"", "", warc_headers, request)
        return record_id

    def _write_resource(self, hop: Exchange, url: str, refers_to: str) -> None:
        headers = {"content-encoding": hop.header("content-encoding") or ""}
        try:
            body = decode_body(headers, hop.body, MAX_DECODED_BYTES)
        except BadRecord:
            return  # the response itself will be dropped for the same reason
        warc_headers = {
            "WARC-Date": _date(hop.fetched_at),
            "WARC-Refers-To": refers_to,
            "WARC-Refers-To-Target-URI": hop.target.url,
        }
        self._write(url, "resource", body, hop.header("content-type") or "text/html", warc_headers)

    def _write(
        self,
        url: str,
        kind: str,
        payload: bytes,
        content_type: str,
        warc_headers: dict[str, str],
        http_headers: Any = None,
    ) -> str:
        record = self._writer.create_warc_record(
            url,
            kind,
            payload=BytesIO(payload),
            length=len(payload),
            warc_content_type=content_type,
            warc_headers_dict=warc_headers,
            http_headers=http_headers,
        )
        self._writer.write_record(record)
        return str(record.rec_headers.get_header("WARC-Record-ID"))


def part_path(path: str) -> str:
    """The hidden name under which a segment is written."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.part")


def read_outcomes(raw: BinaryIO) -> Iterator[tuple[Outcome, int]]:
    """Yield (outcome of a page, offset of the end of its records) up to the first damage."""
    for record, end in _members(raw):
        head, _, block = record.partition(b"\r\n\r\n")
        if OUTCOME_TYPE.encode() in head:
            yield Outcome(**json.loads(block)), end


def rescue(path: str) -> bool:
    """Finish the segment of a killed run; return False if it holds no complete page.

    Everything after the last outcome is cut off.
    """
    part = part_path(path)
    with open(part, "rb") as raw:
        ends = [end for _, end in read_outcomes(raw)]
    if not ends:
        os.remove(part)
        return False
    os.truncate(part, ends[-1])
    os.replace(part, path)
    return True


def _members(raw: BinaryIO) -> Iterator[tuple[bytes, int]]:
    """Yield (decompressed bytes, offset of its end) of each complete gzip member."""
    offset, data = 0, b""
    while True:
        decoder = zlib.decompressobj(31)
        member = bytearray()
        while not decoder.eof:
            data = data or raw.read(_READ_BYTES)
            if not data:
                return
            try:
                member += decoder.decompress(data)
            except zlib.error:
                return
            offset += len(data) - len(decoder.unused_data)
            data = decoder.unused_data
        yield bytes(member), offset


def _name(key: bytes) -> str:
    name = key.decode("latin-1")
    return f"X-Crawl-{name}" if name.lower() in _NOT_AS_SENT else name


def _date(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
