"""How a model reads an example: title, then ranked paragraphs, cut to a budget. Knows no torch.

A `SourceForm` turns the subword ids of an example into the lists of ids that `network.packing`
packs. Two forms are here; a model may bring its own, for which `read` is enough.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from wikisum.models.settings.run import SourceSettings
from wikisum.ranker.data.ragged import Ints, Ragged, gathered
from wikisum.ranker.data.vocab import END, END_OF_PARAGRAPH, END_OF_TITLE, UNKNOWN

Ids = npt.NDArray[np.integer[Any]]


class Examples(NamedTuple):
    """The ids of some examples: `numbers[e]` paragraphs of example e, beginning at `first[e]`.

    The paragraphs of an example follow those of the example before.
    """

    titles: Ragged
    targets: Ragged
    paragraphs: Ragged
    first: Ints
    numbers: Ints

    def title(self, example: int) -> Ids:
        """Return the title of an example."""
        return _list(self.titles, example)

    def target(self, example: int) -> Ids:
        """Return the target of an example."""
        return _list(self.targets, example)

    def paragraphs_of(self, example: int) -> list[Ids]:
        """Return the paragraphs of an example, best first."""
        first = self.first[example]
        return [_list(self.paragraphs, first + i) for i in range(self.numbers[example])]


def _list(lists: Ragged, index: int) -> Ids:
    start = lists.starts[index]
    return lists.ids[start : start + lists.lengths[index]]


def keep_all(examples: Examples, settings: SourceSettings) -> Examples:
    """Return the examples as they are: the form reads an unknown part of them."""
    return examples


@dataclass(frozen=True)
class SourceForm:
    """One way to read an example.

    `read` returns the source of an example as lists of ids, none of them empty. `trim` drops what
    `read` would not look at, so that less is kept in memory. `count` returns [E], the tokens that
    `read` gives for each example, without building them; without it they are counted by reading.
    `paragraphs` returns [N], the rank of the paragraph that each token belongs to, given ids,
    positions and ranks [N] of the tokens; without it each list is a paragraph.
    """

    read: Callable[[Ids, Sequence[Ids], SourceSettings], list[Ids]]
    trim: Callable[[Examples, SourceSettings], Examples] = keep_all
    count: Callable[[Examples, SourceSettings], Ints] | None = None
    paragraphs: Callable[[Ints, Ints, Ints], Ints] | None = None

    def lengths(self, examples: Examples, settings: SourceSettings) -> Ints:
        """Return the number of tokens that `read` gives for each example, [E]."""
        if self.count is not None:
            return self.count(examples, settings)
        sources = (
            self.read(examples.title(e), examples.paragraphs_of(e), settings)
            for e in range(len(examples.numbers))
        )
        return np.array([sum(map(len, source)) for source in sources], dtype=np.int64)


def hierarchical_source(
    title: Ids, paragraphs: Sequence[Ids], settings: SourceSettings
) -> list[Ids]:
    """Return paragraphs, none empty, the first with the title and a separator before it.

    So reads the hierarchical transformer (Liu & Lapata 2019, section 3.2).
    """
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
    """Return one sequence: title, paragraphs, each followed by its separator, cut, then END."""
    parts, size = [np.append(title, np.uint16(END_OF_TITLE))], len(title) + 1
    for ids in paragraphs:
        if size >= settings.source_tokens:
            break
        parts.append(np.append(ids, np.uint16(END_OF_PARAGRAPH)))
        size += len(ids) + 1
    cut = np.concatenate(parts)[: settings.source_tokens - 1]
    return [np.append(cut, np.uint16(END))]


def _trim_flat(examples: Examples, settings: SourceSettings) -> Examples:
    lengths = np.minimum(examples.paragraphs.lengths, settings.source_tokens)
    is_read = _ranks(examples.numbers) < settings.source_tokens
    return _trimmed(examples, lengths, is_read, settings)


def _trim_hierarchical(examples: Examples, settings: SourceSettings) -> Examples:
    lengths = np.minimum(examples.paragraphs.lengths, settings.paragraph_tokens)
    is_read = _ranks(examples.numbers) < settings.max_paragraphs
    return _trimmed(examples, lengths, is_read, settings)


def _trimmed(
    examples: Examples, lengths: Ints, is_read: npt.NDArray[np.bool_], settings: SourceSettings
) -> Examples:
    """Return the examples with paragraphs cut to `lengths`, without those after the budget."""
    ends = np.cumsum(lengths)
    before = ends - lengths
    before_example = np.append(before, 0)[examples.first]
    is_read &= before - np.repeat(before_example, examples.numbers) < settings.source_tokens
    numbers = np.bincount(_owners(examples.numbers)[is_read], minlength=len(examples.numbers))
    kept = gathered(examples.paragraphs._replace(lengths=lengths), np.flatnonzero(is_read))
    return examples._replace(paragraphs=kept, first=np.cumsum(numbers) - numbers, numbers=numbers)


def _count_flat(examples: Examples, settings: SourceSettings) -> Ints:
    kept = _trim_flat(examples, settings)
    return _counted(kept, kept.paragraphs.lengths + 1, 1, settings)


def _count_hierarchical(examples: Examples, settings: SourceSettings) -> Ints:
    kept = _trim_hierarchical(examples, settings)
    # an empty paragraph becomes UNKNOWN, but the first one is never empty: it has the title
    shortest = np.minimum(_ranks(kept.numbers), 1)
    return _counted(kept, np.maximum(kept.paragraphs.lengths, shortest), 0, settings)


def _counted(kept: Examples, tokens: Ints, extra: int, settings: SourceSettings) -> Ints:
    sums = np.bincount(_owners(kept.numbers), tokens, len(kept.numbers)).astype(np.int64)
    whole: Ints = kept.titles.lengths + 1 + sums + extra
    return np.minimum(whole, settings.source_tokens)


def _between_separators(id_N: Ints, position_N: Ints, rank_N: Ints) -> Ints:
    """Return the rank of each token's paragraph in flat sources; END goes with the last one."""
    before_N = np.cumsum(id_N == END_OF_PARAGRAPH) - (id_N == END_OF_PARAGRAPH)
    start_N = np.maximum.accumulate(np.where(position_N == 0, np.arange(len(id_N)), 0))
    paragraph_N: Ints = before_N - before_N[start_N]
    return np.where(id_N == END, np.roll(paragraph_N, 1), paragraph_N)


def _owners(numbers: Ints) -> Ints:
    """Return the example of each paragraph."""
    return np.repeat(np.arange(len(numbers)), numbers)


def _ranks(numbers: Ints) -> Ints:
    """Return the rank of each paragraph in its example."""
    return np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers)


FLAT = SourceForm(flat_source, _trim_flat, _count_flat, _between_separators)
HIERARCHICAL = SourceForm(hierarchical_source, _trim_hierarchical, _count_hierarchical)
