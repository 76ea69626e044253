"""What of an example a model reads: title, then ranked paragraphs, cut to a budget. No torch.

A hierarchical model gets paragraphs, the title before the first (Liu & Lapata 2019, section 3.2);
a flat one gets one sequence, with a separator after each paragraph and an end.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from models.configs import SourceSettings
from ranker.ragged import Ints, Ragged
from ranker.vocab import END, END_OF_PARAGRAPH, END_OF_TITLE, UNKNOWN

Ids = npt.NDArray[np.uint16]


class Examples(NamedTuple):
    """The ids of some examples: `numbers[e]` paragraphs of example e from `first[e]` on."""

    titles: Ragged
    leads: Ragged
    paragraphs: Ragged
    first: Ints
    numbers: Ints

    def title(self, example: int) -> Ids:
        return _one(self.titles, example)

    def lead(self, example: int) -> Ids:
        return _one(self.leads, example)

    def paragraphs_of(self, example: int, at_most: int) -> list[Ids]:
        """The first paragraphs of an example."""
        first = self.first[example]
        return [
            _one(self.paragraphs, first + i) for i in range(min(self.numbers[example], at_most))
        ]


def _one(lists: Ragged, index: int) -> Ids:
    start = lists.starts[index]
    return lists.ids[start : start + lists.lengths[index]]


def hierarchical_source(
    title: Ids, paragraphs: Sequence[Ids], settings: SourceSettings
) -> list[Ids]:
    """Paragraphs of ids, none empty, the first with title and separator before it."""
    first = np.append(title[: settings.source_tokens - 1], np.uint16(END_OF_TITLE))
    cut = [p[: settings.paragraph_tokens] for p in paragraphs[: settings.max_paragraphs]]
    kept = [np.concatenate([first, *cut[:1]])[: settings.source_tokens]]
    left = settings.source_tokens - len(kept[0])
    for ids in cut[1:]:
        if left <= 0:
            break
        kept.append((ids if len(ids) else np.array([UNKNOWN], np.uint16))[:left])
        left -= len(kept[-1])
    return kept


def flat_source(title: Ids, paragraphs: Sequence[Ids], settings: SourceSettings) -> list[Ids]:
    """One sequence: title, paragraphs, each with its separator, cut; an end comes last."""
    parts, size = [np.append(title, np.uint16(END_OF_TITLE))], len(title) + 1
    for ids in paragraphs:
        if size >= settings.source_tokens:
            break
        parts.append(np.append(ids, np.uint16(END_OF_PARAGRAPH)))
        size += len(ids) + 1
    cut = np.concatenate(parts)[: settings.source_tokens - 1]
    return [np.append(cut, np.uint16(END))]


def source_of(
    title: Ids, paragraphs: Sequence[Ids], model: str, settings: SourceSettings
) -> list[Ids]:
    """The source as that model reads it."""
    build = flat_source if model == "ft" else hierarchical_source
    return build(title, paragraphs, settings)


def source_lengths(examples: Examples, model: str, settings: SourceSettings) -> Ints:
    """[E] how many tokens `source_of` gives for each example, without building it."""
    example = np.repeat(np.arange(len(examples.numbers)), examples.numbers)
    rank = np.arange(len(example)) - np.repeat(
        np.cumsum(examples.numbers) - examples.numbers, examples.numbers
    )
    lengths = examples.paragraphs.lengths
    if model == "ft":
        tokens = lengths + 1
        extra = 1
    else:
        tokens = np.minimum(lengths, settings.paragraph_tokens)
        tokens = np.where(rank > 0, np.maximum(tokens, 1), tokens)
        tokens = np.where(rank < settings.max_paragraphs, tokens, 0)
        extra = 0
    sums = np.bincount(example, tokens, len(examples.numbers)).astype(np.int64)
    whole: Ints = examples.titles.lengths + 1 + sums + extra
    return np.minimum(whole, settings.source_tokens)
