"""What a model learns to write for an example: its lead, or the whole article. Knows no torch.

A whole article is one sequence of subwords: the lead, then the sections. A section begins with
END_OF_PARAGRAPH, once for `== Heading ==`, twice for `=== Heading ===` and so on. Its heading,
END_OF_TITLE and its text follow. So sections can be read back, and no subword is added to the
vocabulary.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from wikisum.ranker.data.vocab import END_OF_PARAGRAPH, END_OF_TITLE

MAX_MARKS = 5  # for a heading of level 6
_MARKED = re.compile(r"(={2,6})\s*(.*?)\s*=*")

Encode = Callable[[list[str]], list[list[int]]]


class Heading(NamedTuple):
    """The heading of a section; `level` counts the equals signs before it in wiki markup."""

    title: str
    level: int = 2


class SectionIds(NamedTuple):
    """A section as subwords."""

    level: int
    title: list[int]
    text: list[int]


def parse_headings(text: str, separator: str = ";") -> list[Heading]:
    """Return the headings in a text.

    `=== Name ===` is one of level 3; without equals signs the level is 2. Raises ValueError if
    there is none.

    >>> parse_headings("History; === Early years ===")
    [Heading(title='History', level=2), Heading(title='Early years', level=3)]
    """
    found = []
    for part in filter(None, (p.strip() for p in text.split(separator))):
        marked = _MARKED.fullmatch(part)
        heading = Heading(marked[2], len(marked[1])) if marked else Heading(part)
        if heading.title:
            found.append(heading)
    if not found:
        raise ValueError(f"no heading in {text!r}")
    return found


def heading_ids(title: Sequence[int], level: int) -> list[int]:
    """Return the subwords that begin a section: marks, heading and END_OF_TITLE."""
    marks = min(max(level - 1, 1), MAX_MARKS)
    return [*[END_OF_PARAGRAPH] * marks, *title, END_OF_TITLE]


def article_ids(
    lead: Sequence[int], sections: Iterable[tuple[Heading, str]], encode: Encode, max_tokens: int
) -> list[int]:
    """Return the subwords of an article, at most `max_tokens`; no heading is cut."""
    ids = list(lead)
    for heading, text in sections:
        title, body = encode([heading.title, text])
        begin = heading_ids(title, heading.level)
        if len(ids) + len(begin) > max_tokens:
            break
        ids += [*begin, *body]
    return ids[:max_tokens]


def split_article(ids: Sequence[int]) -> tuple[list[int], list[SectionIds]]:
    """Return the lead and the sections of an article; an unfinished heading at its end is dropped.

    This inverts `article_ids`.
    """
    left = iter(ids)
    lead = list(_until(END_OF_PARAGRAPH, left))
    sections, level = [], 2
    rest = list(left)
    while END_OF_TITLE in rest:
        marks = len(list(takewhile(lambda i: i == END_OF_PARAGRAPH, rest)))
        left = iter(rest[marks:])
        title = list(_until(END_OF_TITLE, left))
        text = list(_until(END_OF_PARAGRAPH, left))
        sections.append(SectionIds(level + marks, title, text))
        rest = list(left)
    return lead, sections


def _until(end: int, ids: Iterator[int]) -> Iterator[int]:
    """Yield the ids before `end`, which is consumed."""
    return takewhile(lambda i: i != end, ids)
