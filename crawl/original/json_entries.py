"""Read the entries of a JSON object that is too large for memory, one at a time."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from wikisum.crawl.errors import BadLine

MAX_ENTRY_CHARS = 64 << 20
_BLOCK_BYTES = 1 << 20
_SPACE = re.compile(r"\s*")


class Entry(NamedTuple):
    """A key of the object and its value; `offset` is the byte offset of the key."""

    key: str
    value: Any
    offset: int


def json_entries(raw: BinaryIO) -> Iterator[Entry]:
    """Yield the entries of an object, or of several in a row, in order.

    Raises BadLine (`bad_json`) with a byte offset where the text is malformed or cut off, after
    the entries before it. Strings may hold lone surrogates, as in JSON.
    """
    text = _Text(raw)
    try:
        while text.peek():
            text.take("{")
            more = text.peek() != "}"
            while more:
                text.peek()
                offset = text.offset
                key = text.value()
                text.take(":")
                yield Entry(str(key), text.value(), offset)
                more = text.peek() == ","
                if more:
                    text.take(",")
            text.take("}")
    except (ValueError, RecursionError) as error:
        detail = f"{error} (the text ends or is malformed after byte {text.offset})"
        raise BadLine("bad_json", detail, text.offset) from error


class _Text:
    """The text of a file, read in blocks; `offset` is the number of bytes taken so far."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._utf8 = codecs.getincrementaldecoder("utf-8")()
        self._parse = json.JSONDecoder().raw_decode
        self._text = ""
        self._place = 0
        self._ended = False
        self.offset = 0

    def _more(self) -> bool:
        """Read on; False at the end of the file."""
        if self._ended:
            return False
        block = self._raw.read(_BLOCK_BYTES)
        self._ended = not block
        self._text = self._text[self._place :] + self._utf8.decode(block, final=self._ended)
        self._place = 0
        return True

    def _advance(self, place: int) -> None:
        self.offset += len(self._text[self._place : place].encode())
        self._place = place

    def peek(self) -> str:
        """Return the next character that is not a space; '' at the end."""
        while True:
            found = _SPACE.match(self._text, self._place)
            self._advance(found.end() if found else self._place)
            if self._place < len(self._text) or not self._more():
                return self._text[self._place : self._place + 1]

    def take(self, character: str) -> None:
        """Take the next character. Raises ValueError if it is a different one."""
        found = self.peek()
        if found != character:
            raise ValueError(f"{character} expected, not {found or 'the end'}")
        self._advance(self._place + 1)

    def value(self) -> Any:
        """Take the next value. Raises ValueError if it is malformed."""
        self.peek()
        while True:
            try:
                value, end = self._parse(self._text, self._place)
            except ValueError as error:
                if len(self._text) - self._place > MAX_ENTRY_CHARS or not self._more():
                    raise ValueError(f"not JSON: {error}") from error
                continue
            if end < len(self._text) or not self._more():  # a number may continue
                self._advance(end)
                return value
