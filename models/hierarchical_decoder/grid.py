"""The source layout of the PHT paper: paragraphs of one maximum length, 30 of 100 there.

The title stands before the first paragraph and counts as a part of it.
"""

from collections.abc import Sequence

import numpy as np

from wikisum.models.settings.run import SourceSettings
from wikisum.models.sources import HIERARCHICAL, Examples, Ids, SourceForm, hierarchical_source
from wikisum.ranker.data.ragged import Ints


def grid_source(title: Ids, paragraphs: Sequence[Ids], settings: SourceSettings) -> list[Ids]:
    """Return paragraphs of at most `paragraph_tokens`, the first with title and separator."""
    title = title[: settings.paragraph_tokens - 1]
    first = [ids[: settings.paragraph_tokens - len(title) - 1] for ids in paragraphs[:1]]
    return hierarchical_source(title, [*first, *paragraphs[1:]], settings)


def _count_grid(examples: Examples, settings: SourceSettings) -> Ints:
    titles = np.minimum(examples.titles.lengths, settings.paragraph_tokens - 1)
    lengths = examples.paragraphs.lengths.copy()
    has_any = examples.numbers > 0
    first = examples.first[has_any]
    room = settings.paragraph_tokens - 1 - titles[has_any]
    lengths[first] = np.minimum(lengths[first], room)
    cut = examples._replace(
        titles=examples.titles._replace(lengths=titles),
        paragraphs=examples.paragraphs._replace(lengths=lengths),
    )
    return HIERARCHICAL.lengths(cut, settings)


GRID = SourceForm(grid_source, HIERARCHICAL.trim, _count_grid)
