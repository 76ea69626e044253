"""Wikipedia XML dumps -> pages: plain, gzip, bz2 or zstd, whole or by streams, with flat memory."""

import bz2
import io
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, cast
from xml.parsers import expat

import zstandard

from wikisum.crawl.errors import BadArticle, BadLine

MAX_ARTICLE_CHARS = 10_000_000
_BLOCK_BYTES = 1 << 18
_BZ2_STREAM = re.compile(rb"BZh[1-9]\x31\x41\x59\x26\x53\x59")
_FORBIDDEN = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


class Page(NamedTuple):
    """One page of a dump; `text` is wiki markup, `redirect` the title it leads to.

    `offset` is that of the page's bz2 stream in a range of a multistream dump, else that of its
    `<page>` element in the decompressed XML.
    """

    title: str
    namespace: int
    redirect: str | None
    text: str
    offset: int


class _Decompressed(io.RawIOBase):
    """What a chain of compressed streams holds; a fault is kept until all before it is read."""

    def __init__(self, raw: BinaryIO, head: bytes, kind: str) -> None:
        self._raw = raw
        self._input = head
        self._kind = kind
        self._decoder = self._new_decoder()
        self._buffer = b""
        self._started = False
        self.fault: str | None = None

    def _new_decoder(self) -> Any:
        if self._kind == "bz2":
            return bz2.BZ2Decompressor()
        if self._kind == "gzip":
            return zlib.decompressobj(31)
        return zstandard.ZstdDecompressor().decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        while not self._buffer and self.fault is None and self._step():
            pass
        data, self._buffer = self._buffer[: len(target)], self._buffer[len(target) :]
        target[: len(data)] = data
        return len(data)

    def _step(self) -> bool:
        """Decompress one block; False at the end."""
        if not self._input:
            self._input = self._raw.read(_BLOCK_BYTES)
            if not self._input:
                if self._started and not self._decoder.eof:
                    self.fault = "the compressed file ends early"
                return False
        try:
            self._buffer = self._decoder.decompress(self._input)
            self._started = True
            self._input = b""
            if self._decoder.eof:
                self._input = self._decoder.unused_data
                self._decoder, self._started = self._new_decoder(), False
        except (OSError, EOFError, ValueError, zlib.error, zstandard.ZstdError) as error:
            self.fault = f"the compressed file is damaged: {error}"
        return True


def open_dump(raw: BinaryIO) -> BinaryIO:
    """The XML of a dump, by its first bytes: bz2 (one stream or many), gzip, zstd or plain.

    A damaged or cut file ends early; `read_pages` then tells.
    """
    head = raw.read(_BLOCK_BYTES)
    kinds = {b"BZh": "bz2", b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
    for magic, kind in kinds.items():
        if head.startswith(magic):
            return cast(BinaryIO, _Decompressed(raw, head, kind))
    return cast(BinaryIO, _Plain(raw, head))


class _Plain(io.RawIOBase):
    """The head that was read, then the rest."""

    def __init__(self, raw: BinaryIO, head: bytes) -> None:
        self._raw = raw
        self._head = head

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        data = self._head[: len(target)] or self._raw.read(len(target))
        self._head = self._head[len(target) :]
        target[: len(data)] = data
        return len(data)


class _PageParser:
    """Expat handlers that collect pages; entities of a dump's own making are refused."""

    def __init__(self, offset: int | None) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._stream_offset = offset
        self._path: list[str] = []
        self._kept: list[str] = []
        self._kept_chars = 0
        self._fields: dict[str, str] = {}
        self._offset = 0
        self.pages: list[Page | BadArticle] = []
        self.has_root = False
        self.language: str | None = None

    @property
    def byte_offset(self) -> int:
        return self._parser.CurrentByteIndex

    def feed(self, data: bytes, last: bool = False) -> None:
        self._parser.Parse(data, last)

    def _entity(self, *_: object) -> None:
        raise BadArticle("bad_xml", "declares an entity", self.byte_offset)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path:
            self.has_root = name in ("mediawiki", "fragment")
            self.language = attributes.get("xml:lang")
            if not self.has_root:
                raise BadArticle("not_a_dump", f"its first element is <{name}>", 0)
        self._path.append(name)
        self._kept, self._kept_chars = [], 0
        if name == "page":
            self._fields = {}
            self._offset = self.byte_offset
        elif name == "redirect":
            self._fields["redirect"] = attributes.get("title", "")

    def _text(self, text: str) -> None:
        if self._path[-1:] and self._path[-1] in ("title", "ns", "text"):
            self._kept_chars += len(text)
            if self._kept_chars <= MAX_ARTICLE_CHARS:
                self._kept.append(text)

    def _end(self, name: str) -> None:
        self._path.pop()
        if name in ("title", "ns", "text"):
            self._fields[name] = "".join(self._kept)
            if self._kept_chars > MAX_ARTICLE_CHARS:
                self._fields["too_large"] = str(self._kept_chars)
            self._kept = []
        elif name == "page":
            self.pages.append(self._page())

    def _page(self) -> Page | BadArticle:
        offset = self._offset if self._stream_offset is None else self._stream_offset
        title, namespace = self._fields.get("title", ""), self._fields.get("ns", "0").strip()
        if not title.strip() or not namespace.lstrip("-").isdigit():
            return BadArticle("bad_page", f"page without a title or namespace: {title!r}", offset)
        if "too_large" in self._fields:
            detail = f"{title}: {self._fields['too_large']} characters"
            return BadArticle("article_too_large", detail, offset)
        text = self._fields.get("text", "")
        return Page(title, int(namespace), self._fields.get("redirect"), text, offset)


def read_pages(xml: BinaryIO) -> Iterator[Page | BadArticle]:
    """The pages of a dump (as `open_dump` gives it) in order; a fault is the last item.

    Faults: `empty_file`, `not_a_dump`, `bad_xml`, `truncated_file`. Nothing is raised but OSError.
    """
    parser = _PageParser(None)
    yield from _parse(parser, iter(lambda: xml.read(_BLOCK_BYTES), b""), lambda: _fault_of(xml))


def _fault_of(xml: BinaryIO) -> str | None:
    return cast("str | None", getattr(xml, "fault", None))


def _parse(
    parser: _PageParser, blocks: Iterator[bytes], fault: Callable[[], str | None]
) -> Iterator[Page | BadArticle]:
    size = 0
    failure: BadArticle | None = None
    try:
        for block in blocks:
            size += len(block)
            parser.feed(_FORBIDDEN.sub(b" ", block))
            yield from parser.pages
            parser.pages.clear()
        if size == 0 and not fault():
            failure = BadArticle("empty_file", "the file is empty", 0)
        elif fault() is None:
            parser.feed(b"", last=True)
    except BadArticle as error:
        failure = error
    except expat.ExpatError as error:
        at = parser.byte_offset
        if error.code in (3, 5) or at >= size:  # no element, unclosed token: it just ends
            failure = BadArticle("truncated_file", f"the XML ends early, at byte {size}", size)
        elif not parser.has_root:
            failure = BadArticle("not_a_dump", f"no XML dump: {error}", at)
        else:
            failure = BadArticle("bad_xml", f"{error}, at byte {at} of the XML", at)
    yield from parser.pages
    parser.pages.clear()
    if fault() is not None:
        failure = BadArticle("truncated_file", f"{fault()}, after {size} bytes of XML", size)
    if failure is not None:
        yield failure


def read_streams(raw: BinaryIO, start: int, end: int | None) -> Iterator[Page | BadArticle]:
    """The pages of the bz2 streams that begin in bytes [start, end) of a multistream dump.

    Each stream is parsed by itself, so that a damaged one costs its own pages alone.
    """
    raw.seek(start)
    offset = start
    carry = b""
    while end is None or offset < end:
        decoder = bz2.BZ2Decompressor()
        used = 0
        chunks: list[bytes] = []
        fault = None
        while not decoder.eof:
            data = carry or raw.read(_BLOCK_BYTES)
            carry = b""
            if not data:
                if used == 0 and not chunks:
                    return
                fault = f"the bz2 stream at byte {offset} ends early"
                break
            used += len(data)
            try:
                chunks.append(decoder.decompress(data))
            except (OSError, ValueError, EOFError) as error:
                fault = f"the bz2 stream at byte {offset} is damaged: {error}"
                break
        carry = decoder.unused_data if decoder.eof else b""
        yield from _fragment(b"".join(chunks), offset, fault)
        if fault is not None:
            skipped = next_stream(raw, offset + 1)
            if skipped is None:
                return
            offset, carry = skipped, b""
            raw.seek(offset)
        else:
            offset += used - len(carry)


def next_stream(raw: BinaryIO, start: int) -> int | None:
    """Where the next stream of a bz2 file begins, at or after `start`."""
    raw.seek(start)
    for offset in _stream_starts(raw, start):
        return offset
    return None


def _fragment(xml: bytes, offset: int, fault: str | None) -> Iterator[Page | BadArticle]:
    """The pages of one stream: the head with the site's data, some pages, or the closing tag."""
    begin = xml.find(b"<page>")
    if begin < 0:
        if fault:
            yield BadArticle("truncated_file", fault, offset)
        return
    body = xml[begin:]
    close = body.rfind(b"</page>")
    body = body[: close + len(b"</page>")] if close >= 0 else body
    parser = _PageParser(offset)
    blocks = iter([b"<fragment>", body, b"" if fault else b"</fragment>"])
    for page in _parse(parser, blocks, lambda: fault):
        if isinstance(page, BadArticle):
            page.offset = offset
        yield page


def index_offsets(index: BinaryIO) -> list[int]:
    """The distinct offsets of a multistream index (`offset:id:title` lines), in order.

    Raises BadLine naming the first line that is none.
    """
    offsets: list[int] = []
    for number, line in enumerate(io.BufferedReader(cast(io.RawIOBase, open_dump(index))), 1):
        offset = line.partition(b":")[0]
        if not offset.isdigit() or line.count(b":") < 2:
            raise BadLine("bad_line", f"line {number} of the index is no offset:id:title")
        if not offsets or int(offset) != offsets[-1]:
            offsets.append(int(offset))
    return sorted(set(offsets))


def bz2_stream_offsets(raw: BinaryIO) -> list[int]:
    """Where the streams of a bz2 file begin, found by their magic number at byte boundaries."""
    return list(_stream_starts(raw, 0))


def _stream_starts(raw: BinaryIO, offset: int) -> Iterator[int]:
    tail = b""
    while block := raw.read(1 << 20):
        data = tail + block
        for match in _BZ2_STREAM.finditer(data):
            yield offset - len(tail) + match.start()
        keep = min(len(data), 9)
        tail = data[len(data) - keep :]
        offset += len(block)


def dump_language(xml: BinaryIO) -> str | None:
    """The `xml:lang` of a dump's root, or None."""
    parser = _PageParser(None)
    try:
        parser.feed(xml.read(4096))
    except (expat.ExpatError, BadArticle):
        return None
    return parser.language
