"""WARC, ARC and WET files -> pages, streamed, with the byte range of each.

Our own reader, because a damaged record must cost only itself and offsets must be exact on
streams that cannot seek; warcio undoes the chunks, and writes in the tests.
"""

import base64
import hashlib
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from crawl.errors import BadRecord
from crawl.http import content_type, decode_body, page_kind, parse_headers, parse_response
from crawl.members import Damaged, MemberReader

MAX_HEAD_BYTES = 1 << 16
_ARC = rb"(?:filedesc|https?|dns|ftp)://?\S+ [\d.a-fA-F:]+ \d{14} \S+ "
_STARTS = re.compile(rb"WARC/\d|" + _ARC)
_LINE_STARTS = re.compile(rb"(?:(?<=\n)|\A)WARC/\d\.\d+\r?\n")
_ARC_HEAD = re.compile(rb"(\S.*?) (\S+) (\d{12,14}) (?:(\S+) )?(?:.* )?(\d+)\s*\n")
_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?")
_PASSED_OVER = frozenset(("warcinfo", "request", "metadata", "continuation"))


class Capture(NamedTuple):
    """A page of a crawl, its encodings undone.

    `kind` is `html` or `text`. Bytes [offset, offset + length) of the file hold its record; in a
    file that is compressed in one piece, they are bytes of what it holds. `digest` is that of the
    payload; `fetched_at` is ISO 8601.
    """

    url: str
    status: int
    mime: str
    charset: str | None
    payload: bytes
    kind: str
    offset: int
    length: int
    digest: str
    fetched_at: str


class Rejected(NamedTuple):
    """A record that is no usable page, or a damaged span of the file (`url` is then None)."""

    url: str | None
    reason: str
    offset: int
    detail: str


class _Head(NamedTuple):
    """What the header of a record says; `type` is `arc` for ARC records."""

    type: str
    url: str
    length: int
    headers: dict[str, str]


def _always(url: str) -> bool:
    return True


def read_captures(
    raw: BinaryIO, wanted: Callable[[str], bool] = _always, max_payload_bytes: int = 16 << 20
) -> Iterator[Capture | Rejected]:
    """The wanted pages of a file in order, and all that is wrong with it.

    Records of other kinds and unwanted ones are passed over silently. Reasons of a Rejected:
    `http_status_NNN`, `not_html`, `truncated_record`, `bad_record`, `bad_encoding`,
    `page_too_large`, `revisit`, `not_a_warc`. Nothing is raised but what `raw` raises.
    """
    reader = MemberReader(raw)
    if reader.is_empty:
        yield Rejected(None, "not_a_warc", 0, "the file is empty")
        return
    sound = 0
    starts = _LINE_STARTS if reader.kind == "plain" else _STARTS
    while True:
        try:
            if not reader.next_member():
                return
            for item in _member(reader, wanted, max_payload_bytes):
                sound += 1
                if item is not None:
                    yield item
        except (Damaged, BadRecord) as error:
            reason = error.reason if isinstance(error, BadRecord) else "bad_record"
            at = reader.start + (reader.position if reader.kind == "plain" else 0)
            if isinstance(error, BadRecord) and error.offset is not None:
                at = error.offset
            if "ends" in str(error):
                reason = "truncated_record"
            end = reader.resync(at if reader.kind == "plain" else reader.start, starts)
            if not sound and reader.is_empty:
                yield Rejected(None, "not_a_warc", at, f"no record is found: {error}")
            else:
                yield Rejected(None, reason, at, f"{error}; {end - at} bytes are lost")


def _member(
    reader: MemberReader, wanted: Callable[[str], bool], most: int
) -> Iterator[Capture | Rejected | None]:
    """The records of one member: a page, a rejection, or None for one passed over.

    The first record of a compressed member is placed by the member, the others by their place
    in what is decompressed. Raises Damaged and BadRecord where no next record can be found.
    """
    count = 0
    while True:
        _skip_blank(reader)
        if not reader.peek(1):
            return
        place = reader.position
        head = _read_head(reader)
        block = None
        is_page = head.type in ("response", "resource", "conversion", "arc", "revisit")
        took = is_page and wanted(head.url)
        if took and head.length <= most + MAX_HEAD_BYTES:
            block = reader.read(head.length)
            got = len(block)
        else:
            got = reader.skip(head.length)
        cut = got < head.length
        if not cut:
            _skip_blank(reader)
        count += 1
        if reader.kind != "plain" and count == 1 and not _STARTS.match(reader.peek(64)):
            reader.drain()
            offset, length = reader.start, reader.end - reader.start
        elif reader.kind == "plain":
            offset, length = reader.start + place, reader.position - place
        else:
            offset, length = place, reader.position - place
        if took:
            yield _page(head, block, cut, offset, length, most)
        elif cut:
            yield Rejected(head.url or None, "truncated_record", offset, "the file ends within it")
        else:
            yield None


def _skip_blank(reader: MemberReader) -> None:
    while (blank := reader.peek(4)) and blank[0] in b"\r\n":
        reader.skip(len(blank) - len(blank.lstrip(b"\r\n")))


def _read_head(reader: MemberReader) -> _Head:
    """The header of the next record. Raises BadRecord if there is none."""
    place = reader.position
    offset = reader.start + (place if reader.kind == "plain" else 0)
    first = reader.peek(16)
    if first.startswith(b"WARC/"):
        head = reader.head((b"\r\n\r\n", b"\n\n"), MAX_HEAD_BYTES)
        if head is None:
            at_end = len(reader.peek(MAX_HEAD_BYTES)) < MAX_HEAD_BYTES
            what = "the file ends within a header" if at_end else "a header has no end"
            raise BadRecord("bad_record", what, offset)
        headers = parse_headers(head.split(b"\n")[1:])
        length = headers.get("content-length", "")
        if not length.isdigit():
            raise BadRecord("bad_record", f"its length is {length[:40]!r}", offset)
        url = _clean_url(headers.get("warc-target-uri", ""))
        return _Head(headers.get("warc-type", "").lower(), url, int(length), headers)
    line = reader.head((b"\n",), MAX_HEAD_BYTES)
    match = _ARC_HEAD.fullmatch(line) if line else None
    if match is None:
        what = "no WARC or ARC header" if line else "the file ends within a line"
        raise BadRecord("bad_record", what, offset)
    url, address, date, mime, length_text = (
        (group or b"").decode("utf-8", "replace") for group in match.groups()
    )
    kind = "warcinfo" if url.startswith(("filedesc:", "dns:")) else "arc"
    parts = _DATE.match(date)
    stamp = "{}-{}-{}T{}:{}:{}Z".format(*(p or "00" for p in parts.groups())) if parts else ""
    headers = {"warc-date": stamp, "content-type": mime, "warc-ip-address": address}
    return _Head(kind, _clean_url(url), int(length_text), headers)


def _clean_url(url: str) -> str:
    return url.strip().strip("<>").strip().replace(" ", "%20")


def _page(
    head: _Head, block: bytes | None, cut: bool, offset: int, length: int, most: int
) -> Capture | Rejected:
    def reject(reason: str, detail: str = "") -> Rejected:
        return Rejected(head.url, reason, offset, detail)

    if head.type == "revisit":
        return reject("revisit", "its body is in another record")
    if cut:
        return reject("truncated_record", "the file ends within it")
    if head.headers.get("warc-truncated"):
        return reject("truncated_record", head.headers["warc-truncated"])
    if block is None:
        return reject("page_too_large", f"{head.length} bytes")
    try:
        return _capture(head, block, offset, length, most)
    except BadRecord as error:
        return reject(error.reason, str(error))


def _capture(head: _Head, block: bytes, offset: int, length: int, most: int) -> Capture:
    """Raises BadRecord."""
    told = head.headers.get("content-type")
    if head.type in ("conversion", "resource") or (
        head.type == "arc" and not block.startswith(b"HTTP/")
    ):
        status, headers, body = 200, {"content-type": told or ""}, block
    elif "http" not in (told or "http").lower() and head.type != "arc":
        raise BadRecord("not_html", f"no HTTP response: {told}")
    else:
        status, headers, body = parse_response(block)
        if status != 200:
            raise BadRecord(f"http_status_{status}")
    mime, charset = content_type(headers.get("content-type"))
    if not mime:
        mime, _ = content_type(head.headers.get("warc-identified-payload-type"))
    if mime and not mime.startswith("text/") and "html" not in mime and "octet" not in mime:
        raise BadRecord("not_html", mime[:100])
    payload = decode_body(headers, body, most)
    kind, mime = page_kind(mime, payload)
    digest = head.headers.get("warc-payload-digest") or head.headers.get("warc-block-digest")
    if not digest:
        digest = "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()
    return Capture(
        head.url,
        status,
        mime,
        charset,
        payload,
        "text" if head.type == "conversion" else kind,
        offset,
        length,
        digest,
        head.headers.get("warc-date", ""),
    )
