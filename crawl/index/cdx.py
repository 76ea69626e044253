"""Lines of crawl indexes (ZipNum CDX and cluster.idx), and which capture of a page is best.

An index has one line per capture, sorted by the key of its URL (SURT): key, time stamp, JSON. The
lines are kept in gzip members of some thousands, called blocks; cluster.idx has one line per block.
"""

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urljoin

from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.crawl.http import check_type

MAX_BLOCK_BYTES = 64 << 20
MAX_OFFSET = 1 << 50
_STAMP = re.compile(r"\d{4,14}", re.ASCII)
_STATUS = re.compile(r"\d{3}", re.ASCII)
_COUNT = re.compile(r"\d{1,16}", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HTML = ("text/html", "application/xhtml+xml")


class Entry(NamedTuple):
    """A capture as an index describes it.

    `timestamp` has 14 digits; `status` is 0 where it is unknown. The record is `length` bytes at
    `offset` of the file `filename`, relative to the crawl's root. `redirect` is the address that a
    redirect leads to.
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
    """A line of cluster.idx: the first key of the block, and its bytes in the index file `file`."""

    surt: str
    file: str
    offset: int
    length: int


def parse_block(line: bytes) -> Block:
    """Parse a line of cluster.idx; columns after the fourth are ignored. Raises BadLine."""
    try:
        key, file, offset, length, *_ = line.decode("utf-8", "surrogateescape").split("\t")
        block = Block(key.split(" ")[0], file, _count(offset), _count(length))
        _check_place(block.file, block.offset, block.length)
    except ValueError as error:
        detail = f"not a line of a cluster.idx: {line[:100]!r}: {error}"
        raise BadLine("bad_index", detail) from error
    return block


def parse_entry(line: bytes) -> Entry:
    """Parse a CDX line with JSON; unknown fields are ignored. Raises BadLine."""
    surt, _, rest = line.decode("utf-8", "surrogateescape").partition(" ")
    timestamp, _, fields = rest.partition(" ")
    return _entry(surt, timestamp, _json_object(fields))


def parse_server_line(line: bytes) -> Entry:
    """Parse a line of JSON as CDX servers give it. Raises BadLine."""
    fields = _json_object(line.decode("utf-8", "replace"))
    surt, timestamp = fields.get("urlkey"), fields.get("timestamp")
    if not isinstance(surt, str) or not isinstance(timestamp, str):
        raise BadLine("bad_index", f"not a line of a CDX server: {line[:100]!r}")
    return _entry(surt, timestamp, fields)


def _json_object(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadLine("bad_index", f"not a line of an index: {text[:100]!r}: {error}") from error
    if not isinstance(fields, dict):
        raise BadLine("bad_index", f"not a line of an index: {text[:100]!r}")
    return fields


def _entry(surt: str, timestamp: str, fields: dict[str, Any]) -> Entry:
    """The checked capture of an index line. Raises BadLine."""
    try:
        status = str(fields.get("status", ""))
        entry = Entry(
            surt=surt,
            timestamp=timestamp,
            url=fields["url"],
            status=int(status) if _STATUS.fullmatch(status) else 0,
            mime=fields.get("mime") or "",
            mime_detected=fields.get("mime-detected") or "",
            digest=fields.get("digest") or "",
            offset=_count(fields["offset"]),
            length=_count(fields["length"]),
            filename=fields["filename"],
            truncated=fields.get("truncated") or "",
            redirect=fields.get("redirect") or "",
        )
    except (ValueError, KeyError) as error:
        detail = f"not a line of an index: {surt[:100]!r} {str(fields)[:100]}: {error!r}"
        raise BadLine("bad_index", detail) from error
    return checked(entry)


def checked(entry: Entry) -> Entry:
    """The same capture. Raises BadLine if a field has the wrong type or an impossible value."""
    try:
        for name, kind in Entry.__annotations__.items():
            value = getattr(entry, name)
            if type(value) is not kind:
                raise ValueError(f"{name} is {str(value)[:100]!r}")
            if isinstance(value, str):
                value.encode()  # lone surrogates cannot be stored
        _check_place(entry.filename, entry.offset, entry.length)
    except ValueError as error:
        detail = f"not a line of an index: {str(entry.surt)[:100]!r}: {error}"
        raise BadLine("bad_index", detail) from error
    return entry


def _count(value: object) -> int:
    """The value of digits in JSON or text. Raises ValueError."""
    if type(value) not in (int, str) or not _COUNT.fullmatch(str(value)[:17]):
        raise ValueError(f"not an offset or length: {str(value)[:100]!r}")
    return int(str(value))


def _check_place(file: str, offset: int, length: int) -> None:
    """Raise ValueError unless these bytes may lie in a file below the crawl's root."""
    if not 0 <= offset <= MAX_OFFSET or not 0 < length <= MAX_OFFSET:
        raise ValueError(f"impossible byte range: {offset}, {length}")
    file.encode()  # lone surrogates can neither be requested nor stored
    segments = file.replace("\\", "/").split("/")
    if not file or not segments[0] or ".." in segments or ":" in file or _CONTROL.search(file):
        raise ValueError(f"not a path below the root of the crawl: {file[:100]!r}")


def block_lines(data: bytes) -> bytes:
    """Decompress the lines of a block. Raises BadRecord (`bad_index`) for damage."""
    decoder = zlib.decompressobj(31)
    try:
        lines = decoder.decompress(data, MAX_BLOCK_BYTES)
    except zlib.error as error:
        raise BadRecord("bad_index", f"a block of the index is damaged: {error}") from error
    if not decoder.eof:
        raise BadRecord("bad_index", "a block of the index is cut short or too large")
    return lines


def entries_with(lines: bytes, surts: Iterable[str]) -> Iterator[tuple[str, Entry | BadLine]]:
    """Yield (key, capture or error) for each line that has one of the keys, given in order.

    Searches instead of splitting: a block has thousands of lines, of which few are wanted.
    """
    lines = b"\n" + lines
    position = 0
    for surt in surts:
        line_start = b"\n" + surt.encode("utf-8", "surrogateescape") + b" "
        while (found := lines.find(line_start, position)) >= 0:
            end = lines.find(b"\n", found + 1)
            position = end if end >= 0 else len(lines)
            try:
                yield surt, parse_entry(lines[found + 1 : position])
            except BadLine as error:
                yield surt, error


def drop_reason(entry: Entry) -> str | None:
    """Return why a capture is not a page, as reading its record would show, or None."""
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
    """Return the address that a redirect leads to, or None."""
    if not 300 <= entry.status < 400 or not entry.redirect:
        return None
    try:
        return urljoin(entry.url, entry.redirect)
    except ValueError:
        return None


def parse_date(text: str) -> float:
    """Return the seconds since 1970 of a date (`2024-02-24`, `2024-02`, `2024`) or time stamp.

    A time stamp has 4 to 14 digits. Parts that are left out count as their least value. Raises
    ValueError.
    """
    digits = text.replace("-", "")
    whole = digits + "00000101000000"[len(digits) :]
    try:
        if not _STAMP.fullmatch(digits) or len(digits) % 2:
            raise ValueError("not 4 to 14 digits")
        return datetime.strptime(whole, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError as error:
        raise ValueError(f"not a date: {text!r}") from error


def preference(entry: Entry, date: float | None) -> tuple[bool, float, str, int]:
    """Sort key that puts the best capture first: HTML, then the newest or nearest to `date`.

    `date` is in seconds since 1970. Ties are broken by file and offset, so the order is stable.
    """
    try:
        time = parse_date(entry.timestamp)
    except ValueError:
        time = 0.0
    distance = -time if date is None else abs(time - date)
    is_other = (entry.mime_detected or entry.mime).split(";")[0].strip().lower() not in _HTML
    return is_other, distance, entry.filename, entry.offset
