"""Find points at which a crawl file can be split among workers.

A split point is the start of a record, found from the bytes around it alone. A record's payload may
be a crawl file itself, and appear in the compressed bytes as it is: in stored blocks of gzip, of
64 KiB at most, or in raw blocks of zstd, of 128 KiB (RFC 1951, 8878). So records count as the
file's own only if they follow each other unbroken for longer than such a block.
"""

from typing import BinaryIO

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.warc.headers import STARTS, read_header
from wikisum.crawl.warc.members import MemberReader

CERTAIN_BYTES = 1 << 18


def next_split(
    raw: BinaryIO, first: int, before: int | None = None, certain_bytes: int = CERTAIN_BYTES
) -> int | None:
    """Return the offset of the first split point in [first, before), or None.

    It is the first record from which on all records, each a gzip member or zstd frame of its own,
    follow each other unbroken for `certain_bytes`. Files that are plain or compressed as a whole
    have no split points, and none lies near the end of a file. The result depends only on the
    bytes from `first` on, so that two workers agree on it. `raw` must seek.
    """
    raw.seek(0)
    reader = MemberReader(raw, STARTS)
    if not reader.next_part() or reader.is_plain:
        return None
    while True:
        start = reader.go_to(first)
        if before is not None and start >= before:
            return None
        end = _run_end(reader, start, certain_bytes)
        if end is None:
            return None
        if end - start > certain_bytes:
            return start
        first = end + 1  # the run of records broke off at `end`, so no record before it is certain


def _run_end(reader: MemberReader, start: int, enough: int) -> int | None:
    """Return where the run of whole records from `start` on ends, or is long enough.

    None if the file ends before that.
    """
    end = start
    while end - start <= enough:
        if not reader.next_part():
            return None
        if reader.is_plain or reader.file_offset() != end or not _is_whole_record(reader):
            break
        end = reader.file_offset() or end
    return end


def _is_whole_record(reader: MemberReader) -> bool:
    """Whether the part is one record and nothing else. Reads the part."""
    if not reader.at_start():
        return False
    try:
        header = read_header(reader, True)
    except BadRecord:
        return False
    is_whole = reader.skip(header.length) == header.length
    reader.skip_blank()
    return is_whole and not reader.peek(1) and reader.fault is None


def records_between(
    raw: BinaryIO, first: int, before: int | None, certain_bytes: int = CERTAIN_BYTES
) -> tuple[int, int | None] | None:
    """Return the range [start, end) of the records that belong to bytes [first, before), or None.

    If a file is divided into such shares from 0 to None, each record belongs to exactly one. A
    file without split points belongs to the first share as a whole. Leaves `raw` at its beginning.
    """
    start = first and next_split(raw, first, before, certain_bytes)
    if start is None:
        return None
    end = None if before is None else next_split(raw, before, None, certain_bytes)
    if first or before is not None:
        raw.seek(0)
    return start, end
