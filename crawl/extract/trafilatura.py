"""Extract the main text of a page with the optional package trafilatura."""

from selectolax.lexbor import LexborHTMLParser

from wikisum.crawl.whitespace import normalize_whitespace


def trafilatura_text(html: bytes) -> tuple[str, list[str]]:
    """Return (title, paragraphs of the main text) of UTF-8, in trafilatura's fast mode."""
    from trafilatura import extract

    title = LexborHTMLParser(html).css_first("title")
    text = extract(html.decode(), fast=True, include_comments=False) or ""
    lines = map(normalize_whitespace, text.splitlines())
    return normalize_whitespace(title.text()) if title is not None else "", [
        line for line in lines if line
    ]
