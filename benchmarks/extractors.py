"""Our extractors and, where they are installed, those of others: UTF-8 in, text out."""

import sys
from collections.abc import Callable
from importlib import import_module

from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import extract_paragraphs
from wikisum.crawl.paragraphs import drop_reason

Extractor = Callable[[bytes], str]


def ours(name: str, filtered: bool = False) -> Extractor:
    """One of our extractors, with or without the paragraph filter."""

    def extract(html: bytes) -> str:
        try:
            paragraphs = extract_paragraphs(html, "utf-8", name)
        except BadPage:
            return ""
        return "\n".join(p for p in paragraphs if not filtered or drop_reason(p) is None)

    return extract


def html_parser_text(html: bytes) -> str:
    from bs4 import BeautifulSoup

    return BeautifulSoup(html, "html.parser").get_text(" ")


def lxml_text(html: bytes) -> str:
    from bs4 import BeautifulSoup

    return BeautifulSoup(html, "lxml").get_text(" ")


def selectolax_text(html: bytes) -> str:
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(html).body
    return body.text(separator=" ") if body is not None else ""


def resiliparse_text(html: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(extract_plain_text(html.decode(), main_content=True))


def resiliparse_text_alone(html: bytes) -> str:
    from resiliparse.extract.html2text import extract_plain_text

    return str(
        extract_plain_text(
            html.decode(), main_content=True, list_bullets=False, alt_texts=False, comments=False,
            post_meta=False,
        )
    )  # fmt: skip


def trafilatura_fast_text(html: bytes) -> str:
    from trafilatura import extract

    return extract(html.decode(), fast=True, include_comments=False) or ""


def trafilatura_text(html: bytes) -> str:
    from trafilatura import extract

    return extract(html.decode(), include_comments=False) or ""


def justext_text(html: bytes) -> str:
    import justext

    if not html.strip():
        return ""
    paragraphs = justext.justext(html, justext.get_stoplist("English"))
    return "\n".join(p.text for p in paragraphs if not p.is_boilerplate)


def readability_text(html: bytes) -> str:
    from lxml.html import fromstring
    from readability import Document

    summary = Document(html.decode()).summary(html_partial=True)
    return str(fromstring(summary).text_content()) if summary.strip() else ""


def boilerpy_text(html: bytes) -> str:
    from boilerpy3.extractors import ArticleExtractor

    return str(ArticleExtractor(raise_on_failure=False).get_content(html.decode()))


def goose_text(html: bytes) -> str:
    from goose3 import Goose

    return str(Goose({"enable_image_fetching": False}).extract(raw_html=html.decode()).cleaned_text)


def newspaper_text(html: bytes) -> str:
    from newspaper import Article

    article = Article("https://site.example/", fetch_images=False)
    article.download(input_html=html.decode())
    article.parse()
    return str(article.text)


def html_text_text(html: bytes) -> str:
    import html_text

    return str(html_text.extract_text(html.decode()))


PEERS: dict[str, tuple[str, Extractor]] = {
    "BeautifulSoup html.parser, all text": ("bs4", html_parser_text),
    "BeautifulSoup lxml, all text": ("bs4", lxml_text),
    "selectolax lexbor, all text": ("selectolax", selectolax_text),
    "html-text, all text": ("html_text", html_text_text),
    "resiliparse, main content": ("resiliparse", resiliparse_text),
    "resiliparse, main content, no extras": ("resiliparse", resiliparse_text_alone),
    "trafilatura, fast": ("trafilatura", trafilatura_fast_text),
    "trafilatura": ("trafilatura", trafilatura_text),
    "readability-lxml": ("readability", readability_text),
    "newspaper4k": ("newspaper", newspaper_text),
    "goose3": ("goose3", goose_text),
    "boilerpy3": ("boilerpy3", boilerpy_text),
    "jusText, English": ("justext", justext_text),
}


def installed_extractors() -> dict[str, Extractor]:
    """Ours and the peers that can be imported, by name."""
    extractors: dict[str, Extractor] = {
        "fast": ours("fast"),
        "fast + paragraph filter": ours("fast", filtered=True),
        "soup": ours("soup"),
        "soup + paragraph filter": ours("soup", filtered=True),
    }
    for name, (module, extract) in PEERS.items():
        try:
            import_module(module)
        except ImportError:
            print(f"not installed: {name}", file=sys.stderr)
        else:
            extractors[name] = extract
    return extractors
