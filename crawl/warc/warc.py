"""Read the pages of WARC, ARC and WET files from a stream, with the byte range of each record.

    with open("crawl.warc.gz", "rb") as raw:
        for item in read_captures(raw):
            if isinstance(item, PageRecord):
                print(item.url, item.offset, len(item.payload))
            else:
                print(item.offset, item.reason, item.detail)

warcio is the reference reader in the tests, and writes WARC files elsewhere in this project. This
reader exists beside it for three reasons. It continues behind a damaged record, which costs only
itself, where warcio stops or misreads the rest of the file. It gives exact byte ranges also on
streams that cannot seek. And it finds points at which a file can be split among workers
(`split_points`).
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


class PageRecord(NamedTuple):
    """A page of a crawl, its encodings undone.

    `kind` is `html` or `text`. Bytes [offset, offset + length) of the file hold its record alone.
    Where records are not compressed one by one, they count decompressed bytes from the start of
    the member in which the first of them begins. `digest` is that of the payload; `fetched_at` is
    an ISO 8601 time.
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
    """A record that is not a usable page, or a lost span of the file (then `url` is None)."""

    url: str | None
    reason: str
    offset: int
    detail: str


def read_captures(
    raw: BinaryIO,
    wanted: Callable[[str], bool] = lambda url: True,
    max_payload_bytes: int = 16 << 20,
    index_digest: str | None = None,
    start: int = 0,
    end: int | None = None,
    keep_truncated: bool = False,
) -> Iterator[PageRecord | Rejection]:
    """Yield the wanted pages of a file in order, and a Rejection for everything that is wrong.

    Unwanted records, and those that are not pages, are skipped silently, but not damage to the
    file. Payloads are compared with their digests only if the digest of an index is given.
    With `start` or `end`, only the records in [start, end) of the file are read; these must come
    from `records_between`. `raw` needs to seek only if there is a `start`. Nothing is raised but
    what `raw` raises. With `keep_truncated`, pages that the crawler cut at its size limit
    (`WARC-Truncated: length`) are yielded as far as they go.

    Reasons of a Rejection: `http_status_NNN`, `not_html`, `not_a_response`, `revisit`,
    `truncated_record`, `bad_record`, `bad_encoding`, `page_too_large`, `wrong_digest`,
    `not_a_warc`.
    """
    reader = MemberReader(raw, STARTS)
    if start and reader.next_part():
        reader.found_start = reader.go_to(start) == start
    # A file in which no record begins gets one `not_a_warc` in place of all its faults. So the
    # first fault is held back until a record was found, and reported then.
    first_fault: Rejection | None = None
    while reader.next_part():
        if end is not None and (reader.file_offset() or 0) >= end:
            reader.found_start = True
            break
        for item in _records(reader, wanted, max_payload_bytes, index_digest, keep_truncated):
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
        detail = first_fault.detail if first_fault else "the file is empty"
        yield Rejection(None, "not_a_warc", 0, f"no record was found: {detail}")


def _records(
    reader: MemberReader,
    wanted: Callable[[str], bool],
    max_bytes: int,
    index_digest: str | None,
    keep_truncated: bool,
) -> Iterator[PageRecord | Rejection]:
    """Yield the wanted records of one part, and what is lost of it.

    A record's header states its length, which may be wrong. It is trusted if another record, or
    the end of the part, follows the record. If not, the start of the next record is searched for
    from the beginning of this record's block: a start inside the block means that the length was
    too large, one after it that it was too small.
    """
    reader.skip_blank()
    while reader.peek(1):
        record_position, record_offset = reader.position, reader.file_offset()
        is_start = reader.at_start()
        try:
            header = read_header(reader, is_start)
        except BadRecord as error:
            if reader.fault is not None and error.reason == "truncated_record":
                break
            lost = reader.seek_start(record_position + is_start) - record_position
            yield _lost(_either(record_offset, record_position), error.reason, str(error), lost)
            continue
        is_wanted = header.type in PAGES and wanted(header.url)
        url = header.url if is_wanted else None
        block_position = reader.position
        is_held = is_wanted and header.length <= max_bytes + MAX_HEADER_BYTES
        block = _read_block(reader, header.length, is_held)
        is_cut = reader.position - block_position < header.length
        reader.skip_blank()
        at_end = not reader.peek(1)
        if at_end and reader.fault is not None and (is_cut or record_offset is not None):
            # A member that breaks off or fails its checksum is bad, though its record seems whole.
            yield _damage(reader, reader.fault, _either(record_offset, record_position), url)
            return
        end_position, end_offset = reader.position, reader.file_offset()
        offset, length = record_position, end_position - record_position
        if record_offset is not None and end_offset is not None:
            offset, length = record_offset, end_offset - record_offset
        next_position = end_position
        if is_cut or not (at_end or reader.at_start()):
            next_position = reader.seek_start(block_position)
        if is_cut:
            yield Rejection(url, "truncated_record", offset, "it ends early")
        elif next_position < end_position:
            yield Rejection(url, "bad_record", offset, "another record begins in it")
        elif is_wanted:
            yield _page(header, block, offset, length, max_bytes, index_digest, keep_truncated)
        if next_position > end_position:
            lost = next_position - end_position
            lost_offset = _either(end_offset, end_position)
            yield _lost(lost_offset, "bad_record", "no record begins here", lost)
    if reader.fault is not None:
        yield _damage(reader, reader.fault, reader.fault.offset or 0, None)


def _read_block(reader: MemberReader, length: int, is_held: bool) -> bytes | None:
    """Return the block of a record, or what there is of it; None after skipping it."""
    if is_held:
        return reader.read(length)
    reader.skip(length)
    return None


def _damage(reader: MemberReader, fault: BadRecord, offset: int, url: str | None) -> Rejection:
    """Skip from where decompression failed to the next member, and report what is lost."""
    lost = reader.recover() - (fault.offset or 0)
    return _lost(offset, fault.reason, str(fault), lost)._replace(url=url)


def _either(offset: int | None, position: int) -> int:
    return position if offset is None else offset


def _lost(offset: int, reason: str, detail: str, lost_bytes: int) -> Rejection:
    return Rejection(None, reason, offset, f"{detail}; {lost_bytes} bytes are lost")


def _page(
    header: RecordHeader,
    block: bytes | None,
    offset: int,
    length: int,
    max_bytes: int,
    index_digest: str | None,
    keep_truncated: bool,
) -> PageRecord | Rejection:
    def reject(reason: str, detail: str) -> Rejection:
        return Rejection(header.url, reason, offset, detail)

    if header.type == "revisit":
        return reject("revisit", "its body is in another record")
    truncated = header.headers.get("warc-truncated")
    if truncated and not (keep_truncated and truncated.strip().lower() == "length"):
        return reject("truncated_record", truncated)
    if "warc-segment-number" in header.headers:
        return reject("truncated_record", "only a segment")
    if block is None:
        return reject("page_too_large", f"{header.length} bytes")
    try:
        return _capture(header, block, offset, length, max_bytes, index_digest)
    except BadRecord as error:
        return reject(error.reason, str(error))


def _response(header: RecordHeader, block: bytes) -> tuple[dict[str, str], bytes, str | None]:
    """Return HTTP headers, body and digest of a record. Raises BadRecord for no good response."""
    declared = header.headers.get("content-type", "")
    digest = header.headers.get("warc-payload-digest")
    if header.type in ("conversion", "resource"):
        digest = digest or header.headers.get("warc-block-digest")
        return {"content-type": declared}, block, digest
    is_http = declared.lower().startswith("application/http")
    if header.type == "response" and declared and not is_http:
        raise BadRecord("not_a_response", f"its content is {declared[:100]}")
    status, headers, body = parse_response(block)
    if status != 200:
        raise BadRecord(f"http_status_{status}")
    return headers, body, digest


def _capture(
    header: RecordHeader,
    block: bytes,
    offset: int,
    length: int,
    max_bytes: int,
    index_digest: str | None,
) -> PageRecord:
    """Raises BadRecord."""
    headers, body, digest = _response(header, block)
    mime, charset = content_type(headers.get("content-type", ""))
    if not mime:
        mime, _ = content_type(header.headers.get("warc-identified-payload-type", ""))
    check_type(mime)
    payload = decode_body(headers, body, max_bytes)
    kind, mime = page_kind(mime, payload)
    if index_digest is not None:
        # Crawlers differ: most hash the body as sent, some without chunks or compression.
        contents = (body, unchunk(body), payload)
        for claim in filter(None, (digest, index_digest)):
            if is_digest_of(claim, contents) is False:
                raise BadRecord("wrong_digest", f"its payload does not have the digest {claim}")
    if not digest:
        digest = "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()
    return PageRecord(
        url=header.url,
        status=200,
        mime=mime,
        charset=charset,
        payload=payload,
        kind="text" if header.type == "conversion" else kind,
        offset=offset,
        length=length,
        digest=digest,
        fetched_at=header.headers.get("warc-date", ""),
    )
