"""Parse HTTP responses as crawls store them, and undo the encodings of their bodies."""

import re
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import brotli
import zstandard

from wikisum.crawl.errors import BadRecord

_STATUS = re.compile(rb"\s*HTTP(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.\-]+)", re.IGNORECASE)
_MIME_END = re.compile(r"[;,\s]")
_LISTS = frozenset(("content-encoding", "transfer-encoding"))
_HTML_TYPES = frozenset(("text/html", "application/xhtml+xml"))
_UNKNOWN_TYPES = frozenset(
    ("", "application/octet-stream", "application/unknown", "unk", "no-type")
)
_BINARY_MAGIC = re.compile(
    rb"\s*%PDF-|\x89PNG|GIF8[79]a|\xff\xd8\xff|PK\x03\x04|Rar!\x1a|7z\xbc\xaf|\x1f\x8b|\xd0\xcf\x11\xe0"
    rb"|RIFF....WEBP|OggS\0|ID3[\x02-\x04]|\x00\x00\x00.ftyp|\x00\x01\x00\x00",
    re.DOTALL,
)
_BINARY_BYTE = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")
# What browsers take for HTML when the server sends no type (WHATWG MIME Sniffing).
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--|<(?:!doctype html|html|head|script|iframe|h1"
    rb"|div|font|table|a|style|title|b|body|br|p)[\s>])",
    re.IGNORECASE,
)
_SNIFFED_BYTES = 1445
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,256})?\r?\n")
_READ_BYTES = 1 << 18
MAX_HEADER_BYTES = 1 << 18  # as much as browsers accept
MAX_GZIP_MEMBERS = 1000
MAX_ENCODINGS = 5
_MAX_ZSTD_WINDOW = 8 << 20  # RFC 9659


class Response(NamedTuple):
    """A parsed response; header names are in lower case, `body` is as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def parse_headers(lines: list[bytes]) -> dict[str, str]:
    """Return header lines as a dictionary, names in lower case, folded lines joined.

    Of repeated headers the last one counts, but all encodings are kept.
    """
    fields: list[tuple[str, list[str]]] = []
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        key, colon, value = text.partition(":")
        if text[:1] in (" ", "\t") and fields:
            fields[-1][1].append(text.strip())
        elif colon:
            fields.append((key.strip().lower(), [value]))
    headers: dict[str, str] = {}
    for name, parts in fields:
        value = " ".join(parts)
        if name in _LISTS and name in headers:
            value = f"{headers[name]},{value}"
        headers[name] = value.strip()
    return headers


def parse_response(data: bytes) -> Response:
    """Parse the response in the block of a record. Raises BadRecord (`bad_record`)."""
    match = _STATUS.match(data)
    if not match:
        raise BadRecord("bad_record", "no HTTP status line")
    ends = [p + len(end) for end in (b"\n\r\n", b"\n\n") if (p := data.find(end, match.end())) >= 0]
    body_start = min(ends, default=len(data))
    if body_start > MAX_HEADER_BYTES:
        raise BadRecord("bad_record", f"an HTTP header of over {MAX_HEADER_BYTES} bytes")
    headers = parse_headers(data[match.end() : body_start].split(b"\n")[1:])
    return Response(int(match[1]), headers, data[body_start:])


def content_type(value: str) -> tuple[str, str | None]:
    """Return (mime type in lower case, charset or None) of a Content-Type header.

    Parameters may follow without a semicolon, as in `text/html charset=utf-8`.
    """
    charset = _CHARSET.search(value)
    mime = _MIME_END.split(value.strip(), maxsplit=1)[0].lower()
    return mime, charset[1] if charset else None


def check_type(mime: str) -> None:
    """Raises BadRecord (`not_html`) for a type that pages do not have. Unknown types pass."""
    if mime not in _HTML_TYPES and mime != "text/plain" and mime not in _UNKNOWN_TYPES:
        raise BadRecord("not_html", mime[:100])


def page_kind(mime: str, body: bytes) -> tuple[str, str]:
    """Return (`html` or `text`, mime type), by the header or, where it is unknown, by the body.

    Raises BadRecord (`not_html`), also for a body that is plainly something else.
    """
    check_type(mime)
    if _BINARY_MAGIC.match(body):
        raise BadRecord("not_html", f"declared as {mime or 'unknown'}, but the body is binary")
    if mime in _UNKNOWN_TYPES:
        if _BINARY_BYTE.search(body, 0, _SNIFFED_BYTES):
            raise BadRecord("not_html", "no content type, and the body is binary")
        mime = "text/html" if _MARKUP.match(body) else "text/plain"
    return "html" if mime in _HTML_TYPES else "text", mime


def decode_body(headers: Mapping[str, str], body: bytes, max_bytes: int) -> bytes:
    """Return the body without chunks and compression, as forgiving as browsers are.

    A body that is not encoded as its headers say is returned as it is if it looks like markup or
    text. Of a body that breaks off, the readable part is returned.
    Raises BadRecord: `page_too_large` (over `max_bytes`), `bad_encoding`.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunk(body)
    names = headers.get("content-encoding", "").lower().replace(" ", "").split(",")
    encodings = [name for name in names if name not in ("", "identity", "none")]
    if len(encodings) > MAX_ENCODINGS:
        raise BadRecord("bad_encoding", f"{len(encodings)} content encodings")
    for encoding in reversed(encodings):
        body = _limited(_decompress(encoding, body, max_bytes), max_bytes)
    return _limited(body, max_bytes)


def _limited(body: bytes, max_bytes: int) -> bytes:
    if len(body) > max_bytes:
        raise BadRecord("page_too_large", f"over {max_bytes} bytes")
    return body


def unchunk(body: bytes) -> bytes:
    """Join the chunks of a body. From the first malformed chunk on, the bytes stay as they are."""
    pieces: list[bytes] = []
    position = 0
    while match := _CHUNK.match(body, position):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(pieces)
        end = match.end() + size
        line_end = 2 if body.startswith(b"\r\n", end) else 1 if body.startswith(b"\n", end) else 0
        if not line_end and end < len(body):
            break
        pieces.append(body[match.end() : end])
        position = end + line_end
    return b"".join([*pieces, body[position:]])


def _inflate(body: bytes, max_bytes: int, window_bits: int) -> bytes:
    """All members of a gzip or zlib body."""
    out = bytearray()
    for _ in range(MAX_GZIP_MEMBERS):
        decoder = zlib.decompressobj(window_bits)
        out += decoder.decompress(body, max_bytes - len(out))
        body = decoder.unused_data
        if not body.startswith(b"\x1f\x8b") or len(out) >= max_bytes:
            return bytes(out)
    # Each member costs a copy of the rest, so that many small ones would take minutes.
    raise BadRecord("bad_encoding", f"over {MAX_GZIP_MEMBERS} gzip members")


def _unbrotli(body: bytes, max_bytes: int) -> bytes:
    decoder = brotli.Decompressor()
    out: bytes = decoder.process(body, output_buffer_limit=max_bytes)
    while len(out) < max_bytes and not decoder.can_accept_more_data():
        out += decoder.process(b"", output_buffer_limit=max_bytes - len(out))
    return out


def _unzstd(body: bytes, max_bytes: int) -> bytes:
    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
    reader = decoder.stream_reader(body, read_across_frames=True)
    out = bytearray()
    while len(out) < max_bytes and (data := reader.read(_READ_BYTES)):
        out += data
    return bytes(out)


def _decompress(encoding: str, body: bytes, max_bytes: int) -> bytes:
    """At most just over `max_bytes` bytes. Raises BadRecord (`bad_encoding`)."""
    tries: list[Callable[[], bytes]] = []
    if encoding in ("gzip", "x-gzip", "deflate"):
        tries.append(lambda: _inflate(body, max_bytes + 1, 47))  # gzip or zlib, whatever it says
    if encoding == "deflate":
        tries.append(lambda: _inflate(body, max_bytes + 1, -15))
    elif encoding == "br":
        tries.append(lambda: _unbrotli(body, max_bytes + 1))
    elif encoding == "zstd":
        tries.append(lambda: _unzstd(body, max_bytes + 1))
    for attempt in tries:
        try:
            data = attempt()
        except (zlib.error, brotli.error, zstandard.ZstdError):
            continue
        if data or not body:
            return data
    if _MARKUP.match(body) or not _BINARY_BYTE.search(body, 0, _SNIFFED_BYTES):
        return body
    raise BadRecord("bad_encoding", f"the body is not {encoding[:20]}")
