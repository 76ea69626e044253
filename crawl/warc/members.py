"""A plain, gzip or zstd file as one stream of bytes, with the places in the file that it is at."""

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
KEPT_BYTES = 1 << 20  # how far back a lost record is looked for
START_BYTES = 4096  # enough to tell the start of a record
_DICTIONARY = b"\x5d\x2a\x4d\x18"  # opens a frame that holds one
_MEMBER = re.compile(rb"\x1f\x8b\x08|\x28\xb5\x2f\xfd")
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)


class MemberReader:
    """Reads the decompressed bytes of a stream that need not seek, part after part.

    A part is a run of members of which only the first starts with a record, so no record goes on
    from one part into the next: it is one member of a file compressed by record, and all of a file
    that is plain or compressed in one piece. Damage ends a part early and is then its `fault`.
    `starts` is to match the start of a record. Raises what `raw` raises, and nothing else.
    """

    def __init__(self, raw: BinaryIO, starts: re.Pattern[bytes]) -> None:
        self._raw = raw
        self._starts = starts
        self._line_starts = re.compile(rb"(?<![^\n])(?:%b)" % starts.pattern)
        self._input = b""
        self._input_start = 0  # offset in the file of the first byte of _input
        self._dictionary: Any = None
        self._decoder: Any = None  # of the current member; None at its end
        self._member_start = 0
        self._kept: list[bytes] = []  # the last input that the current member took
        self._is_open = False  # the next part's member is open, and _ahead and _later are its own
        self._ahead = b""
        self._later: BadRecord | None = None
        self._buffer = bytearray()  # bytes of the part: those taken last, then those to come
        self._taken = 0
        self._base = 0  # position of the first byte of _buffer
        self._ended = True  # no more of the part is to come into the buffer
        self._borders: dict[int, int] = {}  # position -> offset, between the members of the part
        self.is_plain = False  # whether the part is not compressed
        self.fault: BadRecord | None = None
        self.found_start = False  # whether any record was seen to start

    @property
    def position(self) -> int:
        """The offset of the part in the file, and how many decompressed bytes of it were taken."""
        return self._base + self._taken

    def file_offset(self) -> int | None:
        """The offset in the file of the next byte; None if it is within a compressed member."""
        if self.is_plain:
            return self.position
        return self._borders.get(self.position)

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
                self._drop(blank)  # some writers pad
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
        """Pass over a zstd frame without data; it may hold the dictionary of the file."""
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
        """The next piece of the current member; nothing at its end, or if it breaks off."""
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
        self._kept.append(block)
        if len(self._kept) * BLOCK_BYTES > 2 * KEPT_BYTES:
            self._kept = [b"".join(self._kept)[-KEPT_BYTES:]]

    def _break(self, reason: str, detail: str) -> None:
        self.fault = BadRecord(reason, detail, self._member_start)
        self._decoder = None

    def _more(self) -> bool:
        """Put more of the part into the buffer; False at its end."""
        while not self._ended:
            if self._taken > 2 * KEPT_BYTES:
                self._base += self._taken - KEPT_BYTES
                del self._buffer[: self._taken - KEPT_BYTES]
                self._taken = KEPT_BYTES
                self._borders = {p: o for p, o in self._borders.items() if p >= self.position}
            if data := self._pull():
                self._buffer += data
                return True
            self._ended = True
            if self.fault is None:
                self._borders[self._base + len(self._buffer)] = self._input_start
                self._look_ahead()
        return False

    def _look_ahead(self) -> None:
        """Open the next member; it belongs to this part if it does not start with a record."""
        if not self._open() or isinstance(self._decoder, Plain):
            return
        ahead = bytearray()
        while len(ahead) < START_BYTES and (data := self._pull()):
            ahead += data
        if self.fault is not None or self._starts.match(ahead):
            self._ahead = bytes(ahead)
            self._later, self.fault = self.fault, None
            return
        self._buffer += ahead
        self._ended = self._is_open = False

    def next_part(self) -> bool:
        """Go to the next part, over what is left of this one; False at the end of the file."""
        while self._more():
            self._taken = len(self._buffer)
        self._buffer.clear()
        self._taken = 0
        if not self._is_open and not self._open():
            return False
        self._base = self._member_start
        self._borders = {self._base: self._member_start}
        self.is_plain = isinstance(self._decoder, Plain)
        self._buffer += self._ahead
        self.fault = self._later
        self._ended = self.fault is not None
        self._ahead, self._later, self._is_open = b"", None, False
        return True

    def read(self, count: int) -> bytes:
        """Up to `count` bytes; fewer only at the end of the part."""
        while len(self._buffer) - self._taken < count and self._more():
            pass
        with memoryview(self._buffer) as view:
            data = bytes(view[self._taken : self._taken + count])
        self._taken += len(data)
        return data

    def skip(self, count: int) -> int:
        """Pass over up to `count` bytes without holding them; how many there were."""
        left = count
        while left and (self._taken < len(self._buffer) or self._more()):
            step = min(left, len(self._buffer) - self._taken)
            self._taken += step
            left -= step
        return count - left

    def peek(self, count: int) -> bytes:
        """The next bytes, up to `count`, without taking them."""
        while len(self._buffer) - self._taken < count and self._more():
            pass
        return bytes(self._buffer[self._taken : self._taken + count])

    def skip_blank(self) -> None:
        """Pass over the ends of lines."""
        while (blank := self.peek(4)) and blank[0] in b"\r\n":
            self._taken += len(blank) - len(blank.lstrip(b"\r\n"))

    def at_start(self) -> bool:
        """Whether a record starts here."""
        while len(self._buffer) - self._taken < START_BYTES and self._more():
            pass
        found = self._starts.match(self._buffer, self._taken) is not None
        self.found_start |= found
        return found

    def read_until(self, terminators: tuple[bytes, ...], most: int) -> bytes | None:
        """Bytes up to and with the first terminator, or None if there is none in `most` bytes."""
        looked = 0
        while True:
            data = self.peek(looked + START_BYTES)[:most]
            found = [place + len(t) for t in terminators if (place := data.find(t)) >= 0]
            if found:
                return self.read(min(found))
            if len(data) == most or len(data) < looked + START_BYTES:
                return None
            looked = len(data)

    def seek_start(self, after: int) -> int:
        """Go to the next start of a record from position `after` on, if need be backwards.

        Gives its position, or that of the end of the part. It may open the next part.
        """
        place = max(after, self._base) - self._base
        if self.is_plain:
            data = bytes(self._buffer[place:]) + self._input
            start = self._base + place
            del self._buffer[place:]
            self._taken = place
            self._ended, self._decoder = True, None
            return self._resync(data, start)
        while True:
            match = self._line_starts.search(self._buffer, place)
            if match:
                self._taken = match.start()
                self.found_start = True
                return self.position
            self._taken = len(self._buffer)
            start = max(self._base + place, self.position - START_BYTES)
            if not self._more():
                return self.position
            place = start - self._base

    def go_to(self, offset: int) -> int:
        """Leave the part for the next start of a record or of a member with one, from `offset` on.

        The first part must have been opened, and the stream must seek. Gives the offset of what
        was found, or that of the end of the file.
        """
        self._raw.seek(offset)
        self._buffer.clear()
        self._taken = 0
        self._decoder, self._is_open, self._ended = None, False, True
        self._ahead, self._later, self.fault = b"", None, None
        return self._resync(b"", offset)

    def recover(self) -> int:
        """After a fault, go to the next member; its offset, or that of the end of the file."""
        data = b"".join(self._kept)
        offset = self._input_start - len(data)
        skipped = 1 if offset == self._member_start else 0
        return self._resync((data + self._input)[skipped:], offset + skipped)

    def _resync(self, data: bytes, offset: int) -> int:
        """Look for a record or a member that starts with one in `data`, then in what follows."""
        place = 0
        while (found := self._find(data, place)) is None:
            block = self._raw.read(BLOCK_BYTES)
            if not block:
                found = len(data)
                break
            tail = data[-START_BYTES:]  # a start that two blocks share
            offset += len(data) - len(tail)
            data = tail + block
            place = 1 if len(tail) == START_BYTES else 0
        self._input, self._input_start = data[found:], offset + found
        return self._input_start

    def _find(self, data: bytes, place: int) -> int | None:
        line = self._line_starts.search(data, place)
        end = line.start() if line else len(data)
        for magic in _MEMBER.finditer(data, place, end):
            start = data[magic.start() : magic.start() + START_BYTES]
            try:
                opened = decoder(start, self._dictionary).decompress(start, START_BYTES)
            except DECODING_ERRORS:
                continue
            if self._starts.match(opened):
                return magic.start()
        return end if line else None
