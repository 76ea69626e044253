"""Main text as the optional package trafilatura finds it."""

from selectolax.lexbor import LexborHTMLParser

from wikisum.crawl.whitespace import normalize_whitespace


def trafilatura_text(html: bytes) -> tuple[str, list[str]]:
    """(title, paragraphs of the main text) in trafilatura's fast mode, of a page in UTF-8."""
    from trafilatura import extract

    title = LexborHTMLParser(html).css_first("title")
    text = extract(html.decode(), fast=True, include_comments=False) or ""
    paragraphs = [folded for line in text.splitlines() if (folded := normalize_whitespace(line))]
    return normalize_whitespace(title.text()) if title is not None else "", paragraphs
