"""Build the bundled sample out of `source/`: a dump, two WARC files, a WET file, search results.

Run it after a change of the sources: python tests/golden/make_sample.py
"""

import bz2
import gzip
import hashlib
import html
import shutil
import sys
import uuid
import zlib
from base64 import b32encode
from pathlib import Path
from typing import NamedTuple

import brotli

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from crawl.wikitext import parse_article

HERE = Path(__file__).resolve().parent
DATE = "2024-03-02T08:00:00Z"


class Entry(NamedTuple):
    """One article or page of a source file: what follows `@`, its `@@` fields, its lines."""

    name: str
    fields: dict[str, str]
    lines: list[str]


def read_entries(path: Path) -> list[Entry]:
    entries: list[Entry] = []
    for line in path.read_text().splitlines():
        if line.startswith("@@ "):
            key, _, value = line[3:].partition(": ")
            entries[-1].fields[key] = value
        elif line.startswith("@ "):
            entries.append(Entry(line[2:], {}, []))
        elif entries:
            entries[-1].lines.append(line)
    return entries


def dump(articles: list[Entry]) -> bytes:
    pages = []
    for number, entry in enumerate(articles, 1):
        redirect = entry.fields.get("redirect")
        mark = f'\n    <redirect title="{redirect}" />' if redirect else ""
        text = html.escape("\n".join(entry.lines).strip(), quote=False)
        pages.append(f"""  <page>
    <title>{html.escape(entry.name, quote=False)}</title>
    <ns>{entry.fields.get("ns", "0")}</ns>
    <id>{number}</id>{mark}
    <revision>
      <id>{1000 + number}</id>
      <timestamp>{DATE}</timestamp>
      <contributor><username>Sample</username><id>1</id></contributor>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{len(text.encode())}" xml:space="preserve">{text}</text>
    </revision>
  </page>
""")
    namespace = "http://www.mediawiki.org/xml/export-0.11/"
    head = f"""<mediawiki xmlns="{namespace}" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Sample</sitename>
    <dbname>samplewiki</dbname>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
    </namespaces>
  </siteinfo>
"""
    return bz2.compress((head + "".join(pages) + "</mediawiki>\n").encode())


NAVIGATION = """<header><a class="logo" href="/">{site}</a>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li><li><a href="/a-z">A to Z</a>
</li><li><a href="/contact">Contact us</a></li></ul></nav></header>
<div class="cookie-banner">We use cookies on this website to improve your visit.
<button>OK</button></div>"""
FURNITURE = """<aside class="sidebar"><h3>Related</h3><ul>
<li><a href="/1">Ten walks by the sea</a></li>
<li><a href="/2">Where to stay</a></li></ul></aside>
<section id="comments"><h3>2 comments</h3><p>Lovely!</p><p>Me too</p>
<form><textarea>Say something nice about this page, please, and be kind.</textarea></form></section>
<footer><p>Copyright © 2024 {site}. All rights reserved. Sign up for our newsletter.</p>
<p>***** 1 2 3 4 5 *****</p></footer>
<div style="display: none">This hidden sentence must never be seen by a reader of the page.</div>"""


def page_html(entry: Entry, charset: str, paragraphs: list[str]) -> str:
    site = entry.name.split("/")[2]
    title = entry.fields.get("title", site)
    declared = f'<meta charset="{charset}">' if "charset" not in entry.fields else ""
    body = "\n".join(f"<p>{p}</p>" for p in paragraphs)
    return f"""<!DOCTYPE html>
<html lang="en"><head>{declared}<title>{title}</title>
<style>p {{ margin: 1em }}</style><script>var tracked = "<p>never a paragraph, this.</p>";</script>
</head><body>
{NAVIGATION.format(site=site)}
<main><article><h1>{title}</h1>
{body}
<table><tr><td>Updated</td><td>March</td></tr></table></article></main>
{FURNITURE.format(site=site)}
</body></html>
"""


def paragraphs_of(entry: Entry, articles: dict[str, Entry]) -> list[str]:
    """The paragraphs of a page, with what its form takes out of an article."""
    lines = [line for line in entry.lines if line.strip()]
    form, _, title = entry.fields.get("form", "").partition(" ")
    if form == "menu":
        return []
    if title:
        article = parse_article(title, "\n".join(articles[title].lines))
        texts = [article.lead, *(s.text for s in article.sections)]
        taken = texts if form == "copy" else texts[:1]
        return [html.escape(p, quote=False) for t in taken for p in t.split("\n")] + lines
    return lines


def record(kind: str, url: str, date: str, content_type: str, block: bytes, **more: str) -> bytes:
    number = uuid.uuid5(uuid.NAMESPACE_URL, f"{kind} {url} {date}")
    headers = {
        "WARC-Type": kind,
        "WARC-Date": date,
        "WARC-Record-ID": f"<urn:uuid:{number}>",
        **({"WARC-Target-URI": url} if url else {}),
        **more,
        "WARC-Block-Digest": "sha1:" + b32encode(hashlib.sha1(block).digest()).decode(),
        "Content-Type": content_type,
        "Content-Length": str(len(block)),
    }
    head = "WARC/1.0\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    return gzip.compress(head.encode() + block + b"\r\n\r\n", mtime=0)


ENCODERS = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
}


def response(entry: Entry, articles: dict[str, Entry]) -> bytes:
    charset = entry.fields.get("encode", "utf-8")
    if entry.fields.get("form") == "plain":
        body = "\n".join(entry.lines).encode()
    else:
        body = page_html(entry, charset, paragraphs_of(entry, articles)).encode(charset)
    headers = {"Content-Type": entry.fields.get("type", "text/html")}
    if "charset" in entry.fields:
        headers["Content-Type"] += f"; charset={entry.fields['charset']}"
    if encoding := entry.fields.get("encoding"):
        body = ENCODERS[encoding](body)
        headers["Content-Encoding"] = encoding
    if entry.fields.get("form") == "garbled":
        body = bytes(255 - b for b in body)
    if "chunked" in entry.fields:
        pieces = [body[i : i + 500] for i in range(0, len(body), 500)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"
        headers["Transfer-Encoding"] = "chunked"
    head = f"HTTP/1.1 {entry.fields.get('status', '200 OK')}\r\n"
    head += "".join(f"{k}: {v}\r\n" for k, v in headers.items()) + "\r\n"
    return head.encode() + body


def warc(name: str, pages: list[Entry], articles: dict[str, Entry]) -> bytes:
    about = f"software: wikisum sample\r\nisPartOf: {name}\r\n".encode()
    out = [record("warcinfo", "", DATE, "application/warc-fields", about)]
    for page in pages:
        url, date = page.name, page.fields.get("date", DATE)
        request = f"GET / HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n\r\n".encode()
        out.append(record("request", url, date, "application/http; msgtype=request", request))
        more = {"WARC-Truncated": "length"} if "truncated" in page.fields else {}
        member = record(
            "response",
            url,
            date,
            "application/http; msgtype=response",
            response(page, articles),
            **more,
        )
        if page.fields.get("form") == "damaged":
            middle = len(member) // 2
            member = member[:middle] + bytes(255 - b for b in member[middle : middle + 40])
            member += b"\x00" * 40
        out.append(member)
        out.append(record("metadata", url, date, "application/warc-fields", b"fetchTimeMs: 12"))
    return b"".join(out)


def wet(name: str, pages: list[Entry]) -> bytes:
    about = f"software: wikisum sample\r\nisPartOf: {name}\r\n".encode()
    out = [record("warcinfo", "", DATE, "application/warc-fields", about)]
    for page in pages:
        text = "\n".join(
            ["Home", "News", page.fields["title"], *(x for x in page.lines if x.strip())]
        )
        out.append(record("conversion", page.name, DATE, "text/plain", text.encode()))
    return b"".join(out)


def build(folder: Path) -> None:
    articles = read_entries(HERE / "source" / "articles.txt")
    pages = read_entries(HERE / "source" / "pages.txt")
    by_title = {entry.name: entry for entry in articles}
    by_file: dict[str, list[Entry]] = {"0": [], "1": [], "wet": []}
    for page in pages:
        by_file[page.fields.get("file", "0")].append(page)
    (folder / "sample.xml.bz2").write_bytes(dump(articles))
    for number in ("0", "1"):
        name = f"sample-pages-0000{number}.warc.gz"
        (folder / name).write_bytes(warc(name, by_file[number], by_title))
    name = "sample-text-00000.warc.wet.gz"
    (folder / name).write_bytes(wet(name, by_file["wet"]))
    if folder != HERE:
        shutil.copy(HERE / "source" / "search.jsonl", folder)
    else:
        shutil.copy(HERE / "source" / "search.jsonl", HERE / "search.jsonl")


if __name__ == "__main__":
    build(HERE)
