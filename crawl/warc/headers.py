"""Read the headers of WARC, ARC and WET records, and recognize where a record starts."""

import re
from typing import NamedTuple

from wikisum.crawl.errors import BadRecord
from wikisum.crawl.http import parse_headers
from wikisum.crawl.warc.members import START_BYTES, MemberReader

MAX_HEADER_BYTES = 1 << 16
_HEADER_ENDS = (b"\n\r\n", b"\n\n")
_ARC_LINE = (
    rb"(?:filedesc|dns|https?|ftp):[^\n]{1,2048}? [\d.:a-fA-F]+ \d{12,14} "
    rb"(?:[^\n]{0,512} )?[-\w]+\r?\n"
)
STARTS = re.compile(rb"WARC/\d\.\d+[ \t]*\r?\n[\w-]+[ \t]*:|" + _ARC_LINE)
_ARC_HEADER = re.compile(r"(.+?) (\S+) (\d{12,14}) (.*)")
_ARC_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?")
_LENGTH = re.compile(r"\d{1,18}", re.ASCII)
PAGES = frozenset(("response", "resource", "conversion", "revisit", "arc"))


class RecordHeader(NamedTuple):
    """The header of a record; `type` is `arc` for ARC records."""

    type: str
    url: str
    length: int
    headers: dict[str, str]


def read_header(reader: MemberReader, is_start: bool) -> RecordHeader:
    """Read the header of the next record. Raises BadRecord if no valid one is there."""
    if not is_start:
        rest = reader.peek(START_BYTES)
        is_cut = len(rest) < START_BYTES and (rest.startswith(b"WARC/") or reader.fault is not None)
        raise BadRecord("truncated_record" if is_cut else "bad_record", "no record begins here")
    if reader.peek(5) != b"WARC/":
        return _arc_header(reader.read_until((b"\n",), MAX_HEADER_BYTES) or b"")
    data = reader.read_until(_HEADER_ENDS, MAX_HEADER_BYTES)
    if data is None:
        is_cut = len(reader.peek(MAX_HEADER_BYTES)) < MAX_HEADER_BYTES
        raise BadRecord("truncated_record" if is_cut else "bad_record", "its header has no end")
    headers = parse_headers(data.split(b"\n")[1:])
    kind = headers.get("warc-type", "").lower()
    url = _clean_url(headers.get("warc-target-uri", ""))
    if kind in PAGES and not url:
        raise BadRecord("bad_record", "it has no target URI")
    return RecordHeader(kind, url, _length(headers.get("content-length", "")), headers)


def _arc_header(line: bytes) -> RecordHeader:
    """Parse an ARC header, version 1 or 2; its URL may hold spaces. Raises BadRecord."""
    match = _ARC_HEADER.match(line.decode("utf-8", "replace").strip())
    if match is None:
        raise BadRecord("bad_record", "not an ARC header")
    url, _, date, rest = match.groups()
    kind = "warcinfo" if url.startswith(("filedesc:", "dns:")) else "arc"
    *mime, length = rest.split()
    parts = _ARC_DATE.match(date)
    stamp = "{}-{}-{}T{}:{}:{}Z".format(*(p or "00" for p in parts.groups())) if parts else ""
    headers = {"warc-date": stamp, "content-type": " ".join(mime[:1])}
    return RecordHeader(kind, _clean_url(url), _length(length), headers)


def _length(text: str) -> int:
    if not _LENGTH.fullmatch(text):
        raise BadRecord("bad_record", f"its length is {text[:40]!r}")
    return int(text)


def _clean_url(url: str) -> str:
    url = url.strip()
    if url.startswith("<") and url.endswith(">"):  # as in the first edition of WARC/1.0
        url = url[1:-1].strip()
    return re.sub(r"\s", "%20", url)
