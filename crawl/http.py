"""HTTP responses as crawls keep them: status, headers, and the body with its encodings undone."""

import re
import zlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import brotli
import zstandard

from wikisum.crawl.errors import BadRecord

_STATUS = re.compile(rb"\s*HTTP(?:/[\d.]+)?[ \t]+(\d{3})(?!\d)", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.\-]+)", re.IGNORECASE)
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
# What browsers take for HTML when the server does not say (WHATWG MIME Sniffing).
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--|<(?:!doctype html|html|head|script|iframe|h1"
    rb"|div|font|table|a|style|title|b|body|br|p)[\s>])",
    re.IGNORECASE,
)
_SNIFFED_BYTES = 1445
_CHUNK = re.compile(rb"[ \t]*([0-9a-fA-F]{1,8})[ \t]*(?:;[^\r\n]{0,256})?\r?\n")
_READ_BYTES = 1 << 18
_MAX_ZSTD_WINDOW = 8 << 20  # RFC 9659


class Response(NamedTuple):
    """A response taken apart; header names are in lower case, `body` is as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def parse_headers(lines: list[bytes]) -> dict[str, str]:
    """Header lines as a dictionary, names in lower case, folded lines joined.

    Of repeated headers the last counts, but encodings are all kept.
    """
    headers: dict[str, str] = {}
    name = ""
    for line in lines:
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if text[:1] in (" ", "\t") and name:
            headers[name] += " " + text.strip()
            continue
        key, colon, value = text.partition(":")
        if colon:
            name = key.strip().lower()
            if name in _LISTS and name in headers:
                value = f"{headers[name]},{value}"
            headers[name] = value.strip()
    return headers


def parse_response(data: bytes) -> Response:
    """The response in the block of a record. Raises BadRecord (`bad_record`)."""
    match = _STATUS.match(data)
    if not match:
        raise BadRecord("bad_record", "no HTTP status line")
    ends = [p + len(end) for end in (b"\n\r\n", b"\n\n") if (p := data.find(end, match.end())) >= 0]
    place = min(ends, default=len(data))
    headers = parse_headers(data[match.end() : place].split(b"\n")[1:])
    return Response(int(match[1]), headers, data[place:])


def content_type(value: str) -> tuple[str, str | None]:
    """(mime type in lower case, charset or None) of a Content-Type header."""
    charset = _CHARSET.search(value)
    return value.split(";")[0].strip().lower(), charset[1] if charset else None


def check_type(mime: str) -> None:
    """Raises BadRecord (`not_html`) for a type that no page has; an unknown one may be a page."""
    if mime not in _HTML_TYPES and mime != "text/plain" and mime not in _UNKNOWN_TYPES:
        raise BadRecord("not_html", mime[:100])


def page_kind(mime: str, body: bytes) -> tuple[str, str]:
    """(`html` or `text`, mime type): by header, or by the body where there is none.

    Raises BadRecord (`not_html`), also for a body that is plainly something else.
    """
    check_type(mime)
    if _BINARY_MAGIC.match(body):
        raise BadRecord("not_html", f"says {mime or 'nothing'}, but the body is binary")
    if mime in _UNKNOWN_TYPES:
        if _BINARY_BYTE.search(body, 0, _SNIFFED_BYTES):
            raise BadRecord("not_html", "no content type, and the body is binary")
        mime = "text/html" if _MARKUP.match(body) else "text/plain"
    return "html" if mime in _HTML_TYPES else "text", mime


def decode_body(headers: Mapping[str, str], body: bytes, most: int) -> bytes:
    """The body without chunks and compression, forgiving as browsers are.

    A body that is not coded as its headers say is taken as it is if it looks like markup or text,
    and what can be read of one that breaks off is taken too.
    Raises BadRecord: `page_too_large` (over `most` bytes), `bad_encoding`.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = unchunk(body)
    encodings = headers.get("content-encoding", "").lower().replace(" ", "").split(",")
    for encoding in reversed([e for e in encodings if e not in ("", "identity", "none")]):
        body = _limited(_decompress(encoding, body, most), most)
    return _limited(body, most)


def _limited(body: bytes, most: int) -> bytes:
    if len(body) > most:
        raise BadRecord("page_too_large", f"over {most} bytes")
    return body


def unchunk(body: bytes) -> bytes:
    """The chunks joined; from where there are none on, the body as it is."""
    pieces: list[bytes] = []
    place = 0
    while match := _CHUNK.match(body, place):
        size = int(match[1], 16)
        if size == 0:
            return b"".join(pieces)
        end = match.end() + size
        line_end = 2 if body.startswith(b"\r\n", end) else 1 if body.startswith(b"\n", end) else 0
        if not line_end and end < len(body):
            break
        pieces.append(body[match.end() : end])
        place = end + line_end
    return b"".join([*pieces, body[place:]])


def _inflate(body: bytes, most: int, window_bits: int) -> bytes:
    """All members of a gzip or zlib body."""
    out = b""
    while body and len(out) < most:
        decoder = zlib.decompressobj(window_bits)
        out += decoder.decompress(body, most - len(out))
        body = decoder.unused_data if decoder.unused_data.startswith(b"\x1f\x8b") else b""
    return out


def _unbrotli(body: bytes, most: int) -> bytes:
    decoder = brotli.Decompressor()
    out: bytes = decoder.process(body, output_buffer_limit=most)
    while len(out) < most and not decoder.can_accept_more_data():
        out += decoder.process(b"", output_buffer_limit=most - len(out))
    return out


def _unzstd(body: bytes, most: int) -> bytes:
    decoder = zstandard.ZstdDecompressor(max_window_size=_MAX_ZSTD_WINDOW)
    reader = decoder.stream_reader(body, read_across_frames=True)
    out = bytearray()
    while len(out) < most and (data := reader.read(_READ_BYTES)):
        out += data
    return bytes(out)


def _decompress(encoding: str, body: bytes, most: int) -> bytes:
    """At most just over `most` bytes. Raises BadRecord (`bad_encoding`)."""
    tries: list[Callable[[], bytes]] = []
    if encoding in ("gzip", "x-gzip", "deflate"):
        tries.append(lambda: _inflate(body, most + 1, 47))  # gzip or zlib, whatever it says
    if encoding == "deflate":
        tries.append(lambda: _inflate(body, most + 1, -15))
    elif encoding == "br":
        tries.append(lambda: _unbrotli(body, most + 1))
    elif encoding == "zstd":
        tries.append(lambda: _unzstd(body, most + 1))
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
