"""Compute the features of a page's blocks that distinguish main text from page furniture.

They are lengths, links and punctuation of a block and of the elements around it, its position in
the page, and the tags and class names above it.
"""

import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wikisum.crawl.extract.blocks import Blocks
from wikisum.crawl.extract.hints import BIT_NAMES

Floats = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]

LEVELS = 6  # elements above a block that are used
SHORT_CHARS = 25
LONG_CHARS = 200
PROSE_CHARS = 60
LEGAL_CHARS = 800
STATED_CHARS = 40  # of a block that are looked for in the stated text
MAX_SEARCHED_CHARS = 100_000_000  # of the stated text, over all blocks; half a second at most
BLOCK_TAGS = (
    "p", "div", "li", "td", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "figcaption",
    "dd", "dt", "section", "article", "body", "tr", "th", "figure", "address", "center",
)  # fmt: skip
_TAG_INDEX = {tag: i for i, tag in enumerate(BLOCK_TAGS)}
_P, _H1 = _TAG_INDEX["p"], _TAG_INDEX["h1"]
_STOPS = frozenset(".!?…。！？؟।")
_ENDS = _STOPS | frozenset("\"”’»):;'")
# Characters that are counted, by their code points below 2^16.
_CLASSES = ("other", "space", "comma", "stop", "sentence", "not_ascii")
_OTHER, _SPACE, _COMMA, _STOP, _SENTENCE, _NOT_ASCII = range(len(_CLASSES))
_CLASS_BY_CODE = np.full(1 << 16, _NOT_ASCII, np.uint8)
_CLASS_BY_CODE[:128] = _OTHER
for _characters, _class in ((" \n", _SPACE), (",、，", _COMMA), (".?!", _STOP), ("。", _SENTENCE)):
    _CLASS_BY_CODE[list(map(ord, _characters))] = _class
_OPENING = re.compile(
    r"(?P<furniture>share|read (?:more|next|the)|more (?:from|on|in|stories)|advert|subscribe"
    r"|sign (?:up|in)|log ?in|follow (?:us|me)|copyright|©|all rights|comments?\b|tags?\b|filed"
    r"|posted|published|updated|(?:also|see|related|recommended|popular|latest|trending"
    r"|top stories|you (?:may|might))\b|continue|click|loading|skip|reply|report|print|e-?mail"
    r"|tweet|facebook|twitter|whatsapp|sponsored|save|download)"
    r"|(?P<caption>photo|image|credit|source|picture|video|watch|figure|getty|by [A-Z])",
    re.IGNORECASE,
)
# The first two letters of everything that _OPENING matches.
_OPENS_WITH = frozenset((
    "sh", "re", "mo", "ad", "su", "si", "lo", "fo", "co", "al", "ta", "fi", "po", "pu", "up", "se",
    "la", "tr", "to", "yo", "cl", "sk", "e-", "em", "tw", "fa", "wh", "sp", "sa", "do", "ph", "im",
    "cr", "so", "pi", "vi", "wa", "ge", "by", "pr",
))  # fmt: skip
# Words of legal notices.
_LEGAL = (
    "©".encode(), b"copyright", b"rights reserved", b"cookie", b"privacy", b"newsletter",
    b"subscri", b"advertis", b"rechte vorbehalten", b"datenschutz",
)  # fmt: skip
OWN = (
    "log_chars", "link_density", "log_links", "word_length", "commas", "comma_density",
    "sentences", "stop", "end", "furniture", "caption", "title", "legal", "log_prose", "short",
    "long", "stated", "boxes",
)  # fmt: skip
PLACE = (
    "place", "char_place", "prose_place", "before_prose", "after_prose", "after_heading",
    "heading_distance", "no_heading", "stated_share",
)  # fmt: skip
ABOVE = (
    "log_chars", "share", "prose_share", "link_density", "log_blocks", "prose_density",
    "mean_chars", "stops",
)  # fmt: skip
CENTER = (
    *(f"center{level}_{name}" for level in range(3) for name in ("inside", "distance")),
    "center_place", "center_prose_share", "candidate0", "candidate1", "candidate2",
)  # fmt: skip
NUMBER_NAMES = (
    *OWN,
    *(f"tag_{tag}" for tag in (*BLOCK_TAGS, "other")),
    *PLACE,
    *(f"above{level}_{name}" for name in ABOVE for level in range(LEVELS)),
    *CENTER,
)  # fmt: skip


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


def features(page: Blocks) -> Features:
    """Return the features of all blocks of a page that has any."""
    rows = _Rows(page)
    rows.own()
    rows.place()
    rows.elements_above()
    rows.center()
    return Features(
        np.concatenate(rows.rows),
        rows.above,
        rows.rarity(),
        rows.chars,
        rows.density,
    )


class _Rows:
    """Collects the rows of `numbers`, in the order of NUMBER_NAMES."""

    def __init__(self, page: Blocks) -> None:
        self.page = page
        self.rows: list[NDArray[Any]] = []
        self.count = len(page.texts)
        elements = np.array(page.elements)
        self.parents = np.array(page.parents)
        self.starts = np.array(page.starts)
        self.ends = np.array(page.ends)
        self.tags = np.array([_TAG_INDEX.get(page.tags[e], len(BLOCK_TAGS)) for e in page.elements])
        bits = np.array(page.bits)[elements]
        self.above = ((bits[:, None] >> np.arange(len(BIT_NAMES))) & 1).astype(np.float64)
        above = np.maximum(self.parents, 0)
        self.levels = np.empty((LEVELS, self.count), np.int64)
        self.levels[0] = elements
        for level in range(1, LEVELS):
            self.levels[level] = above[self.levels[level - 1]]

    def inside(self, per_block: Floats) -> Floats:
        """Return for each element the sums over the blocks inside it, for each row of numbers."""
        sums = np.zeros((len(per_block), self.count + 1))
        np.cumsum(per_block, axis=1, out=sums[:, 1:])
        return np.asarray(sums[:, self.ends] - sums[:, self.starts])

    def own(self) -> None:
        lengths = np.array([len(text) for text in self.page.texts])
        count = _character_counts(self.page.texts, lengths)
        flags = _flags(self.page)
        words, commas, sentences = count[_SPACE], count[_COMMA], count[_SENTENCE]
        # scripts without spaces hold more per character
        width = 1 + 1.5 * (count[_NOT_ASCII] > 0) * (words < lengths / 15)
        self.chars = chars = lengths * width
        self.link_chars = np.array(self.page.link_chars) * width
        self.density = density = np.minimum(self.link_chars / chars, 1)
        self.stop = stop = flags[0]
        self.prose = (
            chars * (1 - density) * (chars > PROSE_CHARS) * (0.3 + 0.7 * stop)
            * (0.3 + 0.7 * np.minimum(1, (commas + sentences) / 2))
        )  # fmt: skip
        self.all_chars = float(chars.sum())
        self.all_prose = max(float(self.prose.sum()), 1.0)
        stated = _stated(self.page)
        own = [
            np.log1p(chars), density, np.log1p(self.page.link_counts), chars / words / 10,
            np.minimum(commas, 10) / 10, commas / chars * 50, np.minimum(sentences, 8) / 8,
            *flags, np.log1p(self.prose), chars < SHORT_CHARS, chars > LONG_CHARS, stated,
            np.minimum(self.page.box_counts, 3),
        ]  # fmt: skip
        self.stated_share = float(self.prose @ stated) / max(float(self.prose.sum()), 1.0)
        self.is_title = own[OWN.index("title")] > 0
        self.rows += [np.array(own), self.tags == np.arange(len(BLOCK_TAGS) + 1)[:, None]]

    def place(self) -> None:
        index = np.arange(self.count)
        before = np.cumsum(self.prose)
        headings = np.flatnonzero(self.is_title | (self.tags == _H1))
        distance = index - headings[0] if len(headings) else np.zeros(self.count)
        place = [
            (index + 0.5) / self.count,
            (np.cumsum(self.chars) - self.chars / 2) / self.all_chars,
            (before - self.prose / 2) / self.all_prose,
            before - self.prose <= 0,
            self.all_prose - before <= 1e-6,
            distance > 0,
            _signed_log(distance),
            np.full(self.count, float(not len(headings))),
            np.full(self.count, self.stated_share),
        ]
        self.rows.append(np.array(place))

    def elements_above(self) -> None:
        chars, links, prose, blocks, stops = self.inside(
            np.array([
                self.chars, self.link_chars, self.prose, np.ones(self.count),
                self.stop * (self.chars > 40),
            ])
        )  # fmt: skip
        chars1, blocks1 = np.maximum(chars, 1), np.maximum(blocks, 1)
        self.link_share = links / chars1
        of_elements = np.array([
            np.log1p(chars), chars / self.all_chars, prose / self.all_prose, self.link_share,
            np.log1p(blocks), prose / chars1, np.log1p(chars / blocks1), stops / blocks1,
        ])  # fmt: skip
        self.rows.append(of_elements[:, self.levels].reshape(-1, self.count))

    def center(self) -> None:
        """Add the position relative to the element whose children hold the most prose."""
        weights = (np.where(self.tags == _P, 0.3, 1.0), 1.0, 0.5)
        prose = np.concatenate([self.prose * weight for weight in weights])
        score = np.bincount(self.levels[:3].ravel(), prose, len(self.parents))
        score *= 1 - self.link_share
        best = int(np.argmax(score))
        above = max(int(self.parents[best]), 0)
        centers = [best, above, max(int(self.parents[above]), 0)]
        index = np.arange(self.count)
        starts, ends = self.starts[centers, None], self.ends[centers, None]
        distance = np.minimum(index - starts, 0) + np.maximum(index - ends + 1, 0)
        rows = np.empty((len(CENTER), self.count))
        rows[0:6:2] = is_inside = distance == 0
        rows[1:6:2] = _signed_log(distance)
        start, end = self.starts[best], self.ends[best]
        rows[6] = np.where(is_inside[0], (index - start + 0.5) / max(1, end - start), 0.0)
        rows[7] = self.prose[start:end].sum() / self.all_prose
        rows[8:] = score[self.levels[:3]] / max(score[best], 1e-9)
        self.rows.append(rows)

    def rarity(self) -> Floats:
        if self.prose.any():
            return np.asarray(1 - self.prose @ self.above / self.prose.sum())
        return np.asarray(1 - self.above.mean(axis=0))


def _signed_log(distance: NDArray[np.generic]) -> Floats:
    values = np.asarray(distance, dtype=np.float64)
    return np.asarray(np.sign(values) * np.log1p(np.abs(values)))


def _character_counts(texts: list[str], lengths: Ints) -> Ints:
    """Return [classes, texts], the number of characters of each class, plus one space per text."""
    lines = "\n".join(texts) + "\n"
    codes = np.frombuffer(lines.encode("utf-32-le", "replace"), np.uint32)
    classes = _CLASS_BY_CODE.take(codes, mode="clip")
    stops = np.flatnonzero(classes[:-1] == _STOP)
    classes[stops[classes[stops + 1] == _SPACE]] = _SENTENCE
    slots = np.repeat(np.arange(0, 8 * len(texts), 8), lengths + 1)
    slots += classes
    counts = np.bincount(slots, minlength=8 * len(texts))
    return counts.reshape(len(texts), 8).T[: len(_CLASSES)]


def _flags(page: Blocks) -> NDArray[np.uint8]:
    """Return [flags, texts], the features `stop` to `legal`; some apply only to short texts."""
    title, texts = page.title.lower(), page.texts
    flags = np.zeros((6, len(texts)), np.uint8)
    stop, end, furniture, caption, is_title, legal = flags
    lasts = [text[-1] for text in texts]
    stop[:] = [last in _STOPS for last in lasts]
    end[:] = [last in _ENDS for last in lasts]
    for place, text in enumerate(texts):
        length = len(text)
        if length >= LONG_CHARS:
            continue
        lower = text.lower()
        if lower[:2] in _OPENS_WITH or lower[0] == "©":
            match = _OPENING.match(text)
            if match:
                (furniture if match.lastgroup == "furniture" else caption)[place] = 1
        if length > 8 and (lower in title or (0 < len(title) > length / 2 and title in lower)):
            is_title[place] = 1
    legal[_legal_texts(texts)] = 1
    return flags


def _stated(page: Blocks) -> NDArray[np.uint8]:
    """Return for each text whether the text that the page states has its beginning."""
    found = np.zeros(len(page.texts), np.uint8)
    if page.stated:
        searched = page.texts[: MAX_SEARCHED_CHARS // len(page.stated)]
        starts = ("".join(text[: 2 * STATED_CHARS].split())[:STATED_CHARS] for text in searched)
        found[: len(searched)] = [start in page.stated for start in starts]
    return found


def _legal_texts(texts: list[str]) -> list[int]:
    """Return the indexes of short texts with words of legal notices."""
    whole = "\n".join(text if len(text) < LEGAL_CHARS else "" for text in texts)
    lower = whole.encode("utf-8", "replace").lower()
    found = []
    for word in _LEGAL:
        at = lower.find(word)
        index = counted = 0
        while at >= 0:
            index += lower.count(b"\n", counted, at)
            counted = at
            found.append(index)
            at = lower.find(word, max(lower.find(b"\n", at), at + 1))
    return found
