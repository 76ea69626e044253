"""Wiki markup -> title, lead, sections, cited URLs, categories, as plain text.

mwparserfromhell reads the markup. It takes minutes over some broken pages, so pages whose
brackets are far from balanced get a simpler, linear stripping, and so does any page on which the
parser fails or outlasts its deadline.
"""

import atexit
import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.urls import canonical_urls
from wikisum.crawl.wikipedia.deadline import KillableCall, KillableCallFailed
from wikisum.crawl.wikipedia.page_kinds import (
    is_disambiguation,
    is_list_of_meanings,
    is_redirect,
    is_set_index,
)
from wikisum.crawl.wikipedia.reader import EXTERNAL_SECTIONS, Plain
from wikisum.crawl.wikipedia.site import ENGLISH, Site
from wikisum.crawl.wikipedia.strip import strip_plain

DEADLINE_SECONDS = 30.0
MAX_UNBALANCED = 40
MAX_DEPTH = 30
MAX_PARSED_CHARS = 2_000_000

_BRACKETS = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|<(/?)([a-zA-Z]+)[^<>]*?(/?)>")
_VOID_TAGS = frozenset(("br", "hr", "wbr", "li", "p", "td", "tr", "th", "dd", "dt", "img"))
_LEFT_OUT_SECTIONS = EXTERNAL_SECTIONS | {
    "references", "notes", "see also", "further reading", "bibliography", "sources", "footnotes",
    "citations", "notes and references", "references and notes", "works cited", "gallery",
    "literature", "references and further reading", "notes and citations", "explanatory notes",
    "general references", "reference",
}  # fmt: skip


class Section(NamedTuple):
    """A section with prose; `level` counts the equals signs of its heading."""

    title: str
    level: int
    text: str


class Article(NamedTuple):
    """An article as plain text, one paragraph or list item per line.

    `citations` are canonical and distinct, in article order; `bad_citations` pairs of what stood
    there and the reason; `unknown_templates` counts, by name, the templates inside sentences for
    which there is no rule; `fallback` says whether the simple stripping was used.
    """

    title: str
    lead: str
    sections: list[Section]
    citations: list[str]
    bad_citations: list[tuple[str, str]]
    categories: list[str]
    unknown_templates: dict[str, int]
    fallback: bool


def parse_article(
    title: str, text: str, site: Site = ENGLISH, templates: Mapping[str, str] | None = None
) -> Article:
    """Return the article in the markup of a page.

    `templates` holds the bodies of the wiki's own templates by name, as far as they are known.
    Raises BadArticle: `redirect`, `disambiguation`, `set_index`, `no_lead`.
    """
    if is_redirect(text):
        raise BadArticle("redirect", f"{title} leads to another page")
    if is_disambiguation(title, text):
        raise BadArticle("disambiguation", f"{title} lists other pages")
    if is_set_index(text):
        raise BadArticle("set_index", f"{title} lists things of one name")
    plain, fallback = _take_apart(title, text, site, templates)
    (_, _, lead), *rest = plain.sections
    if not lead:
        raise BadArticle("no_lead", f"{title} has no text before its first heading")
    sections = [Section(*s) for s in rest if s[2] and s[0].lower() not in _LEFT_OUT_SECTIONS]
    if is_list_of_meanings(lead, bool(sections)):
        raise BadArticle("set_index", f"{title} lists things of one name")
    citations, bad = canonical_urls(plain.cited)
    categories = list(dict.fromkeys(filter(None, plain.categories)))
    return Article(title, lead, sections, citations, bad, categories, plain.unknown, fallback)


def _take_apart(
    title: str, text: str, site: Site, templates: Mapping[str, str] | None
) -> tuple[Plain, bool]:
    if not is_pathological(text):
        try:
            return _killable_parse().call(text, site, templates, title), False
        except (KillableCallFailed, RecursionError):
            pass
    return strip_plain(text, site), True


@cache
def _killable_parse() -> KillableCall:
    call = KillableCall("wikisum.crawl.wikipedia.reader:parse_plain", DEADLINE_SECONDS)
    atexit.register(call.close)
    return call


def is_pathological(text: str) -> bool:
    """Whether the parser might take minutes: far from balanced, very deep, or huge."""
    if len(text) > MAX_PARSED_CHARS:
        return True
    depth = {"{{": 0, "[[": 0, "{|": 0, "<": 0}
    unclosed = 0
    opened = {"}}": "{{", "]]": "[[", "|}": "{|"}
    for match in _BRACKETS.finditer(text):
        token = match[0]
        if token[0] == "<":
            if match[3] or match[2].lower() in _VOID_TAGS:
                continue
            kind, step = "<", -1 if match[1] else 1
        else:
            kind, step = opened.get(token, token), -1 if token in opened else 1
        depth[kind] += step
        if depth[kind] < 0:
            depth[kind] = 0
            unclosed += 1
        elif depth[kind] > MAX_DEPTH:
            return True
    return unclosed + sum(depth.values()) > MAX_UNBALANCED
