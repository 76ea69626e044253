"""A file of compressed members (gzip or zstd), or a plain file, as bytes with known offsets."""

import re
import zlib
from typing import Any, BinaryIO

import zstandard

BLOCK_BYTES = 1 << 16
MAX_KEPT_BYTES = 8 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18", re.DOTALL)
_DICTIONARY = b"\x5d\x2a\x4d\x18"


class Damaged(Exception):
    """The member cannot be decompressed any further."""


class MemberReader:
    """Reads member after member of a stream that need not seek.

    `start` is the offset in the file of the current member; `end` of what follows it, once it has
    been read to its end. A plain file is one member. What was read of the current member stays
    within reach (up to 8 MiB), so that after damage the next sound member can be found.
    """

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._input = raw.read(BLOCK_BYTES)
        self._input_start = 0  # offset of the first byte of _input
        self._kept = b""
        self._kept_start = 0
        self._dictionary: Any = None
        self._decoder: Any = None
        self._buffer = bytearray()
        self._at_end = True
        self.kind = "plain"
        if self._input.startswith(_GZIP):
            self.kind = "gzip"
        elif self._input.startswith(_ZSTD) or _SKIPPABLE.match(self._input):
            self.kind = "zstd"
        self.start = 0
        self.end = 0
        self.position = 0  # decompressed bytes taken out of the current member

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing (more) to read."""
        return not self._input and not self._fill()

    def _fill(self) -> bool:
        block = self._raw.read(BLOCK_BYTES)
        self._input += block
        return bool(block)

    def _drop(self, count: int) -> None:
        self._input = self._input[count:]
        self._input_start += count

    def next_member(self) -> bool:
        """Go to the next member; False at the end of the file. Raises Damaged."""
        self._buffer.clear()
        self.position = 0
        while True:
            if self.is_empty:
                return False
            if self.kind == "plain":
                break
            if self._input[0] == 0:  # some writers pad with zeros
                self._drop(len(self._input) - len(self._input.lstrip(b"\0")))
                continue
            while len(self._input) < 8 and self._fill():
                pass
            if self.kind == "zstd" and _SKIPPABLE.match(self._input):
                self._skip_frame()
                continue
            break
        self.start = self._input_start
        self._kept, self._kept_start = b"", self.start
        self._at_end = False
        self._decoder = self._new_decoder()
        return True

    def _skip_frame(self) -> None:
        """Pass over a zstd frame without data; it may hold the dictionary of the file."""
        is_dictionary = self._input.startswith(_DICTIONARY)
        size = int.from_bytes(self._input[4:8], "little")
        if size > MAX_KEPT_BYTES:
            raise Damaged("a zstd frame to skip is too large")
        while len(self._input) < 8 + size and self._fill():
            pass
        if is_dictionary:
            data = self._input[8 : 8 + size]
            if data.startswith(_ZSTD):
                data = zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 26)
            self._dictionary = zstandard.ZstdCompressionDict(data)
        self._drop(min(len(self._input), 8 + size))

    def _new_decoder(self) -> Any:
        if self.kind == "gzip":
            return zlib.decompressobj(31)
        if self.kind == "zstd":
            return zstandard.ZstdDecompressor(dict_data=self._dictionary).decompressobj()
        return None

    def _more(self) -> bool:
        """Decompress one block more into the buffer; False at the member's end. Raises Damaged."""
        while not self._at_end:
            if not self._input and not self._fill():
                self._at_end = True
                self.end = self._input_start
                if self._decoder is not None:
                    raise Damaged("the file ends within a compressed record")
                return False
            block, self._input = self._input, b""
            self._input_start += len(block)
            if self._decoder is None:
                self._kept = (self._kept + block)[-2 * BLOCK_BYTES :]
                self._kept_start = self._input_start - len(self._kept)
                self._buffer += block
                return True
            self._kept += block
            if len(self._kept) > MAX_KEPT_BYTES:
                self._kept_start += len(self._kept) - MAX_KEPT_BYTES // 2
                self._kept = self._kept[-MAX_KEPT_BYTES // 2 :]
            try:
                data = self._decoder.decompress(block)
            except (zlib.error, zstandard.ZstdError) as error:
                self._at_end = True
                raise Damaged(str(error)) from error
            if self._decoder.eof:
                self._at_end = True
                self._input = self._decoder.unused_data
                self._input_start -= len(self._input)
                self.end = self._input_start
            self._buffer += data
            if data:
                return True
        return False

    def read(self, count: int) -> bytes:
        """Up to `count` bytes of the member; fewer only at its end. Raises Damaged."""
        while len(self._buffer) < count and self._more():
            pass
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        self.position += len(data)
        return data

    def skip(self, count: int) -> int:
        """Pass over up to `count` bytes, without holding them; how many there were."""
        left = count
        while left > 0:
            if not self._buffer and not self._more():
                break
            step = min(left, len(self._buffer))
            del self._buffer[:step]
            left -= step
        self.position += count - left
        return count - left

    def peek(self, count: int) -> bytes:
        """The next bytes, up to `count`, without taking them. Raises Damaged."""
        while len(self._buffer) < count and self._more():
            pass
        return bytes(self._buffer[:count])

    def head(self, terminators: tuple[bytes, ...], most: int) -> bytes | None:
        """Bytes up to and with the first terminator, or None if there is none in `most` bytes."""
        looked = 0
        while True:
            found = [
                (place, -len(t))
                for t in terminators
                if (place := self._buffer.find(t, max(0, looked - 4), most)) >= 0
            ]
            if found:
                place, length = min(found)
                return self.read(place - length)
            looked = len(self._buffer)
            if looked >= most or not self._more():
                return None

    def drain(self) -> None:
        """Read to the member's end, so that `end` is known. Raises Damaged."""
        while self.skip(1 << 30):
            pass

    def resync(self, after: int, starts: re.Pattern[bytes]) -> int:
        """After damage, go to just before the next member (or line) that `starts` matches.

        It begins after the offset `after`, so that there is always progress. Gives back its
        offset, or that of the end of the file.
        """
        data = self._kept + self._input
        offset = self._kept_start
        self._buffer.clear()
        self._at_end = True
        place = max(0, after + 1 - offset)
        while True:
            found = self._find(data, place, starts)
            if found is not None:
                self._input, self._input_start = data[found:], offset + found
                return offset + found
            block = self._raw.read(BLOCK_BYTES)
            if not block:
                self._input, self._input_start = b"", offset + len(data)
                return offset + len(data)
            keep = min(len(data), 1024)  # room for a start that two blocks share
            offset += len(data) - keep
            data = data[len(data) - keep :] + block
            place = max(0, after + 1 - offset)

    def _find(self, data: bytes, place: int, starts: re.Pattern[bytes]) -> int | None:
        if self.kind == "plain":
            match = starts.search(data, place)
            return match.start() if match else None
        magic = _GZIP + b"\x08" if self.kind == "gzip" else _ZSTD
        while (place := data.find(magic, place)) >= 0:
            try:
                text = self._new_decoder().decompress(data[place : place + 4096])
            except (zlib.error, zstandard.ZstdError):
                text = b""
            if starts.match(text):
                return place
            place += 1
        return None
