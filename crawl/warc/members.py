"""Read a plain, gzip or zstd file as one stream of bytes that knows its offsets in the file."""

import re
from typing import Any, BinaryIO

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.warc.decoders import (
    DECODING_ERRORS,
    PIECE_BYTES,
    Plain,
    decoder,
    read_dictionary,
    salvage,
)

BLOCK_BYTES = 1 << 16
KEPT_BYTES = 1 << 20  # how far back the start of a lost record is searched for
MAX_BLANK_BYTES = 1 << 20  # of line ends between records; more are damage
START_BYTES = 4096  # enough to recognize the start of a record
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # begins a frame that holds a zstd dictionary
_FILLED = re.compile(rb"[^\r\n]")
_MEMBER = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd")
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)


class MemberReader:
    """Reads the decompressed bytes of a stream that need not seek, part after part.

    A member is one gzip member or zstd frame; a plain file counts as one member. A part is a run
    of members of which only the first starts with a record, so that no record continues from one
    part into the next. A file that is compressed record by record has one part per record; a file
    that is plain or compressed as a whole has one part. Damage ends a part early and is then its
    `fault`. `starts` must match the start of a record. Raises what `raw` raises, and nothing else.

    Bytes move through three buffers. `_input` holds compressed bytes as read from `raw`, from
    offset `_input_start` on. The decoder of the current member turns them into `_buffer`, of which
    the caller has taken the first `_taken` bytes; up to KEPT_BYTES of those are kept to search
    backwards. When a member ends, the next one is opened at once (`_look_ahead`), because only its
    first bytes show whether it belongs to the same part. If it does not, these bytes wait in
    `_ahead`, with the fault that came up while they were read, until `next_part` is called.

    A position is the offset of the part's first member in the file plus the number of decompressed
    bytes since then. A file offset counts bytes of the file itself; it is known only between two
    members (`_boundaries`), and everywhere in a plain file.
    """

    def __init__(self, raw: BinaryIO, starts: re.Pattern[bytes]) -> None:
        self._raw = raw
        self._starts = starts
        self._line_starts = re.compile(rb"(?<![^\n])(?:%b)" % starts.pattern)
        self._input = b""
        self._input_start = 0  # offset in the file of the first byte of _input
        self._dictionary: Any = None
        self._decoder: Any = None  # of the current member; None at its end
        self._member_start = 0  # offset in the file
        self._kept: list[bytes] = []  # the last compressed bytes of the current member
        self._is_open = False  # whether the first member of the next part is open
        self._ahead = b""  # the first bytes of that member
        self._later: BadRecord | None = None  # and its fault
        self._buffer = bytearray()  # bytes of the part: the last that were taken, then the next
        self._taken = 0
        self._base = 0  # position of the first byte of _buffer
        self._ended = True  # whether the buffer holds all that is left of the part
        self._boundaries: dict[int, int] = {}  # position -> file offset, between members
        self.is_plain = False  # whether the part is not compressed
        self.fault: BadRecord | None = None
        self.found_start = False  # whether the start of any record was seen

    @property
    def position(self) -> int:
        """The file offset of the part plus the number of its decompressed bytes taken so far."""
        return self._base + self._taken

    def file_offset(self) -> int | None:
        """Return the offset in the file of the next byte, or None within a compressed member."""
        if self.is_plain:
            return self.position
        return self._boundaries.get(self.position)

    def _fill(self) -> bool:
        block = self._raw.read(BLOCK_BYTES)
        self._input += block
        return bool(block)

    def _drop(self, count: int) -> None:
        self._input = self._input[count:]
        self._input_start += count

    def _open(self) -> bool:
        """Open the next member; False at the end of the file."""
        while self._input or self._fill():
            if blank := len(self._input) - len(self._input.lstrip(b"\0\r\n")):
                self._drop(blank)  # padding between members
                continue
            while len(self._input) < START_BYTES and self._fill():
                pass
            if _SKIPPABLE.match(self._input):
                self._skip_frame()
                continue
            self._decoder = decoder(self._input, self._dictionary)
            self._member_start, self._kept = self._input_start, []
            self._is_open = True
            return True
        return False

    def _skip_frame(self) -> None:
        """Skip a zstd frame without data; it may hold the dictionary of the file."""
        left = 8 + int.from_bytes(self._input[4:8], "little")
        if self._input.startswith(_DICTIONARY) and left <= KEPT_BYTES:
            while len(self._input) < left and self._fill():
                pass
            self._dictionary = read_dictionary(self._input[8:left])
        while left and (self._input or self._fill()):
            step = min(left, len(self._input))
            self._drop(step)
            left -= step

    def _pull(self) -> bytes:
        """Return the next piece of the current member; nothing at its end or at damage."""
        while self._decoder is not None:
            if not self._input and not self._fill():
                if not isinstance(self._decoder, Plain):
                    self._break("truncated_record", "the file ends within a compressed record")
                self._decoder = None
                break
            block = self._input
            try:
                data: bytes = self._decoder.decompress(block, PIECE_BYTES)
            except DECODING_ERRORS as error:
                self._break("bad_record", str(error))
                # Up to here nothing was returned of the member, so its record has no name yet.
                return b"" if self._kept else salvage(block, self._dictionary)
            ended = self._decoder.eof
            self._input = self._decoder.unused_data if ended else self._decoder.unconsumed_tail
            taken = len(block) - len(self._input)
            self._input_start += taken
            if not isinstance(self._decoder, Plain):
                self._keep(block[:taken])
            if ended:
                self._decoder = None
            if data:
                return data
        return b""

    def _keep(self, block: bytes) -> None:
        """Remember compressed bytes of the current member for `recover`."""
        self._kept.append(block)
        if len(self._kept) * BLOCK_BYTES > 2 * KEPT_BYTES:
            self._kept = [b"".join(self._kept)[-KEPT_BYTES:]]

    def _break(self, reason: str, detail: str) -> None:
        self.fault = BadRecord(reason, detail, self._member_start)
        self._decoder = None

    def _more(self) -> bool:
        """Add more of the part to the buffer; False at its end."""
        while not self._ended:
            if self._taken > 2 * KEPT_BYTES:
                self._base += self._taken - KEPT_BYTES
                del self._buffer[: self._taken - KEPT_BYTES]
                self._taken = KEPT_BYTES
                self._boundaries = {p: o for p, o in self._boundaries.items() if p >= self.position}
            if data := self._pull():
                self._buffer += data
                return True
            self._ended = True
            if self.fault is None:
                self._boundaries[self._base + len(self._buffer)] = self._input_start
                if self._look_ahead():
                    return True
        return False

    def _look_ahead(self) -> bool:
        """Open the next member and add it to this part, unless a record starts in it.

        Return whether bytes were added.
        """
        if not self._open() or isinstance(self._decoder, Plain):
            return False
        ahead = bytearray()
        while len(ahead) < START_BYTES and (data := self._pull()):
            ahead += data
        if self.fault is not None or self._starts.match(ahead):
            self._ahead = bytes(ahead)
            self._later, self.fault = self.fault, None
            return False
        self._buffer += ahead
        self._ended = self._is_open = False
        return bool(ahead)

    def next_part(self) -> bool:
        """Go to the next part, skipping the rest of this one; False at the end of the file."""
        while self._more():
            self._taken = len(self._buffer)
        self._buffer.clear()
        self._taken = 0
        if not self._is_open and not self._open():
            return False
        self._base = self._member_start
        self._boundaries = {self._base: self._member_start}
        self.is_plain = isinstance(self._decoder, Plain)
        self._buffer += self._ahead
        self.fault = self._later
        self._ended = self.fault is not None
        self._ahead, self._later, self._is_open = b"", None, False
        return True

    def read(self, count: int) -> bytes:
        """Take up to `count` bytes; fewer only at the end of the part."""
        while len(self._buffer) - self._taken < count and self._more():
            pass
        with memoryview(self._buffer) as view:
            data = bytes(view[self._taken : self._taken + count])
        self._taken += len(data)
        return data

    def skip(self, count: int) -> int:
        """Skip up to `count` bytes without holding them; return how many there were."""
        left = count
        while left and (self._taken < len(self._buffer) or self._more()):
            step = min(left, len(self._buffer) - self._taken)
            self._taken += step
            left -= step
        return count - left

    def peek(self, count: int) -> bytes:
        """Return up to `count` next bytes without taking them."""
        while len(self._buffer) - self._taken < count and self._more():
            pass
        return bytes(self._buffer[self._taken : self._taken + count])

    def skip_blank(self) -> None:
        """Skip line ends; more than MAX_BLANK_BYTES are a fault, except in a plain file.

        A few bytes can decompress to any number of them. The part ends there, unread.
        """
        blank = 0
        while True:
            if filled := _FILLED.search(self._buffer, self._taken):
                self._taken = filled.start()
                return
            blank += len(self._buffer) - self._taken
            self._taken = len(self._buffer)
            if blank > MAX_BLANK_BYTES and not (self._ended or self.is_plain):
                self._break("bad_record", f"over {MAX_BLANK_BYTES} bytes of line ends")
                self._ended = True
            if not self._more():
                return

    def at_start(self) -> bool:
        """Whether a record starts at the next byte."""
        while len(self._buffer) - self._taken < START_BYTES and self._more():
            pass
        found = self._starts.match(self._buffer, self._taken) is not None
        self.found_start |= found
        return found

    def read_until(self, terminators: tuple[bytes, ...], max_bytes: int) -> bytes | None:
        """Take the bytes through the first terminator, or None if `max_bytes` hold none."""
        searched = 0
        while True:
            data = self.peek(searched + START_BYTES)[:max_bytes]
            ends = [start + len(t) for t in terminators if (start := data.find(t)) >= 0]
            if ends:
                return self.read(min(ends))
            if len(data) == max_bytes or len(data) < searched + START_BYTES:
                return None
            searched = len(data)

    def seek_start(self, after: int) -> int:
        """Go to the next start of a record at or after position `after`, forwards or backwards.

        Return its position, or that of the end of the part. Backwards it can go KEPT_BYTES at
        most. In a plain file, a compressed record may follow, so the rest of the file is searched
        for either, and what is found becomes the next part.
        """
        index = max(after, self._base) - self._base  # in the buffer
        if self.is_plain:
            data = bytes(self._buffer[index:]) + self._input
            start = self._base + index
            del self._buffer[index:]
            self._taken = index
            self._ended, self._decoder = True, None
            return self._resync(data, start)
        while True:
            match = self._line_starts.search(self._buffer, index)
            if match:
                self._taken = match.start()
                self.found_start = True
                return self.position
            # Nothing here: search on, from where a start that is not complete yet may begin.
            self._taken = len(self._buffer)
            start = max(self._base + index, self.position - START_BYTES)
            if not self._more():
                return self.position
            index = start - self._base

    def go_to(self, offset: int) -> int:
        """Go to the first record, or member that starts with one, at or after file offset `offset`.

        It becomes the next part. The first part must have been opened, since it may hold the
        dictionary, and the stream must seek. Return the offset of what was found, or that of the
        end of the file.
        """
        self._raw.seek(offset)
        self._buffer.clear()
        self._taken = 0
        self._decoder, self._is_open, self._ended = None, False, True
        self._ahead, self._later, self.fault = b"", None, None
        return self._resync(b"", offset)

    def recover(self) -> int:
        """After a fault, go to the next member; return its offset, or that of the file's end."""
        data = b"".join(self._kept)
        offset = self._input_start - len(data)
        skipped = 1 if offset == self._member_start else 0
        return self._resync((data + self._input)[skipped:], offset + skipped)

    def _resync(self, data: bytes, offset: int) -> int:
        """Search for a record, or a member that starts with one, in `data` and in what follows.

        `data` is the file's from `offset` on, and what follows is read from `raw`. Return the
        offset of what was found, or that of the file's end; `_input` begins there then.
        """
        index = 0
        while (found := self._find(data, index)) is None:
            block = self._raw.read(BLOCK_BYTES)
            if not block:
                found = len(data)
                break
            tail = data[-START_BYTES:]  # may hold the beginning of a start
            offset += len(data) - len(tail)
            data = tail + block
            index = 1 if len(tail) == START_BYTES else 0
        self._input, self._input_start = data[found:], offset + found
        return self._input_start

    def _find(self, data: bytes, index: int) -> int | None:
        """Return the index of the first record or member with one, at or after `index`.

        The magic number of a member may stand anywhere by accident, so its beginning is
        decompressed and must match the start of a record.
        """
        line = self._line_starts.search(data, index)
        end = line.start() if line else len(data)
        for magic in _MEMBER.finditer(data, index, end):
            start = data[magic.start() : magic.start() + START_BYTES]
            try:
                opened = decoder(start, self._dictionary).decompress(start, START_BYTES)
            except DECODING_ERRORS:
                continue
            if self._starts.match(opened):
                return magic.start()
        return end if line else None
