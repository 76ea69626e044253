"""Convert pages to UTF-8, by byte order mark, HTTP header, meta tag or detection, in this order."""

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
_ESCAPE, _JAPANESE = b"\x1b", "iso2022_jp"  # has 7 bits, so it is valid UTF-8 too
# What browsers take these names for (WHATWG Encoding). Each is a superset of what it replaces.
_BROWSER_NAMES = {
    "ascii": "cp1252", "us-ascii": "cp1252", "iso8859-1": "cp1252", "latin-1": "cp1252",
    "latin1": "cp1252", "iso8859-9": "cp1254", "iso8859-11": "cp874", "tis-620": "cp874",
    "dos-874": "cp874", "gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030",
    "shift_jis": "cp932", "x-sjis": "cp932", "euc_kr": "cp949", "big5": "big5hkscs",
    "x-x-big5": "big5hkscs", "utf-7": "cp1252", "x-cp1250": "cp1250", "x-cp1251": "cp1251",
    "x-cp1252": "cp1252", "iso-8859-8-i": "iso8859-8", "x-mac-cyrillic": "mac-cyrillic",
    "unicode-1-1-utf-8": "utf-8", "x-user-defined": "cp1252",
}  # fmt: skip

_NO_CHARSETS = frozenset(
    ("idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "mbcs", "oem")
)


def to_utf8(payload: bytes, header_charset: str | None = None) -> bytes:
    """Return the page in valid UTF-8, without byte order mark and NULs; never raises.

    A page that is valid UTF-8 is taken as such whatever it declares; one that declares UTF-8 but
    is far from valid is not. If header and meta tag name two other charsets, the one that
    detection agrees with is used, otherwise the header's, as in browsers.
    """
    for bom, name in _BOMS:
        if payload.startswith(bom):
            return _recoded(payload[len(bom) :], name)
    head = payload[:_PRESCAN_BYTES]
    if head.count(b"\0") * 3 > len(head):  # UTF-16 without a byte order mark
        return _recoded(payload, "utf-16-le" if head[1:2] == b"\0" else "utf-16-be")
    try:
        payload.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":
            return _in_other_charset(payload, head, header_charset)
        payload = payload[: error.start]  # it ends within a character
    if _ESCAPE in payload and _JAPANESE in _declared(head, header_charset):
        return _recoded(payload, _JAPANESE)
    return payload.replace(b"\0", b"")


def _in_other_charset(payload: bytes, head: bytes, header_charset: str | None) -> bytes:
    names = _declared(head, header_charset)
    detected = ""
    if len(names) != 1:
        detected = _detected(payload)
        if detected in names:
            names.insert(0, detected)
    for name in names:
        text = payload.decode(name, "replace")
        if text.count("\ufffd") <= len(text) // 200:
            return text.replace("\0", "").encode()
    return _recoded(payload, detected or _detected(payload))


def _recoded(payload: bytes, charset: str) -> bytes:
    return payload.decode(charset, "replace").replace("\0", "").encode()


def _detected(payload: bytes) -> str:
    """Return the charset that the bytes look like, with cp1252 for those of DOS and old Macs."""
    name = _codec(cchardet.detect(payload[:_DETECTION_BYTES])["encoding"] or "")
    return "cp1252" if name is None or name.startswith(("cp8", "mac")) else name


def _declared(head: bytes, header_charset: str | None) -> list[str]:
    """Return the distinct codecs that header, meta tag and XML declaration name, but UTF-16."""
    labels = [header_charset or ""]
    labels += [m[1].decode("ascii", "replace") for m in (_META.search(head), _XML.match(head)) if m]
    codecs_by_name = dict.fromkeys(_codec(label) for label in labels)
    return [name for name in codecs_by_name if name and not name.startswith("utf-16")]


def _codec(name: str) -> str | None:
    """Return Python's codec for a label, as browsers understand it, or None if it is unknown."""
    label = name.strip().strip("\"'").lower()
    try:
        found = codecs.lookup(_BROWSER_NAMES.get(label, label))
    except (LookupError, ValueError, UnicodeError):
        return None
    if not found._is_text_encoding or found.name in _NO_CHARSETS:
        return None
    return _BROWSER_NAMES.get(found.name, found.name)
