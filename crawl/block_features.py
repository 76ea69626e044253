"""What tells main text from furniture: a page's blocks as rows of numbers.

Lengths, links and punctuation of a block, of its neighbours and of the elements around it, its
place in the page, and the tags and class names above it.
"""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawl.blocks import BIT_COUNT, HINTS, TAG_BITS, Blocks

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

LEVELS = 6  # elements above a block that are looked at
SHORT_CHARS = 25
LONG_CHARS = 200
PROSE_CHARS = 60
BLOCK_TAGS = (
    "p", "div", "li", "td", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "figcaption",
    "dd", "dt", "section", "article", "body", "tr", "th", "figure", "address", "center",
)  # fmt: skip
_TAG_INDEX = {tag: i for i, tag in enumerate(BLOCK_TAGS)}
_P, _H1, _H6 = _TAG_INDEX["p"], _TAG_INDEX["h1"], _TAG_INDEX["h6"]
_STOPS = frozenset(".!?…。！？؟।")
_ENDS = _STOPS | frozenset("\"”’»):;'")
_BARS = frozenset("|•·»/")
_DIGITS = frozenset("0123456789")
_OPENING = re.compile(
    r"(?P<furniture>share|read (?:more|next|the)|more (?:from|on|in|stories)|advert|subscribe"
    r"|sign (?:up|in)|log ?in|follow (?:us|me)|copyright|©|all rights|comments?\b|tags?\b|filed"
    r"|posted|published|updated|(?:also|see|related|recommended|popular|latest|trending"
    r"|top stories|you (?:may|might))\b|continue|click|loading|skip|reply|report|print|e-?mail"
    r"|tweet|facebook|twitter|whatsapp|sponsored|save|download)"
    r"|(?P<caption>photo|image|credit|source|picture|video|watch|figure|getty|by [A-Z])"
    r"|(?P<date>[A-Z][a-z]{2,8}\.? \d{1,2},? \d{4}|\d{1,2}[ ./-]\w{2,9}[ ./-]\d{2,4}"
    r"|\d{1,2} (?:hours|days|min))",
    re.IGNORECASE,
)
_NEIGHBOURS = (-1, 1)
_SAME = ("heading", "p", "same_tag", "same_parent")
_OF_NEIGHBOURS = ("log_chars", "link_density", "stop", "log_prose", "furniture")
OWN = (
    "log_chars", "link_density", "log_links", "word_length", "commas", "comma_density",
    "sentences", "stop", "end", "upper", "lower", "furniture", "caption", "date", "title", "bars",
    "digits", "log_prose", "short", "long",
)  # fmt: skip
PLACE = (
    "place", "char_place", "prose_place", "before_prose", "after_prose", "after_heading",
    "heading_distance", "no_heading",
)  # fmt: skip
ABOVE = (
    "log_chars", "share", "prose_share", "link_density", "log_blocks", "prose_density",
    "mean_chars", "stops",
)  # fmt: skip
CENTRE = ("inside", "distance")


class Features(NamedTuple):
    """`numbers` (features x blocks), named by NUMBER_NAMES.

    `above` (blocks x bits) is 1 where an element above the block has the tag or hint;
    `rarity` (bits) is the share of the page's prose that is not below such an element.
    """

    numbers: Floats
    above: Floats
    rarity: Floats
    chars: Floats
    link_density: Floats


NUMBER_NAMES = (
    *OWN,
    *(f"tag_{tag}" for tag in (*BLOCK_TAGS, "other")),
    *PLACE,
    *(f"above{level}_{name}" for level in range(LEVELS) for name in ABOVE),
    *(f"centre{level}_{name}" for level in range(3) for name in CENTRE),
    "centre_place", "centre_prose_share", "candidate0", "candidate1", "candidate2",
    *(f"next{k}_{n}" for k in _NEIGHBOURS for n in (*_OF_NEIGHBOURS, *_SAME)),
)  # fmt: skip
BIT_NAMES = (*TAG_BITS, *(f"hint_{name}" for name in HINTS))


def features(page: Blocks) -> Features:
    """The features of all blocks of a page that has at least one."""
    rows = _Rows(page)
    rows.own()
    rows.place()
    rows.elements_above()
    rows.centre()
    rows.neighbours()
    return Features(
        np.array(rows.rows),
        rows.above.astype(np.float64),
        rows.rarity(),
        rows.chars,
        rows.density,
    )


class _Rows:
    """Gathers the rows of `numbers`, in the order of NUMBER_NAMES."""

    def __init__(self, page: Blocks) -> None:
        self.rows: list[Floats] = []
        self.count = len(page.blocks)
        self.elements = np.array([b.element for b in page.blocks])
        self.parents = np.array(page.parents)
        self.starts = np.array(page.starts)
        self.ends = np.array(page.ends)
        self.tags = np.array([_TAG_INDEX.get(page.tags[e], len(BLOCK_TAGS)) for e in self.elements])
        self.columns = np.array(_own_numbers(page), dtype=np.float64).T
        self.above = _bits_above(page)[self.elements]
        self.levels = [self.elements]
        for _ in range(LEVELS - 1):
            self.levels.append(np.maximum(self.parents[self.levels[-1]], 0))

    def inside(self, per_block: Floats) -> Floats:
        """For each element, the sum over the blocks inside it."""
        sums = np.concatenate(([0.0], np.cumsum(per_block)))
        return np.asarray(sums[self.ends] - sums[self.starts])

    def own(self) -> None:
        chars, links, link_count, words, commas, sentences = self.columns[:6]
        stop, end, upper, lower, furniture, caption, date, title, bars, digits, is_ascii = (
            self.columns[6:]
        )
        # scripts without spaces say more per character
        width = 1 + 1.5 * (1 - is_ascii) * (words < chars / 15)
        self.chars = chars = chars * width
        self.link_chars = links * width
        density = np.minimum(self.link_chars / np.maximum(chars, 1), 1)
        self.density, self.stop = density, stop
        self.prose = (
            chars * (1 - density) * (chars > PROSE_CHARS) * (0.3 + 0.7 * stop)
            * (0.3 + 0.7 * np.minimum(1, (commas + sentences) / 2))
        )  # fmt: skip
        self.all_chars = max(float(chars.sum()), 1.0)
        self.all_prose = max(float(self.prose.sum()), 1.0)
        self.rows += [
            np.log1p(chars), density, np.log1p(link_count), chars / words / 10,
            np.minimum(commas, 10) / 10, commas / chars * 50, np.minimum(sentences, 8) / 8, stop,
            end, upper, lower, furniture, caption, date, title, bars, digits / chars,
            np.log1p(self.prose), (chars < SHORT_CHARS) * 1.0, (chars > LONG_CHARS) * 1.0,
        ]  # fmt: skip
        self.named = dict(zip(OWN, self.rows, strict=True))
        self.rows += list((self.tags == np.arange(len(BLOCK_TAGS) + 1)[:, None]) * 1.0)

    def place(self) -> None:
        index = np.arange(self.count)
        before = np.cumsum(self.prose)
        headings = np.flatnonzero((self.named["title"] > 0) | (self.tags == _H1))
        distance = index - headings[0] if len(headings) else np.zeros(self.count)
        self.rows += [
            (index + 0.5) / self.count,
            (np.cumsum(self.chars) - self.chars / 2) / self.all_chars,
            (before - self.prose / 2) / self.all_prose,
            (before - self.prose <= 0) * 1.0,
            (self.all_prose - before <= 1e-6) * 1.0,
            (distance > 0) * 1.0,
            _signed_log(distance),
            np.full(self.count, float(not len(headings))),
        ]

    def elements_above(self) -> None:
        chars = self.inside(self.chars)
        links = self.inside(self.link_chars)
        prose = self.inside(self.prose)
        blocks = self.inside(np.ones(self.count))
        stops = self.inside(self.stop * (self.chars > 40))
        chars1, blocks1 = np.maximum(chars, 1), np.maximum(blocks, 1)
        self.link_share = links / chars1
        of_elements = np.array([
            np.log1p(chars), chars / self.all_chars, prose / self.all_prose, self.link_share,
            np.log1p(blocks), prose / chars1, np.log1p(chars / blocks1), stops / blocks1,
        ])  # fmt: skip
        for level in self.levels:
            self.rows += list(of_elements[:, level])

    def centre(self) -> None:
        """Place by the element whose children hold most prose, and how near others come to it."""
        score = np.zeros(len(self.parents))
        for level, weight in ((0, np.where(self.tags == _P, 0.3, 1.0)), (1, 1.0), (2, 0.5)):
            score += np.bincount(self.levels[level], self.prose * weight, len(score))
        score *= 1 - self.link_share
        centre = best = int(np.argmax(score))
        index = np.arange(self.count)
        for _ in range(3):
            start, end = self.starts[centre], self.ends[centre]
            is_inside = (index >= start) & (index < end)
            distance = np.where(index < start, index - start, np.maximum(index - end + 1, 0))
            self.rows += [is_inside * 1.0, _signed_log(np.where(is_inside, 0, distance))]
            centre = max(int(self.parents[centre]), 0)
        start, end = self.starts[best], self.ends[best]
        is_inside = (index >= start) & (index < end)
        share = self.prose[start:end].sum() / self.all_prose
        self.rows += [
            np.where(is_inside, (index - start + 0.5) / max(1, end - start), 0.0),
            np.full(self.count, share),
            *(score[level] / max(score[best], 1e-9) for level in self.levels[:3]),
        ]

    def neighbours(self) -> None:
        rows = [self.named[name] for name in _OF_NEIGHBOURS]
        rows.append(((self.tags >= _H1) & (self.tags <= _H6)) * 1.0)
        rows.append((self.tags == _P) * 1.0)
        values = np.array(rows)
        same = np.array([self.tags, self.parents[self.elements]])
        for k in _NEIGHBOURS:
            moved = np.zeros_like(values)
            is_same = np.zeros((2, self.count))
            if self.count > 1:
                to, source = (
                    (slice(1, None), slice(0, -1)) if k < 0 else (slice(0, -1), slice(1, None))
                )
                moved[:, to] = values[:, source]
                is_same[:, to] = same[:, to] == same[:, source]
            self.rows += [*moved, *is_same]

    def rarity(self) -> Floats:
        if self.prose.any():
            return np.asarray(1 - self.prose @ self.above / self.prose.sum())
        return np.asarray(1 - self.above.mean(axis=0))


def _signed_log(distance: NDArray[np.generic]) -> Floats:
    values = np.asarray(distance, dtype=np.float64)
    return np.asarray(np.sign(values) * np.log1p(np.abs(values)))


def _bits_above(page: Blocks) -> Ints:
    """For each element, 0 or 1 for each bit that it or an element above it has."""
    bits = list(page.bits)
    for i in range(1, len(bits)):
        bits[i] |= bits[page.parents[i]]
    return (np.array(bits, dtype=np.int64)[:, None] >> np.arange(BIT_COUNT)) & 1


def _own_numbers(page: Blocks) -> list[tuple[float, ...]]:
    title = page.title.lower()
    rows: list[tuple[float, ...]] = []
    for text, link_chars, link_count, _ in page.blocks:
        length = len(text)
        furniture = caption = date = is_title = bars = digits = 0
        if length < LONG_CHARS:
            if match := _OPENING.match(text):
                kind = match.lastgroup
                furniture, caption, date = kind == "furniture", kind == "caption", kind == "date"
            if length > 8 and title:
                lower = text.lower()
                is_title = lower in title or (length < 2 * len(title) and title in lower)
            bars = not _BARS.isdisjoint(text)
            if not _DIGITS.isdisjoint(text):
                digits = sum(map(text.count, _DIGITS))
        commas, sentences = text.count(","), text.count(". ") + text.count("? ") + text.count("! ")
        is_ascii = text.isascii()
        if not is_ascii:
            commas += text.count("、") + text.count("，")
            sentences += text.count("。")
        first, last = text[0], text[-1]
        rows.append((
            length, link_chars, link_count, text.count(" ") + 1, commas, sentences,
            last in _STOPS, last in _ENDS, first.isupper(), first.islower(), furniture, caption,
            date, is_title, bars, digits, is_ascii,
        ))  # fmt: skip
    return rows
