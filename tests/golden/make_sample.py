"""Build the bundled sample out of `source/`: a dump, two WARC files, a WET file, search results.

Run it after a change of the sources: python tests/golden/make_sample.py [FOLDER]

A source begins with `key: value` lines; after an empty line comes the markup of an article or
the content of a page. The keys are explained in README.md. The same sources give the same bytes.
"""

import bz2
import codecs
import html
import re
import struct
import sys
import uuid
import zlib
from base64 import b32encode
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import brotli

HERE = Path(__file__).resolve().parent
SOURCE = HERE / "source"
DATE = "2024-03-02T08:00:00Z"
CHUNK_BYTES = 500
DAMAGED_BYTES = 40
# `%LONG%` in an article: a run that makes a URL longer than any crawler takes.
LONG = "0123456789" * 420


class Entry(NamedTuple):
    """One article or page of the sources, numbered from 1: its `key: value` lines and the rest."""

    number: int
    fields: dict[str, str]
    body: str


def read_entries(folder: Path) -> list[Entry]:
    entries = []
    for number, path in enumerate(sorted(folder.iterdir()), 1):
        head, _, body = path.read_text(encoding="utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        entries.append(Entry(number, fields, body.strip("\n")))
    return entries


def gzip_member(data: bytes) -> bytes:
    """A gzip member that is the same in every version of Python, without time or name."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = deflater.compress(data) + deflater.flush()
    head = b"\x1f\x8b\x08\0\0\0\0\0\x02\xff"
    return head + deflated + struct.pack("<II", zlib.crc32(data), len(data))


def base32_sha1(data: bytes) -> str:
    return "sha1:" + b32encode(sha1(data).digest()).decode()


# The dump


def base36_sha1(data: bytes) -> str:
    number = int.from_bytes(sha1(data).digest(), "big")
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits.rjust(31, "0")


def dump_page(entry: Entry) -> str:
    text = entry.body.replace("%LONG%", LONG)
    target = entry.fields.get("redirect")
    redirect = f'\n    <redirect title="{html.escape(target)}" />' if target else ""
    digest = base36_sha1(text.encode())
    return f"""  <page>
    <title>{html.escape(entry.fields["title"], quote=False)}</title>
    <ns>{entry.fields.get("ns", "0")}</ns>
    <id>{entry.number}</id>{redirect}
    <revision>
      <id>{1000 + entry.number}</id>
      <parentid>{500 + entry.number}</parentid>
      <timestamp>{DATE}</timestamp>
      <contributor>
        <username>Sample</username>
        <id>1</id>
      </contributor>
      <comment>/* Sample */ written for it</comment>
      <origin>{1000 + entry.number}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text.encode())}" sha1="{digest}" xml:space="preserve">""" + (
        f"{html.escape(text, quote=False)}</text>\n      <sha1>{digest}</sha1>\n"
        "    </revision>\n  </page>\n"
    )


def dump(articles: list[Entry]) -> bytes:
    head = (SOURCE / "siteinfo.xml").read_text()
    pages = "".join(dump_page(entry) for entry in articles)
    return bz2.compress(f"{head}{pages}</mediawiki>\n".encode())


# The pages as a server sent them


def charset_of(entry: Entry) -> str:
    return entry.fields.get("encode", "utf-8")


def page_html(entry: Entry) -> str:
    charset = charset_of(entry)
    is_silent = "undeclared" in entry.fields or "charset" in entry.fields or charset == "utf-16"
    content = entry.body
    if repeat := entry.fields.get("repeat"):
        count, _, what = repeat.partition(" ")
        content = content.replace("%REPEAT%", what * int(count))
    values = {
        "meta": "" if is_silent else f'<meta charset="{charset}">',
        "lang": entry.fields.get("lang", "en"),
        "title": html.escape(entry.fields["title"], quote=False),
        "site": entry.fields["url"].split("/")[2],
        "content": content,
    }
    layout = (SOURCE / "layouts" / f"{entry.fields['layout']}.html").read_text()
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], layout)


def page_bytes(entry: Entry) -> bytes:
    if "revisit" in entry.fields:
        return b""
    text = page_html(entry) if "layout" in entry.fields else entry.body + "\n"
    if charset_of(entry) == "utf-16":  # Python's own `utf-16` follows the machine
        return codecs.BOM_UTF16_LE + text.encode("utf-16-le")
    return text.encode(charset_of(entry))


ENCODERS = {"gzip": gzip_member, "deflate": zlib.compress, "br": brotli.compress}


def response(entry: Entry) -> tuple[bytes, bytes]:
    """The HTTP head, and the body as it went over the wire."""
    fields = entry.fields
    body = page_bytes(entry)
    headers = {"Server": "sample", "Content-Type": fields.get("type", "text/html")}
    if "charset" in fields:
        headers["Content-Type"] += f"; charset={fields['charset']}"
    if "location" in fields:
        headers["Location"] = fields["location"]
    if encoding := fields.get("encoding"):
        body = ENCODERS[encoding](body)
        headers["Content-Encoding"] = encoding
    if "garbled" in fields:
        body = bytes(255 - byte for byte in body)
    if "chunked" in fields:
        pieces = [body[i : i + CHUNK_BYTES] for i in range(0, len(body), CHUNK_BYTES)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        headers["Transfer-Encoding"] = "chunked"
    else:
        headers["Content-Length"] = str(len(body))
    head = f"HTTP/1.1 {fields.get('status', '200 OK')}\r\n"
    return (head + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n").encode(), body


# The records that a crawler wrote


def record_id(kind: str, name: str) -> str:
    return f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{kind} {name}')}>"


def record(kind: str, headers: dict[str, str], block: bytes) -> bytes:
    lines = {
        "WARC-Type": kind,
        **headers,
        "WARC-Block-Digest": base32_sha1(block),
        "Content-Length": str(len(block)),
    }
    head = "WARC/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items()) + "\r\n"
    return gzip_member(head.encode() + block + b"\r\n\r\n")


def warcinfo(name: str) -> bytes:
    block = b"software: wikisum sample\r\nisPartOf: SAMPLE-2024-10\r\nformat: WARC/1.0\r\n"
    headers = {
        "WARC-Date": DATE,
        "WARC-Filename": name,
        "WARC-Record-ID": record_id("warcinfo", name),
        "Content-Type": "application/warc-fields",
    }
    return record("warcinfo", headers, block)


def date_of(page: Entry) -> str:
    """Pages were fetched 17 seconds after each other, if they do not say otherwise."""
    start = datetime(2024, 3, 2, 8, tzinfo=UTC)
    fetched = start + timedelta(seconds=17 * page.number)
    return page.fields.get("date", fetched.strftime("%Y-%m-%dT%H:%M:%SZ"))


def response_record(page: Entry, common: dict[str, str]) -> bytes:
    http_head, body = response(page)
    kind = "revisit" if "revisit" in page.fields else "response"
    headers = {
        **common,
        "WARC-Record-ID": record_id("response", page.fields["url"] + common["WARC-Date"]),
        "WARC-IP-Address": "192.0.2.1",
        "Content-Type": "application/http; msgtype=response",
        "WARC-Payload-Digest": base32_sha1(body),
    }
    if "truncated" in page.fields:
        headers["WARC-Truncated"] = page.fields["truncated"]
    if kind == "revisit":
        profile = "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"
        headers["WARC-Profile"] = profile
    member = record(kind, headers, http_head + body)
    if "damaged" in page.fields:
        middle = len(member) // 2
        damaged = bytes(255 - byte for byte in member[middle : middle + DAMAGED_BYTES])
        member = member[:middle] + damaged + member[middle + DAMAGED_BYTES :]
    return member


def capture(page: Entry, warcinfo_id: str) -> bytes:
    """The request, response and metadata records of a page, a gzip member each."""
    url = page.fields["url"]
    common = {"WARC-Target-URI": url, "WARC-Date": date_of(page), "WARC-Warcinfo-ID": warcinfo_id}
    name = url + common["WARC-Date"]
    beside = {**common, "WARC-Concurrent-To": record_id("response", name)}
    _, _, host, *path = url.split("/")
    request = {
        **beside,
        "WARC-Record-ID": record_id("request", name),
        "Content-Type": "application/http; msgtype=request",
    }
    asked = f"GET /{'/'.join(path)} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: sample\r\n\r\n"
    metadata = {
        **beside,
        "WARC-Record-ID": record_id("metadata", name),
        "Content-Type": "application/warc-fields",
    }
    fetch_time = f"fetchTimeMs: {100 + page.number}\r\n"
    return (
        record("request", request, asked.encode())
        + response_record(page, common)
        + record("metadata", metadata, fetch_time.encode())
    )


def warc(name: str, pages: list[Entry]) -> bytes:
    captures = (capture(page, record_id("warcinfo", name)) for page in pages)
    return warcinfo(name) + b"".join(captures)


def conversion(page: Entry) -> bytes:
    """The WET form of a page: its text, a line per block."""
    lines = [re.sub(r"<[^>]+>", "", html.unescape(line)) for line in page.body.splitlines()]
    menu = ["Home", "Walks", "Maps", page.fields["title"]]
    text = "\n".join([*menu, *(line for line in lines if line), "Back to the top"])
    headers = {
        "WARC-Target-URI": page.fields["url"],
        "WARC-Date": date_of(page),
        "WARC-Record-ID": record_id("conversion", page.fields["url"]),
        "Content-Type": "text/plain",
    }
    return record("conversion", headers, text.encode())


def build(folder: Path) -> list[str]:
    """Write the sample into a folder; the names of its files."""
    pages = read_entries(SOURCE / "pages")
    by_file: dict[str, list[Entry]] = {"0": [], "1": [], "wet": []}
    for page in pages:
        by_file[page.fields.get("file", "0")].append(page)
    wet = "sample-wet-00000.warc.wet.gz"
    contents = {
        "sample.xml.bz2": dump(read_entries(SOURCE / "articles")),
        "search.jsonl": (SOURCE / "search.jsonl").read_bytes(),
        wet: warcinfo(wet) + b"".join(map(conversion, by_file["wet"])),
    }
    for number in ("0", "1"):
        name = f"sample-pages-0000{number}.warc.gz"
        contents[name] = warc(name, by_file[number])
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return sorted(contents)


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
