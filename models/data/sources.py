"""What of an example a model reads: title, then ranked paragraphs, cut to a budget. No torch.

A hierarchical model gets paragraphs, the title before the first (Liu & Lapata 2019, section 3.2);
a flat one gets one sequence, with a separator after each paragraph and an end.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from wikisum.models.configs import SourceSettings
from wikisum.ranker.data.ragged import Ints, Ragged, gathered
from wikisum.ranker.data.vocab import END, END_OF_PARAGRAPH, END_OF_TITLE, UNKNOWN

Ids = npt.NDArray[np.uint16]


class Examples(NamedTuple):
    """The ids of some examples: `numbers[e]` paragraphs of example e from `first[e]` on.

    Paragraphs of one example follow upon those of the one before.
    """

    titles: Ragged
    leads: Ragged
    paragraphs: Ragged
    first: Ints
    numbers: Ints

    def title(self, example: int) -> Ids:
        return _one(self.titles, example)

    def lead(self, example: int) -> Ids:
        return _one(self.leads, example)

    def paragraphs_of(self, example: int) -> list[Ids]:
        """The paragraphs of an example."""
        first = self.first[example]
        return [_one(self.paragraphs, first + i) for i in range(self.numbers[example])]


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


def readable(examples: Examples, model: str, settings: SourceSettings) -> Examples:
    """The examples without what `source_of` would not read of them, their ids copied."""
    paragraphs = examples.paragraphs
    rank = _places(examples.numbers)
    if model == "ft":
        lengths = np.minimum(paragraphs.lengths, settings.source_tokens)
        is_read = rank < settings.source_tokens
    else:
        lengths = np.minimum(paragraphs.lengths, settings.paragraph_tokens)
        is_read = rank < settings.max_paragraphs
    ends = np.cumsum(lengths)
    before = ends - lengths
    before_example = np.append(before, 0)[examples.first]
    is_read &= before - np.repeat(before_example, examples.numbers) < settings.source_tokens
    numbers = np.bincount(_owners(examples.numbers)[is_read], minlength=len(examples.numbers))
    kept = gathered(paragraphs._replace(lengths=lengths), np.flatnonzero(is_read))
    return examples._replace(paragraphs=kept, first=np.cumsum(numbers) - numbers, numbers=numbers)


def source_lengths(examples: Examples, model: str, settings: SourceSettings) -> Ints:
    """[E] how many tokens `source_of` gives for each example, without building it."""
    kept = readable(examples, model, settings)
    if model == "ft":
        tokens, extra = kept.paragraphs.lengths + 1, 1
    else:
        least = np.minimum(_places(kept.numbers), 1)  # an empty first one is told by the title
        tokens, extra = np.maximum(kept.paragraphs.lengths, least), 0
    sums = np.bincount(_owners(kept.numbers), tokens, len(kept.numbers)).astype(np.int64)
    whole: Ints = kept.titles.lengths + 1 + sums + extra
    return np.minimum(whole, settings.source_tokens)


def _owners(numbers: Ints) -> Ints:
    """The example of each paragraph."""
    return np.repeat(np.arange(len(numbers)), numbers)


def _places(numbers: Ints) -> Ints:
    """The rank of each paragraph in its example."""
    places: Ints = np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    return places
