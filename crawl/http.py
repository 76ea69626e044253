"""HTTP responses as crawls keep them: status, headers, and the body with its encodings undone."""

import io
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import brotli
import zstandard
from warcio.bufferedreaders import ChunkedDataReader

from crawl.errors import BadRecord

_STATUS = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([\w:.\-]+)", re.IGNORECASE)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_TEXT_TYPES = ("text/plain",)
_BINARY_MAGIC = re.compile(
    rb"%PDF-|\x89PNG|GIF8[79]a|\xff\xd8\xff|PK\x03\x04|Rar!|7z\xbc\xaf|\x1f\x8b|\xd0\xcf\x11\xe0"
    rb"|RIFF....WEBP|OggS|ID3|\x00\x00\x00.ftyp|\x00\x01\x00\x00",
    re.DOTALL,
)
_MARKUP = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*(?:<!--|<!doctype|<html|<\?xml|<head|<body)", re.I)


class Response(NamedTuple):
    """A response taken apart; `headers` are in lower case, `body` as it was sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def parse_response(data: bytes) -> Response:
    """The response in the block of a record. Raises BadRecord (`bad_record`)."""
    match = _STATUS.match(data)
    if not match:
        raise BadRecord("bad_record", "no HTTP status line")
    ends = [(data.find(end), len(end)) for end in (b"\r\n\r\n", b"\n\n")]
    place, length = min(((p, n) for p, n in ends if p >= 0), default=(len(data), 0))
    headers = parse_headers(data[:place].split(b"\n")[1:])
    return Response(int(match[1]), headers, data[place + length :])


def parse_headers(lines: list[bytes]) -> dict[str, str]:
    """Header lines as a dictionary, names in lower case, the last of each; folded lines joined."""
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
            headers[name] = value.strip()
    return headers


def content_type(value: str | None) -> tuple[str, str | None]:
    """(mime type in lower case, charset or None) of a Content-Type header."""
    if not value:
        return "", None
    charset = _CHARSET.search(value)
    return value.split(";")[0].strip().lower(), charset[1] if charset else None


def decode_body(headers: Mapping[str, str], body: bytes, most: int) -> bytes:
    """The body without chunks and compression, forgiving as browsers are.

    A body that is not coded as its headers say is taken as it is if it looks like markup or text.
    Raises BadRecord: `page_too_large` (over `most` bytes), `bad_encoding`.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        body = _limited(ChunkedDataReader(io.BytesIO(body)).read(most + 1), most)
    encodings = headers.get("content-encoding", "").lower().replace(" ", "").split(",")
    for encoding in reversed([e for e in encodings if e not in ("", "identity", "none")]):
        body = _limited(_decompress(encoding, body, most), most)
    return _limited(body, most)


def _limited(body: bytes, most: int) -> bytes:
    if len(body) > most:
        raise BadRecord("page_too_large", f"over {most} bytes")
    return body


def _decompress(encoding: str, body: bytes, most: int) -> bytes:
    if encoding in ("gzip", "x-gzip"):
        tries: list[Callable[[], Any]] = [lambda: zlib.decompressobj(31)]
    elif encoding == "deflate":
        tries = [lambda: zlib.decompressobj(15), lambda: zlib.decompressobj(-15)]
    elif encoding == "br":
        tries = [brotli.Decompressor]
    elif encoding == "zstd":
        tries = [lambda: zstandard.ZstdDecompressor(max_window_size=1 << 27).decompressobj()]
    else:
        tries = []
    for make in tries:
        try:
            data = _inflate(make(), body, most)
        except (zlib.error, brotli.error, zstandard.ZstdError):
            continue
        if data or not body:
            return data
    if _looks_like_text(body):
        return body
    raise BadRecord("bad_encoding", f"the body is not {encoding}")


def _inflate(decoder: Any, body: bytes, most: int) -> bytes:
    """All that can be decompressed, up to just over `most`; a cut end is forgiven."""
    out = bytearray()
    for start in range(0, len(body), 1 << 14):
        piece = body[start : start + (1 << 14)]
        out += decoder.process(piece) if hasattr(decoder, "process") else decoder.decompress(piece)
        if len(out) > most or getattr(decoder, "eof", False):
            break
    return bytes(out)


def _looks_like_text(body: bytes) -> bool:
    head = body[:1024]
    return bool(_MARKUP.match(head)) or (b"\0" not in head and _is_utf8(head))


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start > len(head) - 4 and len(head) > 4
    return True


def page_kind(mime: str, body: bytes) -> tuple[str, str]:
    """(`html` or `text`, mime type): by header, or by the body where there is none.

    Raises BadRecord (`not_html`), also for a body that is plainly something else.
    """
    if mime in ("", "application/octet-stream", "unk", "application/unknown", "no-type"):
        mime = "text/html" if _MARKUP.match(body[:1024]) else "text/plain"
        if b"\0" in body[:1024]:
            raise BadRecord("not_html", "no content type, and the body is binary")
    if mime not in _HTML_TYPES + _TEXT_TYPES:
        raise BadRecord("not_html", mime[:100])
    if _BINARY_MAGIC.match(body):
        raise BadRecord("not_html", f"says {mime}, but the body is binary")
    return "html" if mime in _HTML_TYPES else "text", mime
