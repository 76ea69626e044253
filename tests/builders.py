"""Small valid records, made in one line."""

import gzip
import io

from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.stage import Stage
from wikisum.pipeline.records import Article, Document, Section

LEAD = (
    "The Tavin Bridge is an iron arch bridge over the river Tavin, opened in 1881 to carry the "
    "railway. It was designed by Josiah Penrose with a single span and was for eleven years the "
    "longest arch in the country. Trains ran over it until the line was closed."
)


def stage_writer(out: object, stage: Stage, part_count: int = 1) -> StageWriter:
    return StageWriter(str(out), stage, part_count, {}, Ticker(None))


def article(lead: str = LEAD, **changes: object) -> Article:
    plain = Article(
        "00000000000000aa",
        "Tavin Bridge",
        "https://en.wikipedia.org/wiki/Tavin_Bridge",
        lead,
        [Section("Building", 2, "The arch was built out from both banks at once in 1880.")],
        ["http://a.example/"],
        "train",
    )
    return plain._replace(**changes)


def document(url: str = "http://a.example/", *paragraphs: str, **changes: object) -> Document:
    plain = Document(
        url,
        url,
        "A page",
        list(paragraphs) or ["The Tavin bridge was painted green by twelve men in one summer."],
        "en",
        "a.warc.gz",
        10,
        20,
        "sha1:A",
        "2024-01-01T00:00:00Z",
    )
    return plain._replace(**changes)


def warc_record(
    url: str, body: bytes, kind: str = "response", status: str = "200 OK", **headers: str
) -> bytes:
    """One uncompressed WARC record of an HTML page (or of text, for `conversion`)."""
    http = {"Content-Type": "text/html; charset=utf-8"}
    http.update({k[5:].replace("_", "-"): v for k, v in headers.items() if k.startswith("http_")})
    block = body
    if kind == "response":
        head = "".join(f"{k}: {v}\r\n" for k, v in http.items())
        block = f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body
    result = {
        "WARC-Type": kind,
        "WARC-Date": "2024-01-01T00:00:00Z",
        "WARC-Target-URI": url,
        "Content-Type": "text/plain" if kind == "conversion" else "application/http",
        **{k.replace("_", "-"): v for k, v in headers.items() if not k.startswith("http_")},
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{k}: {v}\r\n" for k, v in result.items())
    return f"WARC/1.0\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"


def gzipped(*records: bytes) -> bytes:
    """The records as members of a gzip file, as crawls have them."""
    return b"".join(gzip.compress(r, mtime=0) for r in records)


def stream(data: bytes) -> io.BytesIO:
    return io.BytesIO(data)


def dump(*pages: tuple[str, str]) -> bytes:
    """A plain XML dump of (title, markup) pages in the article namespace."""
    body = "".join(
        f"<page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>"
        for title, text in pages
    )
    return f'<mediawiki xml:lang="en"><siteinfo/>{body}</mediawiki>'.encode()
