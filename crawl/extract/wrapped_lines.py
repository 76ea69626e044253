"""Join the lines of plain text into paragraphs.

Plain text and the text of WET files break lines where the source did: in the middle of sentences,
at a fixed width, or at inline tags.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from wikisum.crawl.whitespace import normalize_whitespace

MIN_BROKEN_CHARS = 30  # of a line that the next one may continue
MAX_WIDTH = 100  # of text that is broken at a fixed width
MIN_FULL_SHARE = 0.6  # of the width, for all lines of a paragraph but its last
_OPEN_END = re.compile(r"[\w,\"'”’»)–-]")
_CONTINUATION = re.compile(r"[\"'“‘«(]?[^\W\d_A-Z]")


def join_wrapped_lines(text: str) -> list[str]:
    """Return the paragraphs of plain text, white space normalized.

    A line that begins in lower case continues the one before it if that does not end a sentence.
    Lines between blank lines are one paragraph if they are broken at a fixed width.

        >>> join_wrapped_lines("The bridge over the river Tavin was\\nbuilt of iron.\\nHome")
        ['The bridge over the river Tavin was built of iron.', 'Home']
    """
    lines = [normalize_whitespace(line) for line in text.splitlines()]
    paragraphs: list[str] = []
    for is_text, group in groupby(lines, bool):
        if is_text:
            block = list(group)
            paragraphs.extend(block if len(block) == 1 else _paragraphs(block))
    return paragraphs


def _paragraphs(block: list[str]) -> Iterator[str]:
    if _has_fixed_width(block):
        yield " ".join(block)
        return
    joined = block[:1]
    for before, line in pairwise(block):
        if _continues(before, line):
            joined.append(line)
        else:
            yield " ".join(joined)
            joined = [line]
    yield " ".join(joined)


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
