"""Bytes of a page -> text: byte order mark, then HTTP header, then meta tag, then detection."""

import codecs
import re

import cchardet

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_META = re.compile(rb"<meta[^>]+?charset\s*=\s*[\"']?\s*([\w:.\-]+)", re.IGNORECASE)
_XML = re.compile(rb"\s*<\?xml[^>]+encoding\s*=\s*[\"']([\w:.\-]+)", re.IGNORECASE)
_PRESCAN_BYTES = 8192
_DETECTION_BYTES = 1 << 17
# What browsers take these names for (WHATWG Encoding); each is a superset of what it replaces.
_BROWSER_NAMES = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso8859-1": "cp1252", "latin-1": "cp1252",
    "latin1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949",
    "big5": "big5hkscs", "utf-16": "utf-16-le", "utf-7": "cp1252",
}  # fmt: skip
_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def decode(payload: bytes, header_charset: str | None = None) -> str:
    """The text of a page, without control characters and lone surrogates; never raises.

    UTF-8 is believed of a page that is valid UTF-8 whatever it declares, and disbelieved of one
    that declares it and is far from it.
    """
    for bom, name in _BOMS:
        if payload.startswith(bom):
            return _CONTROL.sub("", payload[len(bom) :].decode(name, "replace"))
    return _CONTROL.sub("", _decode(payload, header_charset))


def _decode(payload: bytes, header_charset: str | None) -> str:
    head = payload[:_PRESCAN_BYTES]
    if head.count(b"\0") > len(head) // 4:  # UTF-16 without a mark
        return payload.decode("utf-16-le" if head[1:2] == b"\0" else "utf-16-be", "replace")
    try:
        return payload.decode("utf-8")
    except UnicodeDecodeError:
        pass
    declared = [header_charset, *(m[1].decode("ascii", "replace") for m in _declared(head) if m)]
    for name in (_codec(n) for n in declared if n):
        if name is None:
            continue
        text = payload.decode(name, "replace")
        if text.count("\ufffd") <= len(text) // 200:
            return text
    detected = _codec(cchardet.detect(payload[:_DETECTION_BYTES])["encoding"] or "")
    return payload.decode(detected or "cp1252", "replace")


def _declared(head: bytes) -> list[re.Match[bytes] | None]:
    return [_META.search(head), _XML.match(head)]


def _codec(name: str) -> str | None:
    """Python's codec for a label, as browsers understand it; None for one that is unknown."""
    label = name.strip().lower()
    try:
        label = _BROWSER_NAMES.get(label, label)
        found = codecs.lookup(label)
    except (LookupError, ValueError):
        return None
    if not found._is_text_encoding or found.name in ("idna", "punycode", "undefined", "utf-7"):
        return None
    return _BROWSER_NAMES.get(found.name, found.name)
