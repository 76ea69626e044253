"""Read the pages of Wikipedia XML dumps: plain, gzip, bz2 or zstd, whole or by streams.

Memory stays flat for any input: see the limits below, each of which costs a page or the rest of
the file and is reported as a BadArticle.
"""

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, BinaryIO, NamedTuple, cast
from xml.parsers import expat

from wikisum.crawl.errors import BadArticle, BadLine
from wikisum.crawl.wikipedia.compressed import (
    BLOCK_BYTES,
    DecompressedFile,
    StreamReader,
    compression_of,
)
from wikisum.crawl.wikipedia.site import Site, site_of

MAX_ARTICLE_CHARS = 10_000_000
MAX_TAG_BYTES = 1 << 20  # of a tag or comment, which expat holds whole
MAX_DEPTH = 100
MAX_INDEX_LINE_BYTES = 1 << 12
MAX_HEAD_BYTES = 1 << 16
_FIELDS = frozenset(("title", "ns", "text", "namespace"))
_NAMESPACE = re.compile(r"-?[0-9]{1,9}")
_OFFSET = re.compile(rb"[0-9]{1,18}")
_PAGE_END = b"</page>"
_HELD_BYTES = 64  # held back from the parser: room for the closing tag of the dump
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


def open_dump(raw: BinaryIO) -> BinaryIO:
    """Open the XML of a dump that is bz2 (one stream or many), gzip, zstd or plain.

    A damaged or cut file ends early; `read_pages` then reports it.
    """
    head = raw.read(BLOCK_BYTES)
    kind = compression_of(head)
    if kind is None:
        return cast(BinaryIO, _Plain(raw, head))
    return cast(BinaryIO, DecompressedFile(raw, head, kind))


class _Plain(io.RawIOBase):
    """A file whose first bytes were read already."""

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
    """Expat handlers that collect pages; a dump that declares entities is refused.

    `is_over` is True in the middle of a page whose text exceeds the limit. The page was reported
    by then, and the caller must skip to its end and `restart` there.
    """

    def __init__(self, stream_offset: int | None) -> None:
        self._stream_offset = stream_offset
        self._offset = 0  # of the current page
        self._root = ""
        self.pages: list[Page | BadArticle] = []
        self.has_root = False
        self.language: str | None = None
        self.namespaces: dict[int, str] = {}
        self._namespace_key = ""
        self._begin(0)

    def _begin(self, start: int) -> None:
        """Set up a parser for XML that begins at byte `start` of the dump."""
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._text
        self._parser.EntityDeclHandler = self._entity
        self._start_byte = start
        self._path: list[str] = []
        self._kept: list[str] = []
        self._kept_chars = 0
        self._fields: dict[str, str] = {}
        self.is_over = False

    def restart(self, start: int) -> None:
        """Go on behind the end of a page, at byte `start`, as if the dump began there."""
        root = f"<{self._root}>".encode()
        self._begin(start - len(root))
        self.feed(root)

    @property
    def byte_offset(self) -> int:
        return self._start_byte + self._parser.CurrentByteIndex

    def feed(self, data: bytes, last: bool = False) -> None:
        """Raises ExpatError or BadArticle."""
        self._parser.Parse(data, last)

    def _entity(self, *_: object) -> None:
        raise BadArticle("bad_xml", "declares an entity", self.byte_offset)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._path:
            self._root, self.has_root = name, name in ("mediawiki", "fragment")
            self.language = self.language or attributes.get("xml:lang")
            if not self.has_root:
                raise BadArticle("not_a_dump", f"its first element is <{name[:100]}>", 0)
        if len(self._path) == MAX_DEPTH:
            raise BadArticle("bad_xml", f"nested over {MAX_DEPTH} deep", self.byte_offset)
        self._path.append(name)
        self._kept, self._kept_chars = [], 0
        if name == "page":
            self._fields = {}
            self._offset = self.byte_offset
        elif name == "redirect":
            self._fields["redirect"] = attributes.get("title", "")
        elif name == "namespace":
            self._namespace_key = attributes.get("key", "")

    def _text(self, text: str) -> None:
        if self.is_over or not self._path or self._path[-1] not in _FIELDS:
            return
        self._kept_chars += len(text)
        if self._kept_chars <= MAX_ARTICLE_CHARS:
            self._kept.append(text)
            return
        self._kept, self.is_over = [], True
        detail = f"{self._fields.get('title', '')[:500]}: over {MAX_ARTICLE_CHARS} characters"
        self.pages.append(BadArticle("article_too_large", detail, self._page_offset()))

    def _end(self, name: str) -> None:
        self._path.pop()
        if name in _FIELDS:
            self._fields[name] = "".join(self._kept)
            self._kept = []
            if name == "namespace" and _NAMESPACE.fullmatch(self._namespace_key):
                self.namespaces[int(self._namespace_key)] = self._fields[name]
        elif name == "page":
            if not self.is_over:
                self.pages.append(self._page())
            self.is_over = False

    def _page_offset(self) -> int:
        return self._offset if self._stream_offset is None else self._stream_offset

    def _page(self) -> Page | BadArticle:
        offset = self._page_offset()
        title, namespace = self._fields.get("title", ""), self._fields.get("ns", "0").strip()
        if not title.strip() or not _NAMESPACE.fullmatch(namespace):
            detail = f"page without a title or namespace: {title[:500]!r}"
            return BadArticle("bad_page", detail, offset)
        text = self._fields.get("text", "")
        return Page(title, int(namespace), self._fields.get("redirect"), text, offset)


def read_pages(xml: BinaryIO) -> Iterator[Page | BadArticle]:
    """Yield the pages of a dump (as `open_dump` opens it) in order; a fault is the last item.

    Faults of a page, which cost that page: `bad_page`, `article_too_large`. Faults of the file:
    `empty_file`, `not_a_dump`, `bad_xml`, `truncated_file`. Raises nothing but OSError.
    """
    parser = _PageParser(None)
    yield from _parse(parser, iter(lambda: xml.read(BLOCK_BYTES), b""), lambda: _fault_of(xml))


def _fault_of(xml: BinaryIO) -> str | None:
    return cast("str | None", getattr(xml, "fault", None))


def _parse(
    parser: _PageParser, blocks: Iterator[bytes], fault: Callable[[], str | None]
) -> Iterator[Page | BadArticle]:
    size = 0
    failure: BadArticle | None = None
    last = b""
    try:
        for block in blocks:
            size += len(block)
            if parser.is_over:
                # Expat would take seconds per gigabyte. The text cannot hold the tag unescaped.
                block = last[1 - len(_PAGE_END) :] + block
                last = block
                end = block.find(_PAGE_END)
                if end < 0:
                    continue
                block = block[end + len(_PAGE_END) :]
                parser.restart(size - len(block))
            last = block
            parser.feed(_FORBIDDEN.sub(b" ", block))
            yield from parser.pages
            parser.pages.clear()
            if not parser.is_over and size - parser.byte_offset > MAX_TAG_BYTES:
                at = parser.byte_offset
                raise BadArticle("bad_xml", f"a tag of over {MAX_TAG_BYTES} bytes, at {at}", at)
        if size == 0 and not fault():
            failure = BadArticle("empty_file", "the file is empty", 0)
        elif fault() is None:
            parser.feed(b"", last=True)
    except BadArticle as error:
        failure = error
    except expat.ExpatError as error:
        failure = _syntax_fault(parser, error, size)
    yield from parser.pages
    parser.pages.clear()
    if fault() is not None:
        failure = BadArticle("truncated_file", f"{fault()}, after {size} bytes of XML", size)
    if failure is not None:
        yield failure


def _syntax_fault(parser: _PageParser, error: expat.ExpatError, size: int) -> BadArticle:
    """Return what a syntax error means for a dump of which `size` bytes were read."""
    at = parser.byte_offset
    if error.code in (3, 5) or at >= size:  # no element, unclosed token: it just ends
        return BadArticle("truncated_file", f"the XML ends early, at byte {size}", size)
    if not parser.has_root:
        return BadArticle("not_a_dump", f"not an XML dump: {error}", at)
    return BadArticle("bad_xml", f"{error}, at byte {at} of the XML", at)


def read_streams(raw: BinaryIO, start: int, end: int | None) -> Iterator[Page | BadArticle]:
    """Yield the pages of the bz2 streams that begin in bytes [start, end) of a multistream dump.

    Each stream is parsed by itself, so that a damaged one costs its own pages alone.
    """
    raw.seek(start)
    offset = start
    rest = b""
    while end is None or offset < end:
        stream = StreamReader(raw, "bz2", rest)
        blocks = stream.blocks()
        yield from _stream_pages(stream, blocks, offset)
        for _ in blocks:  # where the XML was bad
            pass
        if stream.fault is not None:
            following = next_stream(raw, offset + 1)
            if following is None:
                return
            offset, rest = following, b""
            raw.seek(offset)
        elif stream.size == 0:
            return
        else:
            offset, rest = offset + stream.size, stream.rest


def _stream_pages(
    stream: StreamReader, blocks: Iterator[bytes], offset: int
) -> Iterator[Page | BadArticle]:
    """The pages of one stream: the head with the site's data, some pages, or the closing tag."""

    def fault() -> str | None:
        return f"the bz2 stream at byte {offset} {stream.fault}" if stream.fault else None

    xml = _as_document(stream, blocks)
    first = next(xml, None)
    if first is None:
        if detail := fault():
            yield BadArticle("truncated_file", detail, offset)
        return
    for page in _parse(_PageParser(offset), chain([first], xml), fault):
        if isinstance(page, BadArticle):
            page.offset = offset
        yield page


def _as_document(stream: StreamReader, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The XML from the first page on, in a root element of its own; nothing without a page.

    The closing tag of the dump, which may follow the last page, is left out. So the end of what
    was read is held back until it is known whether the stream ends there.
    """
    held = b""
    for block in blocks:
        held += block
        begin = held.find(b"<page>")
        if begin >= 0:
            held = b"<fragment>" + held[begin:]
            break
        held = held[-len(b"<page") :]
    else:
        return
    for block in chain([b""], blocks):
        held += block
        yield held[:-_HELD_BYTES]
        held = held[-_HELD_BYTES:]
    if stream.fault is not None:
        yield held
    else:
        yield held.rstrip().removesuffix(b"</mediawiki>") + b"</fragment>"


def next_stream(raw: BinaryIO, start: int) -> int | None:
    """Return the offset of the next stream of a bz2 file at or after `start`, or None."""
    raw.seek(start)
    for offset in _stream_starts(raw, start):
        return offset
    return None


def index_offsets(index: BinaryIO) -> list[int]:
    """Return the distinct offsets of a multistream index (`offset:id:title` lines), in order.

    Raises BadLine naming the first malformed line, or the damage of a compressed index.
    """
    offsets: list[int] = []
    opened = open_dump(index)
    reader = io.BufferedReader(cast(io.RawIOBase, opened))
    for number, line in enumerate(iter(lambda: reader.readline(MAX_INDEX_LINE_BYTES), b""), 1):
        offset = line.partition(b":")[0]
        if not _OFFSET.fullmatch(offset) or line.count(b":") < 2:
            raise BadLine("bad_line", f"line {number} of the index is not offset:id:title")
        if not offsets or int(offset) != offsets[-1]:
            offsets.append(int(offset))
    if fault := _fault_of(opened):
        raise BadLine("bad_line", fault)
    return sorted(set(offsets))


def bz2_stream_offsets(raw: BinaryIO) -> list[int]:
    """Return the offsets of a bz2 file's streams, found by their magic number."""
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


def dump_site(xml: BinaryIO) -> Site | None:
    """Return the site that the head of a dump declares, or None without a language.

    The head is the root element, with the language, and `siteinfo`, with the namespaces.
    """
    parser = _PageParser(None)
    head = b""
    while len(head) < MAX_HEAD_BYTES and b"<page" not in head and (block := xml.read(4096)):
        head += block
    with contextlib.suppress(expat.ExpatError, BadArticle):
        parser.feed(head.partition(b"<page")[0])
    return site_of(parser.language, parser.namespaces) if parser.language else None
