"""Where a crawl file can be parted, so that several workers read it at once.

What a record holds may be a crawl file itself, and lie in the compressed bytes as it is: in stored
blocks of gzip, of 64 KiB at most, or in raw blocks of zstd, of 128 (RFC 1951, 8878). So whole
records that follow each other for longer than that are records of the file.
"""

from typing import BinaryIO

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.warc.headers import STARTS, read_header
from wikisum.crawl.warc.members import MemberReader

CERTAIN_BYTES = 1 << 18


def next_split(
    raw: BinaryIO, first: int, before: int | None = None, certain_bytes: int = CERTAIN_BYTES
) -> int | None:
    """The offset of a record in [first, before) where a part of the file may begin, or None.

    It is the first from which on the records, each a gzip member or zstd frame of its own, follow
    each other unbroken for `certain_bytes`. There is none in a file that begins otherwise, or near
    its end. It depends on the bytes from `first` on alone; a stream must seek.
    """
    raw.seek(0)
    reader = MemberReader(raw, STARTS)
    if not reader.next_part() or reader.is_plain:
        return None
    while True:
        start = reader.go_to(first)
        if before is not None and start >= before:
            return None
        end = _sound_until(reader, start, certain_bytes)
        if end is None:
            return None
        if end - start > certain_bytes:
            return start
        first = end + 1  # what follows it there broke off


def _sound_until(reader: MemberReader, start: int, enough: int) -> int | None:
    """The end of the whole records that follow each other from `start`, if need be so far.

    None where the file ends before that.
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
    """Whether the part is one record and nothing else; reads it."""
    if not reader.at_start():
        return False
    try:
        head = read_header(reader, True)
    except BadRecord:
        return False
    is_whole = reader.skip(head.length) == head.length
    reader.skip_blank()
    return is_whole and not reader.peek(1) and reader.fault is None


def records_between(
    raw: BinaryIO, first: int, before: int | None, certain_bytes: int = CERTAIN_BYTES
) -> tuple[int, int | None] | None:
    """[start, end) of the records that fall to bytes [first, before) of a file, or None.

    Of shares that follow each other from 0 to None, each record falls to just one. All of a file
    that has no borders falls to the first. Leaves the stream at its beginning.
    """
    start = first and next_split(raw, first, before, certain_bytes)
    if start is None:
        return None
    end = None if before is None else next_split(raw, before, None, certain_bytes)
    if first or before is not None:
        raw.seek(0)
    return start, end
