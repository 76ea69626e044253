"""Wiki markup -> text by section, cited URLs, categories: a walk over mwparserfromhell's tree."""

import html
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import mwparserfromhell
from mwparserfromhell import nodes

from wikisum.crawl.wikipedia.expand import Expander, Unexpandable
from wikisum.crawl.wikipedia.formulas import formula_text
from wikisum.crawl.wikipedia.marks import APOSTROPHE, HOLE, ITEM, NOTHING, SPLIT
from wikisum.crawl.wikipedia.mend import clean
from wikisum.crawl.wikipedia.site import ENGLISH, Site, hidden_link
from wikisum.crawl.wikipedia.templates.places import coordinates
from wikisum.crawl.wikipedia.templates.rules import Call, first, joined
from wikisum.crawl.wikipedia.templates.silent import is_silent
from wikisum.crawl.wikipedia.templates.table import TABLE, template_text

MAX_CONTEXT_NODES = 20
_MARKS = re.compile("[\x00-\x08\x0e-\x1b]")
URL = re.compile(r"https?://[^\s<>\[\]{}|\"]+", re.IGNORECASE)
_CITATION = re.compile(
    r"(cite|citation|vcite|cit|wayback|webarchive|harvard reference|internetquelle|literatur|"
    r"lien web|ouvrage)\b|cita |.*\bcitation$"
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
_BLOCK_TAGS = frozenset(("p", "div", "blockquote", "li", "center", "poem"))
_BLOCK_TEMPLATES = frozenset((
    "quote", "blockquote", "cquote", "rquote", "quotation", "bquote", "zitat", "poemquote",
    "citation bloc", "bq", "block quote",
))  # fmt: skip
_INTERWIKI = re.compile(r"[a-z]{2,3}(-[a-z\-]+)?\s*:\s*\S", re.IGNORECASE)
_IMAGE_OPTION = re.compile(
    r"\s*(?:thumb(?:nail)?|mini(?:atur)?|hochkant|frame(?:less|d)?|vignette|upright|left|right|"
    r"miniaturadeimagen|мини(?:атюра)?|サムネイル|섬네일|ממוזער|تصغير|мини|\d*\s*x?\s*\d+\s*(?:px|пкс))"
    r"\s*[|=]",
    re.IGNORECASE,
)
# Templates that show a number from data that a dump need not hold (German Wikipedia).
_NUMBER_DATA = re.compile(
    r"\{\{\s*(?:metadaten[ _](?:einwohnerzahl|fläche)|fldez|ewz|ewd|ewr)\b", re.IGNORECASE
)
_UNKNOWN_NUMBER = "…"
# Templates without text, except where they take the place of a word: "is located at {{coord|...}}".
_AS_WORDS = {
    "coord": coordinates, "ipa": first, "api": joined(""), "msapi": joined(""),
}  # fmt: skip
_INVISIBLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
EXTERNAL_SECTIONS = frozenset((
    "external links", "external link", "weblinks", "links", "liens externes", "enlaces externos",
    "外部リンク", "ссылки",
))  # fmt: skip


class Plain(NamedTuple):
    """Markup taken apart: (title, level, text) from the lead on, and what stood between.

    `cited` are URLs as they stand; `unknown` counts the templates inside sentences that the
    table of templates does not know.
    """

    sections: list[tuple[str, int, str]]
    cited: list[str]
    categories: list[str]
    unknown: dict[str, int]


def parse_plain(
    text: str,
    site: Site = ENGLISH,
    templates: Mapping[str, str] | None = None,
    title: str = "",
) -> Plain:
    """Return the markup taken apart. May take minutes: call it through a `KillableCall`.

    `templates` holds the bodies of templates by their name; they are expanded where they are used.
    """
    reader = Reader(site, Expander(templates or {}, title, site.language), title)
    reader.walk(_parse(_MARKS.sub("", text)))
    return reader.plain()


def _parse(text: str) -> Any:
    return mwparserfromhell.parse(text, skip_style_tags=True)


class Reader:
    """Walks a parse tree once, gathering text by section and URLs by place."""

    def __init__(self, site: Site, expander: Expander, title: str) -> None:
        self._site = site
        self._hidden = hidden_link(site.hidden)
        self._category = hidden_link(site.categories)
        self._expander = expander
        self._title = title
        self._sections: list[tuple[str, int, list[str]]] = [("", 1, [])]
        self._cited: list[str] = []
        self._categories: list[str] = []
        self._unknown: Counter[str] = Counter()
        self._in_external = False

    def plain(self) -> Plain:
        """Return what was gathered."""
        sections = [(title, level, clean("".join(out))) for title, level, out in self._sections]
        return Plain(sections, self._cited, self._categories, dict(self._unknown))

    def walk(self, code: Any, silent: bool = False, in_ref: bool = False) -> None:
        """Read the nodes in order. In `silent` markup only URLs and categories count."""
        for index, node in enumerate(code.nodes):
            if isinstance(node, nodes.Text):
                if in_ref:
                    self._cite_all(URL.findall(str(node)))
                self._write(str(node), silent)
            elif isinstance(node, nodes.Wikilink):
                self._link(node, silent, in_ref)
            elif isinstance(node, nodes.ExternalLink):
                self._external_link(node, silent, in_ref)
            elif isinstance(node, nodes.Tag) and str(node.tag).strip().lower() == "math":
                self._formula(node, silent, (code.nodes, index))
            elif isinstance(node, nodes.Tag):
                self._tag(node, silent, in_ref)
            elif isinstance(node, nodes.Template):
                self._template(node, silent, in_ref, (code.nodes, index))
            elif isinstance(node, nodes.Heading) and not silent:
                self._heading(node)
            elif isinstance(node, nodes.HTMLEntity):
                character = node.normalize() or ""
                self._write(APOSTROPHE if character == "'" else character, silent)
            elif isinstance(node, nodes.Argument) and node.default is not None:
                self.walk(node.default, silent, in_ref)

    def _write(self, text: str, silent: bool) -> None:
        if not silent:
            self._sections[-1][2].append(text)

    def _cite_all(self, urls: list[str]) -> None:
        if not self._in_external:
            self._cited.extend(url.rstrip(".,;:'") for url in urls)

    def _heading(self, node: nodes.Heading) -> None:
        title = clean(self.text_of(node.title)).replace("\n", " ")
        self._sections.append((title, node.level, []))
        if node.level <= 2:
            self._in_external = title.lower() in EXTERNAL_SECTIONS

    def _link(self, node: nodes.Wikilink, silent: bool, in_ref: bool) -> None:
        target = str(node.title).strip()
        if (match := self._category.match(target)) and not target.startswith(":"):
            self._categories.append(" ".join(match[1].replace("_", " ").split()))
        is_hidden = not target.startswith(":") and (
            self._hidden.match(target)
            or (node.text is not None and _IMAGE_OPTION.match(str(node.text)))
        )
        if is_hidden or silent:
            if node.text is not None:  # captions hold references too
                self.walk(node.text, silent=True, in_ref=in_ref)
            if is_hidden:
                self._write(HOLE, silent)
        elif _INTERWIKI.match(target) and node.text is None:
            return
        elif node.text is not None:
            self.walk(node.text, silent, in_ref)
        else:
            self._write(target.lstrip(":").partition("#")[0] or target.lstrip("#"), silent)

    def _external_link(self, node: nodes.ExternalLink, silent: bool, in_ref: bool) -> None:
        if in_ref:
            self._cite_all([str(node.url)])
        if node.title is not None:
            self.walk(node.title, silent, in_ref)
        elif not node.brackets:
            self._write(str(node.url), silent)

    def _tag(self, node: nodes.Tag, silent: bool, in_ref: bool) -> None:
        name = str(node.tag).strip().lower()
        if node.wiki_markup in ("*", "#", ":", ";"):
            self._write(ITEM, silent)
        elif node.wiki_markup == "----":
            self._write(SPLIT, silent)
        elif name in ("br", "hr"):
            self._write(" ", silent)
        elif name == "ref":
            if node.contents is not None:
                self.walk(node.contents, silent=True, in_ref=True)
        elif name == "nowiki":
            self._write(str(node.contents or "").replace("'", APOSTROPHE) or NOTHING, silent)
        elif node.contents is not None:
            edge = SPLIT if name in _BLOCK_TAGS else ""
            self._write(edge, silent)
            self.walk(node.contents, silent or _is_unread(node, name), in_ref)
            self._write(edge, silent)

    def _formula(self, node: nodes.Tag, silent: bool, place: tuple[list[Any], int]) -> None:
        """Write a formula that is part of a sentence; others stand on lines of their own."""
        text = None
        if not silent and stands_in_sentence(*place):
            text = formula_text(html.unescape(str(node.contents or "")))
        self._write(text or HOLE, silent)

    def _template(
        self, node: nodes.Template, silent: bool, in_ref: bool, place: tuple[list[Any], int]
    ) -> None:
        name = template_name(str(node.name))
        if self._expander.is_active:
            name = template_name(self._expander.resolve(str(node.name)))
        is_quotation = name == "citation" and node.has("1") and not node.has("title")
        if (_CITATION.match(name) and not is_quotation) or (in_ref and node.has("url")):
            self._cite_template(node)
            return
        for parameter in node.params:
            self.walk(parameter.value, silent=True, in_ref=in_ref)
        if not silent:
            text = self._template_text(node, name, place)
            if not text.strip(HOLE) and _NUMBER_DATA.search(str(node)):
                text = _UNKNOWN_NUMBER if stands_in_sentence(*place) else ""
            edge = SPLIT if name in _BLOCK_TEMPLATES else ""
            self._write(f"{edge}{text}{edge}" if text.strip(SPLIT) else HOLE, silent)

    def _template_text(
        self, node: nodes.Template, name: str, place: tuple[list[Any], int] | None
    ) -> str:
        """What a template shows: by its body in the dump, by a parser function, by the table."""
        if (expanded := self._expanded(node, name)) is not None:
            return self.text_of(_parse(expanded))
        as_word = _AS_WORDS.get(name) if place and _is_behind_word(*place) else None
        if as_word is None and (
            _NUMBER_DATA.match(str(node))
            or (name not in TABLE and is_silent(name, bool(node.params)))
        ):
            return ""
        named: dict[str, str] = {}
        values: dict[str, str] = {}
        for parameter in node.params:
            key = str(parameter.name).strip()
            (values if key.isdecimal() else named)[key.lower()] = self.text_of(
                parameter.value
            ).strip()
        call = Call(name, _positional(values), named, self._site.language)
        if as_word is not None:
            return as_word(call)
        shown = template_text(call)
        if shown.is_known:
            return shown.text
        inside = place is not None and stands_in_sentence(*place)
        if inside:
            self._unknown[name] += 1
        return shown.text if inside and not _is_glued(*(place or ([], 0))) else ""

    def _expanded(self, node: nodes.Template, name: str) -> str | None:
        """The markup behind a parser function or a template whose body the dump holds."""
        is_function = ":" in name
        if not is_function and not self._expander.has(str(node.name)):
            return None
        source = str(node)
        is_unread = name not in TABLE and is_silent(name, bool(node.params)) and name[:1] != "#"
        if is_unread and not _NUMBER_DATA.match(source):
            return None
        try:
            expanded = self._expander.expand(source)
        except Unexpandable:
            return None
        return expanded if expanded != source else None

    def text_of(self, code: Any) -> str:
        """Return the text of a piece of markup, without sections or citations."""
        if len(code.nodes) == 1 and isinstance(code.nodes[0], nodes.Text):
            return str(code.nodes[0])
        reader = Reader(self._site, self._expander, self._title)
        reader.walk(code)
        self._unknown.update(reader._unknown)
        return "".join("".join(out) for _, _, out in reader._sections)

    def _cite_template(self, node: nodes.Template) -> None:
        urls: list[str] = []
        for names in (_URL_PARAMETERS, _ARCHIVE_PARAMETERS):
            for name in names:
                if not urls and node.has(name):
                    urls = URL.findall(html.unescape(str(node.get(name).value)))[:1]
        if not urls and node.has("url") and (value := str(node.get("url").value).strip()):
            urls = [value] if " " not in value else []
        self._cite_all(urls)


def _is_unread(node: nodes.Tag, name: str) -> bool:
    if name in _NO_PROSE:
        return True
    return any(
        _INVISIBLE.search(str(a.value)) for a in node.attributes if str(a.name).strip() == "style"
    )


def template_name(name: str) -> str:
    """Return a template's name in lower case, without comments and with single spaces."""
    if "<" in name:
        name = re.sub(r"<!--.*?-->", "", name, flags=re.DOTALL)
    return " ".join(name.replace("_", " ").lower().split())


def _positional(values: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    while (value := values.get(str(len(found) + 1))) is not None:
        found.append(value)
    return found


def stands_in_sentence(siblings: list[Any], index: int) -> bool:
    """Whether prose stands beside a template on its source line.

    Text before it on the line is enough; text after it must be set off by a space, or else the
    template is a banner at the start of a paragraph.
    """
    for previous in range(index - 1, max(-1, index - 1 - MAX_CONTEXT_NODES), -1):
        node = siblings[previous]
        if isinstance(node, nodes.Text):
            _, newline, tail = str(node).rpartition("\n")
            if tail.strip(" '"):
                return True
            if newline:
                break
        elif isinstance(node, nodes.Tag) and node.wiki_markup:
            break
        elif not isinstance(node, nodes.Template | nodes.Comment | nodes.Tag):
            return True
    following = siblings[index + 1] if index + 1 < len(siblings) else ""
    head = str(following).partition("\n")[0] if isinstance(following, nodes.Text) else ""
    return head[:1] in (" ", ",") and bool(head.strip(" .,;:"))


def _is_behind_word(siblings: list[Any], index: int) -> bool:
    """Whether a word and a space stand before a template, and no parenthesis is open."""
    before = str(siblings[index - 1]) if index else ""
    return bool(re.search(r"\w $", before[-2:])) and before.rfind("(") <= before.rfind(")")


def _is_glued(siblings: list[Any], index: int) -> bool:
    """Whether a template stands right behind a word or a full stop, as footnotes do."""
    before = str(siblings[index - 1]) if index else ""
    return bool(re.search(r"[\w.,;:)\]”\"']$", before[-3:]))
