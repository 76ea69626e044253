"""WARC, ARC and WET files -> pages, streamed, with the byte range of each.

Our own reader, because a damaged record must cost only itself and offsets must be exact on
streams that cannot seek; warcio, which does neither, is what the tests compare it with.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.http import (
    check_type,
    content_type,
    decode_body,
    page_kind,
    parse_response,
    unchunk,
)
from wikisum.crawl.warc.digests import is_digest_of
from wikisum.crawl.warc.headers import MAX_HEADER_BYTES, PAGES, STARTS, RecordHeader, read_header
from wikisum.crawl.warc.members import MemberReader


class Capture(NamedTuple):
    """A page of a crawl, its encodings undone.

    `kind` is `html` or `text`. Bytes [offset, offset + length) of the file hold its record alone;
    where records are not compressed one by one, they count decompressed bytes from the member on
    that the first of them begins. `digest` is that of the payload; `fetched_at` is ISO 8601.
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


class Rejection(NamedTuple):
    """A record that is no usable page, or a lost span of the file (its `url` may be None)."""

    url: str | None
    reason: str
    offset: int
    detail: str


def _always(url: str) -> bool:
    return True


def read_captures(
    raw: BinaryIO,
    wanted: Callable[[str], bool] = _always,
    max_payload_bytes: int = 16 << 20,
    index_digest: str | None = None,
    start: int = 0,
    end: int | None = None,
) -> Iterator[Capture | Rejection]:
    """The wanted pages of a file in order, and all that is wrong with it.

    Records of other kinds and unwanted ones are passed over silently, but not damage to the file.
    Payloads are held against their digests only if that of an index is given.
    Reasons of a Rejection: `http_status_NNN`, `not_html`, `not_a_response`, `revisit`,
    `truncated_record`, `bad_record`, `bad_encoding`, `page_too_large`, `wrong_digest`,
    `not_a_warc`.
    With `start` or `end`, only of the records in [start, end) of the file, as `records_between`
    gives them. A `raw` that cannot seek will do unless there is a `start`; nothing is raised but
    what it raises.
    """
    reader = MemberReader(raw, STARTS)
    if start and reader.next_part():
        reader.found_start = reader.go_to(start) == start
    first_fault: Rejection | None = None
    while reader.next_part():
        if end is not None and (reader.file_offset() or 0) >= end:
            reader.found_start = True
            break
        for item in _records(reader, wanted, max_payload_bytes, index_digest):
            if not reader.found_start and isinstance(item, Rejection):
                first_fault = first_fault or item
                continue
            if first_fault:
                yield first_fault
                first_fault = None
            yield item
    if first_fault and (reader.found_start or first_fault.reason == "truncated_record"):
        yield first_fault
    elif not reader.found_start:
        detail = first_fault.detail if first_fault else "it is empty"
        yield Rejection(None, "not_a_warc", 0, f"no record is found: {detail}")


def _records(
    reader: MemberReader, wanted: Callable[[str], bool], most: int, index_digest: str | None
) -> Iterator[Capture | Rejection]:
    """The wanted records of one part, and what is lost of it."""
    reader.skip_blank()
    while reader.peek(1):
        place, offset = reader.position, reader.file_offset()
        is_start = reader.at_start()
        try:
            head = read_header(reader, is_start)
        except BadRecord as error:
            if reader.fault is not None and error.reason == "truncated_record":
                break
            lost = reader.seek_start(place + is_start) - place
            yield _lost(_either(offset, place), error.reason, str(error), lost)
            continue
        took = head.type in PAGES and wanted(head.url)
        url = head.url if took else None
        start = reader.position
        block = _read_block(reader, head.length, took and head.length <= most + MAX_HEADER_BYTES)
        is_cut = reader.position - start < head.length
        reader.skip_blank()
        at_end = not reader.peek(1)
        if at_end and reader.fault is not None and (is_cut or offset is not None):
            # A member that breaks off or fails its checksum is no good, though all seems there.
            yield _damage(reader, reader.fault, _either(offset, place), url)
            return
        here, end = reader.position, reader.file_offset()
        size = here - place
        if offset is not None and end is not None:
            place, size = offset, end - offset
        found = here
        if is_cut or not (at_end or reader.at_start()):
            found = reader.seek_start(start)
        if is_cut:
            yield Rejection(url, "truncated_record", place, "it ends early")
        elif found < here:
            yield Rejection(url, "bad_record", place, "another record begins in it")
        elif took:
            yield _page(head, block, place, size, most, index_digest)
        if found > here:
            yield _lost(_either(end, here), "bad_record", "no record begins here", found - here)
    if reader.fault is not None:
        yield _damage(reader, reader.fault, reader.fault.offset or 0, None)


def _read_block(reader: MemberReader, length: int, is_held: bool) -> bytes | None:
    """The block of a record, as far as it goes, or None after passing over it."""
    if is_held:
        return reader.read(length)
    reader.skip(length)
    return None


def _damage(reader: MemberReader, fault: BadRecord, offset: int, url: str | None) -> Rejection:
    """What is lost from where decompression broke down to the next member, which comes next."""
    lost = reader.recover() - (fault.offset or 0)
    return _lost(offset, fault.reason, str(fault), lost)._replace(url=url)


def _either(offset: int | None, position: int) -> int:
    return position if offset is None else offset


def _lost(offset: int, reason: str, detail: str, lost_bytes: int) -> Rejection:
    return Rejection(None, reason, offset, f"{detail}; {lost_bytes} bytes are lost")


def _page(
    head: RecordHeader,
    block: bytes | None,
    offset: int,
    length: int,
    most: int,
    index_digest: str | None,
) -> Capture | Rejection:
    def reject(reason: str, detail: str) -> Rejection:
        return Rejection(head.url, reason, offset, detail)

    if head.type == "revisit":
        return reject("revisit", "its body is in another record")
    if truncated := head.headers.get("warc-truncated"):
        return reject("truncated_record", truncated)
    if "warc-segment-number" in head.headers:
        return reject("truncated_record", "only a segment")
    if block is None:
        return reject("page_too_large", f"{head.length} bytes")
    try:
        return _capture(head, block, offset, length, most, index_digest)
    except BadRecord as error:
        return reject(error.reason, str(error))


def _capture(
    head: RecordHeader, block: bytes, offset: int, length: int, most: int, index_digest: str | None
) -> Capture:
    """Raises BadRecord."""
    told = head.headers.get("content-type", "")
    status, headers, body = 200, {"content-type": told}, block
    digest = head.headers.get("warc-payload-digest")
    if head.type in ("conversion", "resource"):
        digest = digest or head.headers.get("warc-block-digest")
    elif head.type == "response" and told and not told.lower().startswith("application/http"):
        raise BadRecord("not_a_response", f"its content is {told[:100]}")
    else:
        status, headers, body = parse_response(block)
    if status != 200:
        raise BadRecord(f"http_status_{status}")
    mime, charset = content_type(headers.get("content-type", ""))
    if not mime:
        mime, _ = content_type(head.headers.get("warc-identified-payload-type", ""))
    check_type(mime)
    payload = decode_body(headers, body, most)
    kind, mime = page_kind(mime, payload)
    if index_digest is not None:
        # of the body as it was sent, as most have it, or without chunks, or as we read it
        contents = (body, unchunk(body), payload)
        for claim in filter(None, (digest, index_digest)):
            if is_digest_of(claim, contents) is False:
                raise BadRecord("wrong_digest", f"its payload has not the digest {claim}")
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
