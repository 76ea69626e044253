"""Wiki markup -> title, lead, sections, cited URLs, as plain text.

mwparserfromhell reads the markup. It takes minutes over some broken pages, so pages whose
brackets are far from balanced get a simpler, linear stripping, and so does any page on which the
parser fails or outlasts its deadline.
"""

import atexit
import html
import re
from functools import cache
from typing import Any, NamedTuple

import mwparserfromhell
from mwparserfromhell import nodes

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.urls import canonical_urls
from wikisum.crawl.wikipedia.deadline import Guard, GuardedCallFailed
from wikisum.crawl.wikipedia.templates import template_text

DEADLINE_SECONDS = 30.0
MAX_UNBALANCED = 40
MAX_DEPTH = 30
MAX_PARSED_CHARS = 2_000_000

_SPLIT = "\x1e"  # a record separator ends a paragraph until all is joined
_REDIRECT = re.compile(r"\s*#\s*(redirect|weiterleitung|redirection)\b", re.IGNORECASE)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:template:)?(?:[\w -]*\bdisambig(?:uation)?(?: page| cleanup)?|disamb|dab|hndis|"
    r"hndis-cleanup|human name disambiguation|geodis|place name disambiguation|mil-?unit-?dis|"
    r"numberdis|letter-number ?combdis(?:ambig)?|mathdab|roaddis|schooldis|hospitaldis|airport"
    r"dis|callsigndis|tndis|sndis|wp disambig)\s*[|}]",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r"\{\{|\}\}|\[\[|\]\]|\{\||\|\}|<(/?)([a-zA-Z]+)[^<>]*?(/?)>")
_VOID_TAGS = frozenset(("br", "hr", "wbr", "li", "p", "td", "tr", "th", "dd", "dt", "img"))
_URL = re.compile(r"https?://[^\s<>\[\]{}|\"]+", re.IGNORECASE)
_CITATION = re.compile(
    r"(cite|citation|vcite|cit|wayback|webarchive|harvard reference)\b|cita |.*\bcitation$"
)
_URL_PARAMETERS = ("url", "chapter-url", "chapterurl", "contribution-url", "article-url",
                   "section-url", "conference-url", "conferenceurl", "transcript-url",
                   "transcripturl", "lay-url", "layurl")  # fmt: skip
_ARCHIVE_PARAMETERS = ("archive-url", "archiveurl", "archive url")
_NO_PROSE = frozenset((
    "gallery", "math", "chem", "ce", "score", "timeline", "table", "syntaxhighlight", "source",
    "imagemap", "hiero", "ref", "references", "style", "script", "graph", "mapframe", "maplink",
    "templatedata", "templatestyles", "indicator", "categorytree", "inputbox", "noinclude",
    "includeonly", "section", "tr", "td", "th", "caption",
))  # fmt: skip
_LINK_PREFIX = re.compile(
    r":?\s*(file|image|media|category|datei|bild|kategorie|fichier|catégorie|archivo|imagen|"
    r"categoría|plik|kategoria|special|mediawiki|template|module|portal)\s*:",
    re.IGNORECASE,
)
_INTERWIKI = re.compile(r"[a-z]{2,3}(-[a-z\-]+)?\s*:\s*\S", re.IGNORECASE)
_EXTERNAL_SECTIONS = frozenset(("external links", "external link", "weblinks", "links"))
_LEFT_OUT_SECTIONS = _EXTERNAL_SECTIONS | {
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
    """An article as plain text, one paragraph or list item a line.

    `citations` are canonical and distinct, in article order; `bad_citations` pairs of what stood
    there and the reason; `fallback` tells that the simple stripping took over.
    """

    title: str
    lead: str
    sections: list[Section]
    citations: list[str]
    bad_citations: list[tuple[str, str]]
    external_links: list[str]
    fallback: bool


class Plain(NamedTuple):
    """Markup taken apart: (title, level, text) from the lead on, and URLs as they stand."""

    sections: list[tuple[str, int, str]]
    cited: list[str]
    external: list[str]


def parse_article(title: str, text: str) -> Article:
    """The article in the markup of a page.

    Raises BadArticle: `redirect`, `disambiguation`, `no_lead`.
    """
    if _REDIRECT.match(text):
        raise BadArticle("redirect", f"{title} leads to another page")
    if title.endswith("(disambiguation)") or _DISAMBIGUATION.search(text):
        raise BadArticle("disambiguation", f"{title} lists other pages")
    fallback = is_pathological(text)
    if not fallback:
        try:
            plain: Plain = _guard().call(text)
        except (GuardedCallFailed, RecursionError):
            fallback = True
    if fallback:
        plain = strip_plain(text)
    (_, _, lead), *rest = plain.sections
    if not lead:
        raise BadArticle("no_lead", f"{title} has no text before its first heading")
    sections = [Section(*s) for s in rest if s[2] and s[0].lower() not in _LEFT_OUT_SECTIONS]
    citations, bad = canonical_urls(plain.cited)
    external, _ = canonical_urls(plain.external)
    return Article(title, lead, sections, citations, bad, external, fallback)


@cache
def _guard() -> Guard:
    guard = Guard("wikisum.crawl.wikipedia.wikitext:parse_plain", DEADLINE_SECONDS)
    atexit.register(guard.close)
    return guard


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


def parse_plain(text: str) -> Plain:
    """The markup taken apart by mwparserfromhell. May take minutes: call it through a guard."""
    reader = _Reader()
    reader.walk(mwparserfromhell.parse(text, skip_style_tags=True))
    return reader.plain()


class _Reader:
    """Walks the parse tree once, gathering text by section and URLs by place."""

    def __init__(self) -> None:
        self._sections: list[tuple[str, int, list[str]]] = [("", 1, [])]
        self._cited: list[str] = []
        self._external: list[str] = []
        self._in_external = False

    def plain(self) -> Plain:
        sections = [(title, level, clean("".join(out))) for title, level, out in self._sections]
        return Plain(sections, self._cited, self._external)

    def walk(self, code: Any, silent: bool = False, in_ref: bool = False) -> None:
        for node in code.nodes:
            if isinstance(node, nodes.Text):
                if in_ref:
                    self._cite_all(_URL.findall(str(node)))
                self._write(str(node), silent)
            elif isinstance(node, nodes.Wikilink):
                self._link(node, silent, in_ref)
            elif isinstance(node, nodes.ExternalLink):
                self._external_link(node, silent, in_ref)
            elif isinstance(node, nodes.Tag):
                self._tag(node, silent, in_ref)
            elif isinstance(node, nodes.Template):
                self._template(node, silent, in_ref)
            elif isinstance(node, nodes.Heading) and not silent:
                self._heading(node)
            elif isinstance(node, nodes.HTMLEntity):
                self._write(node.normalize() or "", silent)
            elif isinstance(node, nodes.Argument) and node.default is not None:
                self.walk(node.default, silent, in_ref)

    def _write(self, text: str, silent: bool) -> None:
        if not silent:
            self._sections[-1][2].append(text)

    def _cite_all(self, urls: list[str]) -> None:
        (self._external if self._in_external else self._cited).extend(
            url.rstrip(".,;:'") for url in urls
        )

    def _heading(self, node: nodes.Heading) -> None:
        title = clean(_text_of(node.title)).replace("\n", " ")
        self._sections.append((title, node.level, []))
        if node.level <= 2:
            self._in_external = title.lower() in _EXTERNAL_SECTIONS

    def _link(self, node: nodes.Wikilink, silent: bool, in_ref: bool) -> None:
        target = str(node.title).strip()
        hidden = bool(_LINK_PREFIX.match(target))
        if hidden or silent:
            if node.text is not None:  # captions hold references too
                self.walk(node.text, silent=True, in_ref=in_ref)
        elif _INTERWIKI.match(target) and node.text is None:
            return
        elif node.text is not None:
            self.walk(node.text, silent, in_ref)
        else:
            self._write(target.lstrip(":").partition("#")[0] or target.lstrip("#"), silent)

    def _external_link(self, node: nodes.ExternalLink, silent: bool, in_ref: bool) -> None:
        if in_ref or self._in_external:
            self._cite_all([str(node.url)])
        if node.title is not None:
            self.walk(node.title, silent, in_ref)
        elif not node.brackets:
            self._write(str(node.url), silent)

    def _tag(self, node: nodes.Tag, silent: bool, in_ref: bool) -> None:
        name = str(node.tag).strip().lower()
        if node.wiki_markup in ("*", "#", ":", ";", "----"):
            self._write(_SPLIT, silent)
        elif name in ("br", "hr"):
            self._write(" ", silent)
        elif name == "ref":
            if node.contents is not None:
                self.walk(node.contents, silent=True, in_ref=True)
        elif node.contents is not None:
            if name in ("p", "div", "blockquote", "li", "center", "poem"):
                self._write(_SPLIT, silent)
            self.walk(node.contents, silent or name in _NO_PROSE, in_ref)
            if name in ("p", "div", "blockquote", "li", "center", "poem"):
                self._write(_SPLIT, silent)

    def _template(self, node: nodes.Template, silent: bool, in_ref: bool) -> None:
        name = _name(node)
        if _CITATION.match(name) or (in_ref and node.has("url")):
            self._cite_template(node)
            return
        for parameter in node.params:
            self.walk(parameter.value, silent=True, in_ref=in_ref)
        if not silent:
            self._write(_template_text(node), silent)

    def _cite_template(self, node: nodes.Template) -> None:
        urls: list[str] = []
        for names in (_URL_PARAMETERS, _ARCHIVE_PARAMETERS):
            for name in names:
                if not urls and node.has(name):
                    urls = _URL.findall(html.unescape(str(node.get(name).value)))[:1]
        if not urls and node.has("url") and (value := str(node.get("url").value).strip()):
            urls = [value] if " " not in value else []
        self._cite_all(urls)


def _name(node: nodes.Template) -> str:
    return " ".join(re.sub(r"<!--.*?-->", "", str(node.name)).replace("_", " ").lower().split())


def _template_text(node: nodes.Template) -> str:
    parameters = {str(p.name).strip(): _text_of(p.value) for p in node.params}
    text = template_text(_name(node), parameters)
    is_block = _name(node) in ("quote", "blockquote", "cquote", "rquote", "quotation")
    return f"{_SPLIT}{text}{_SPLIT}" if is_block else text


def _text_of(code: Any) -> str:
    """The plain text of a piece of markup, without sections or citations."""
    reader = _Reader()
    reader.walk(code)
    return "".join("".join(out) for _, _, out in reader._sections)


_LEFTOVER = re.compile(
    r"\[\[(?:file|image|category)[^\[\]]*(?:\]\])?|\[\[(?:[^\[\]|]*\|)?|\]\]|\{\{[^{}]*\}\}|"
    r"\{\{[^{}|]*\|?|\}\}|\{\||\|\}|</?[a-zA-Z][a-zA-Z]*(?:\s[^<>\n]*)?/?>|"
    r"__[A-Z]{3,}__|'{2,}|<!--.*?(?:-->|$)",
    re.IGNORECASE | re.DOTALL,
)
_HOLLOW = re.compile(r"\(\s*(?:[;,:/–\-]|or|and)*\s*(?:[;,:/]\s*)*\)|\[\s*\]|(?<=\()\s*[;,:]+\s*")
_DANGLING = re.compile(r"[ \t]*[;,:]+[ \t]*(?=\))")
_SPACE_BEFORE = re.compile(r"[ \t]+(?=[,.;:!?)](?:\s|$))")
_THUMB = re.compile(r"^[^\n]*\|\s*(?:thumb|right|left|frame)\b[^\n]*$", re.MULTILINE)
_BLANK = re.compile(r"[ \t\xa0\u2000-\u200a\u202f]+")
_NO_TEXT = re.compile(r"[\W_]*")


def clean(text: str) -> str:
    """Plain paragraphs, one a line, out of text whose markup has been taken away.

    Blank lines and record separators part paragraphs, single line breaks do not; what is left of
    broken markup and of templates that showed nothing (`( ; )`, ` ,`) is mended.
    """
    text = _LEFTOVER.sub("", text)
    text = _THUMB.sub("", text).replace("\r", "\n")
    lines = []
    for block in re.split(r"\n[ \t]*\n|\x1e|\n(?=[*#:;|!])", text):
        line = _BLANK.sub(" ", block.replace("\n", " ")).strip(" *#:;|")
        for _ in range(2):
            line = _HOLLOW.sub("", line)
        line = _SPACE_BEFORE.sub("", _DANGLING.sub("", line))
        line = _BLANK.sub(" ", line).replace("( ", "(").strip()
        if not _NO_TEXT.fullmatch(line):
            lines.append(line)
    return "\n".join(lines)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_HEADING = re.compile(r"^(={1,6})[ \t]*([^\n]*?)[ \t]*\1[ \t]*$", re.MULTILINE)
_REF_OPEN = re.compile(r"<ref\b[^<>]*?(/?)>", re.IGNORECASE)
_REF_CLOSE = re.compile(r"</ref\s*>", re.IGNORECASE)
_EXTERNAL = re.compile(r"\[(?:https?:)?//[^\s\]]*[ \t]?([^\[\]\n]*)\]", re.IGNORECASE)
_LINK = re.compile(r"\[\[([^\[\]]*)\]\]")
_NESTING = re.compile(r"\{\{|\}\}|\{\||\|\}")


def strip_plain(text: str) -> Plain:
    """The markup taken apart by a few linear passes: less exact, never slow."""
    text = _COMMENT.sub("", text)
    cited: list[str] = []
    text = _cut_references(text, cited)
    text = _cut_nested(text)
    for _ in range(2):  # a link within a caption
        text = _LINK.sub(_link_text, text)
    text = html.unescape(_EXTERNAL.sub(r"\1", text))
    sections = []
    title, level, start = "", 1, 0
    for match in [*_HEADING.finditer(text), None]:
        body = text[start : match.start() if match else len(text)]
        sections.append((title, level, clean(body)))
        if match:
            title, level, start = clean(match[2]), len(match[1]), match.end()
    return Plain(sections, cited, [])


def _cut_references(text: str, cited: list[str]) -> str:
    out = []
    place = 0
    for opened in _REF_OPEN.finditer(text):
        if opened.start() < place:
            continue
        out.append(text[place : opened.start()])
        place = opened.end()
        if not opened[1]:
            window = text[place : place + 10_000]
            closed = _REF_CLOSE.search(window)
            if closed:
                cited.extend(u.rstrip(".,;:'") for u in _URL.findall(window[: closed.start()]))
                place += closed.end()
    return "".join([*out, text[place:]])


def _cut_nested(text: str) -> str:
    """Without templates and tables; what an unclosed one would swallow is kept."""
    out: list[str] = []
    place = depth = 0
    for match in _NESTING.finditer(text):
        if match[0] in ("{{", "{|"):
            if depth == 0:
                out.append(text[place : match.start()])
                place = match.end()
            depth += 1
        elif depth:
            depth -= 1
            if depth == 0:
                place = match.end()
    return "".join([*out, text[place:]])


def _link_text(match: re.Match[str]) -> str:
    if _LINK_PREFIX.match(match[1]):
        return ""
    return match[1].rpartition("|")[2].lstrip(":")
