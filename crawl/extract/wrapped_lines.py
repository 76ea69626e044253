"""Join the lines of plain text into paragraphs.

Plain text and the text of WET files break lines where the source did: in the middle of sentences,
at a fixed width, or at inline tags.
"""

import html
import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from wikisum.crawl.whitespace import normalize_whitespace

MIN_BROKEN_CHARS = 30  # of a line that the next one may continue
MAX_WIDTH = 100  # of text that is broken at a fixed width
MIN_JOINED = 3  # lines of a paragraph that show that its text is wrapped
MIN_FULL_SHARE = 0.6  # of the width, for all lines of a paragraph but its last
_CLOSERS = '"”’»)'
_OPEN_END = re.compile(r"[\w,\"'”’»)–-]")
# A line that ends with one of these words is broken.
_OPEN_WORDS = frozenset(
    (
        "the", "a", "an", "of", "and", "or", "to", "in", "on", "at", "by", "for", "with", "from",
        "that", "was", "were", "is", "are", "as", "has", "had", "his", "her", "their", "its",
        "der", "die", "das", "und", "von", "de", "la", "el", "y", "et",
    )
)  # fmt: skip
_SHOWN_PARAGRAPH = re.compile(r"\s*<p(?: [^<>]*)?>(.*)</p>\s*")  # the source shows its tags as text
_SHOWN_TAG = re.compile(r"</?(?:a|b|br|em|i|p|span|strong|sub|sup|u)\b[^<>]*>")
_PAGE_NUMBER = re.compile(r"--? ?\d{1,4} ?--?|\[?(?:page|pg\.?|p\.) \d{1,4}\]?", re.I)
MAX_PAGE_NUMBER_CHARS = 12
_CONTINUATION = re.compile(r"[\"'“‘«(]?[^\W\d_A-Z]")


def join_wrapped_lines(text: str) -> list[str]:
    """Return the paragraphs of plain text, white space normalized.

    A line that begins in lower case continues the one before it if that does not end a sentence,
    and so does any line behind one that ends in a word such as "the", or behind a full line where
    three lines are joined already. Lines between blank lines are one paragraph if they are broken
    at a fixed width. Tags around a line that the source shows as text are removed, and so are the
    page numbers of books ("--218--", "page 12"), behind which a line in lower case continues a
    sentence as well.

        >>> join_wrapped_lines("The bridge over the river Tavin was\\nbuilt of iron.\\nHome")
        ['The bridge over the river Tavin was built of iron.', 'Home']
    """
    shown = map(_without_tags, text.splitlines()) if "</p>" in text else text.splitlines()
    lines = [normalize_whitespace(line) for line in shown]
    paragraphs: list[str] = []
    is_new_page = False
    for is_text, group in groupby(lines, _is_text):
        if not is_text:
            is_new_page = any(group)  # a page number
            continue
        block = list(group)
        found = block if len(block) == 1 else list(_paragraphs(block))
        if is_new_page and paragraphs and _continues(paragraphs[-1], found[0]):
            paragraphs[-1] += " " + found.pop(0)
        paragraphs.extend(found)
    return paragraphs


def _is_text(line: str) -> bool:
    """Whether a line is neither empty nor the number of a page."""
    if len(line) > MAX_PAGE_NUMBER_CHARS:
        return True
    return line != "" and not _PAGE_NUMBER.fullmatch(line)


def _paragraphs(block: list[str]) -> Iterator[str]:
    if _has_fixed_width(block):
        yield " ".join(block)
        return
    joined = block[:1]
    for before, line in pairwise(block):
        may_continue = len(before) >= MIN_BROKEN_CHARS
        if may_continue and (_continues(before, line) or _is_broken(joined)):
            joined.append(line)
        else:
            yield " ".join(joined)
            joined = [line]
    yield " ".join(joined)


def _without_tags(line: str) -> str:
    match = _SHOWN_PARAGRAPH.fullmatch(line)
    return html.unescape(_SHOWN_TAG.sub("", match[1])) if match else line


def _is_broken(joined: list[str]) -> bool:
    """Whether the last line, not a short one, is broken, whatever the next one begins with."""
    last = joined[-1]
    if not _OPEN_END.match(last[-1]):
        return False
    if last[last.rfind(" ") + 1 :].lower() in _OPEN_WORDS:
        return True
    if len(joined) < MIN_JOINED or last[-1] in _CLOSERS:
        return False
    width = max(map(len, joined))
    return len(last) >= width * MIN_FULL_SHARE and width <= MAX_WIDTH


def _has_fixed_width(block: list[str]) -> bool:
    """Whether all lines but the last are nearly as long as the longest, and none is long."""
    width = max(map(len, block))
    is_narrow = len(block) > 2 and MIN_BROKEN_CHARS * 1.5 <= width <= MAX_WIDTH
    return is_narrow and _all_full(block[:-1], width * MIN_FULL_SHARE)


def _all_full(lines: Iterable[str], least: float) -> bool:
    return all(len(line) >= least for line in lines)


def _continues(before: str, line: str) -> bool:
    """Whether a line is the rest of a sentence that the line before it begins."""
    if len(before) < MIN_BROKEN_CHARS or line[0].isupper() or line[0].isdigit():
        return False
    match = _CONTINUATION.match(line)
    return match is not None and match[0][-1].islower() and bool(_OPEN_END.match(before[-1]))
