"""Convert HTML to the plain text that Common Crawl's WET files have of the same page.

    python -m benchmarks.wet_text PAGE.html

The rules are those of Common Crawl's converter (`ExtractingParseObserver` of ia-web-commons):
block elements begin and end lines, some inline elements separate words, everything else joins
them; scripts and styles are left out; menus, footers and notices stay.
"""

import argparse
from html.parser import HTMLParser
from pathlib import Path

from wikisum.crawl.extract.charset import to_utf8

_BLOCK_TAGS = """address article aside blockquote body br button canvas caption col colgroup dd
div dl dt embed fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li map
noscript object ol output p pre progress section table tbody textarea tfoot th thead title tr ul
video"""
_SPACING_TAGS = """cite details datalist iframe img input label legend optgroup q select summary td
time"""
BLOCKS = frozenset(_BLOCK_TAGS.split())
SPACING = frozenset(_SPACING_TAGS.split())
CODE = frozenset(("script", "style"))


class _Writer(HTMLParser):
    """Collects the lines of a page from its tags, without building a tree."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line: list[str] = []
        self._in_code = False
        self._in_pre = False

    def end_line(self) -> None:
        line = "".join(self._line)
        self._line.clear()
        parts = line.split("\n") if self._in_pre else [line]
        self.lines.extend(filter(None, (" ".join(part.split()) for part in parts)))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)
        self._in_code |= tag in CODE
        self._in_pre |= tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._separate(tag)

    def handle_endtag(self, tag: str) -> None:
        self._separate(tag)
        if tag in CODE:
            self._in_code = False
        if tag == "pre":
            self._in_pre = False

    def handle_data(self, data: str) -> None:
        if not self._in_code:
            self._line.append(data)

    def _separate(self, tag: str) -> None:
        if tag in BLOCKS:
            self.end_line()
        elif tag in SPACING:
            self._line.append(" ")


def wet_text(html: str) -> str:
    """Return the lines of text of a page, none of them empty.

    >>> wet_text("<title>Iron</title><p>A <b>b</b>ridge<td>of<td>iron<br>Home")
    'Iron\\nA bridge of iron\\nHome'
    """
    writer = _Writer()
    writer.feed(html)
    writer.close()
    writer.end_line()
    return "\n".join(writer.lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("page", type=Path)
    print(wet_text(to_utf8(parser.parse_args().page.read_bytes(), None).decode()))


if __name__ == "__main__":
    main()
