"""Crawl indexes: lines of ZipNum CDX files and of their cluster.idx; which capture is best.

An index has a line a capture, sorted by the key of its URL (SURT): key, time stamp, JSON. The lines
are kept in gzip members of some thousands, blocks; cluster.idx has a line a block.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import urljoin

from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.crawl.http import check_type

MAX_BLOCK_BYTES = 64 << 20
_STAMP = re.compile(r"\d{4,14}", re.ASCII)
_HTML = ("text/html", "application/xhtml+xml")


class Entry(NamedTuple):
    """A capture as an index tells it; `timestamp` has 14 digits, `status` is 0 where none is told.

    `offset` and `length` are bytes of its record in the file `filename`, relative to the crawl's
    root; `redirect` is the address that it sends to.
    """

    surt: str
    timestamp: str
    url: str
    status: int
    mime: str
    mime_detected: str
    digest: str
    offset: int
    length: int
    filename: str
    truncated: str = ""
    redirect: str = ""


class Block(NamedTuple):
    """A line of cluster.idx: the key of the first capture in bytes of the index file `file`."""

    surt: str
    file: str
    offset: int
    length: int


def parse_block(line: bytes) -> Block:
    """The block of a line of cluster.idx; columns after the fourth may be there. Raises BadLine."""
    try:
        key, file, offset, length, *_ = line.decode("utf-8", "surrogateescape").split("\t")
        block = Block(key.split(" ")[0], file, int(offset), int(length))
    except ValueError as error:
        raise BadLine("bad_index", f"no line of a cluster.idx: {line[:100]!r}") from error
    if block.offset < 0 or block.length <= 0:
        raise BadLine("bad_index", f"no place of a block: {line[:100]!r}")
    return block


def parse_entry(line: bytes) -> Entry:
    """The capture of a CDX line with JSON; fields that it does not know may be there.

    Raises BadLine.
    """
    surt, _, rest = line.decode("utf-8", "surrogateescape").partition(" ")
    timestamp, _, told = rest.partition(" ")
    return entry_of(surt, timestamp, told)


def parse_server_line(line: bytes) -> Entry:
    """The capture of a line of JSON as CDX servers give it. Raises BadLine."""
    try:
        plain = json.loads(line)
        surt, timestamp = str(plain["urlkey"]), str(plain["timestamp"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadLine("bad_index", f"no answer of a CDX server: {line[:100]!r}") from error
    return entry_of(surt, timestamp, line.decode("utf-8", "replace"))


def entry_of(surt: str, timestamp: str, told: str) -> Entry:
    """The capture with this key and time of which the index tells this JSON. Raises BadLine."""
    try:
        plain = json.loads(told)
        status = str(plain.get("status", ""))
        return Entry(
            surt,
            timestamp,
            plain["url"],
            int(status) if status.isdigit() else 0,
            plain.get("mime", ""),
            plain.get("mime-detected", ""),
            plain.get("digest", ""),
            int(plain["offset"]),
            int(plain["length"]),
            plain["filename"],
            plain.get("truncated", ""),
            plain.get("redirect", ""),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadLine("bad_index", f"no line of an index: {surt[:100]} {told[:100]!r}") from error


def block_lines(data: bytes) -> bytes:
    """The lines of a block, decompressed. Raises BadRecord (`bad_index`) for damage."""
    decoder = zlib.decompressobj(31)
    try:
        lines = decoder.decompress(data, MAX_BLOCK_BYTES)
    except zlib.error as error:
        raise BadRecord("bad_index", f"a block of the index is damaged: {error}") from error
    if not decoder.eof:
        raise BadRecord("bad_index", "a block of the index is cut short or too large")
    return lines


def entries_with(lines: bytes, surts: Iterable[str]) -> Iterator[tuple[str, Entry | BadLine]]:
    """(key, capture) for those that have one of the keys, given in order; bad lines as values.

    Searches instead of splitting: a block has thousands of lines, and few of them are wanted.
    """
    lines = b"\n" + lines
    place = 0
    for surt in surts:
        head = b"\n" + surt.encode("utf-8", "surrogateescape") + b" "
        while (found := lines.find(head, place)) >= 0:
            end = lines.find(b"\n", found + 1)
            place = end if end >= 0 else len(lines)
            try:
                yield surt, parse_entry(lines[found + 1 : place])
            except BadLine as error:
                yield surt, error


def drop_reason(entry: Entry) -> str | None:
    """Why a capture is no page, as reading its record would tell, or None."""
    if entry.mime == "warc/revisit":
        return "revisit"
    if entry.truncated:
        return "truncated_record"
    if entry.status != 200:
        return f"http_status_{entry.status}" if entry.status else "not_a_response"
    try:
        check_type("" if entry.mime in ("unk", "-") else entry.mime.split(";")[0].strip().lower())
    except BadRecord as error:
        return error.reason
    return None


def redirect_target(entry: Entry) -> str | None:
    """The address that a redirect sends to, or None."""
    if not 300 <= entry.status < 400 or not entry.redirect:
        return None
    try:
        return urljoin(entry.url, entry.redirect)
    except ValueError:
        return None


def parse_date(text: str) -> float:
    """Seconds since 1970 of a date (`2024`, `2024-02`, `2024-02-24`) or of a 4 to 14 digit stamp.

    What is left out counts as its least value. Raises ValueError.
    """
    digits = text.replace("-", "")
    whole = digits + "00000101000000"[len(digits) :]
    try:
        if not _STAMP.fullmatch(digits) or len(digits) % 2:
            raise ValueError("not 4 to 14 digits")
        return datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise ValueError(f"no date: {text!r}") from error


def preference(entry: Entry, date: float | None) -> tuple[bool, float, str, int]:
    """A key that sorts captures, the best first: HTML, then newest, or nearest to `date`.

    `date` is in seconds since 1970. Ties go by place, so that the order is always the same.
    """
    try:
        time = parse_date(entry.timestamp)
    except ValueError:
        time = 0.0
    distance = -time if date is None else abs(time - date)
    is_other = (entry.mime_detected or entry.mime).split(";")[0].strip().lower() not in _HTML
    return is_other, distance, entry.filename, entry.offset
