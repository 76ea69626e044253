"""Systems to compare: files of summaries and baselines."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from wikisum.models.decoding.summary_files import (
    BadSummaries,
    Summary,
    count_summaries,
    read_summaries,
)
from wikisum.models.evaluation.baselines import baseline_summaries
from wikisum.ranker.categories import is_in_category
from wikisum.ranker.data.shards import read_group, row_groups, split_shards


class System(NamedTuple):
    """A named source of summaries; `read` may be called more than once."""

    name: str
    read: Callable[[], Iterator[Summary]]
    row_count: int
    source: str
    is_baseline: bool = False


def file_systems(paths: Sequence[Path]) -> list[System]:
    """A system for each file, named by its model, and by its file too where models are alike.

    Raises FileNotFoundError, ValueError for a file named twice, BadSummaries for one without a row.
    """
    models = [_first_model(path) or path.stem for path in paths]
    names = _apart(_apart(models, [path.stem for path in paths]), list(map(str, paths)))
    if len(set(names)) < len(names):
        (name, _), *_ = Counter(names).most_common()
        raise ValueError(f"a file is named twice: {name}")
    return [
        System(name, partial(read_summaries, path), count_summaries(path), str(path))
        for name, path in zip(names, paths, strict=True)
    ]


def _apart(names: Sequence[str], details: Sequence[str]) -> list[str]:
    """Return the names, followed by the detail where two are alike."""
    counts = Counter(names)
    return [f"{n} ({d})" if counts[n] > 1 else n for n, d in zip(names, details, strict=True)]


def _first_model(path: Path) -> str | None:
    for row in read_summaries(path):
        return row.model
    raise BadSummaries(f"{path} holds no summary")


def ids_in_category(data: str, split: str, pattern: str) -> set[str]:
    """Return the ids of the examples with a category that contains a regular expression.

    Letters match in any case. Raises ValueError if there is none, or for shards without categories.
    """
    ids: set[str] = set()
    for group in row_groups(split_shards(data, split)):
        table = read_group(group, ("id", "categories"))
        rows = zip(table["id"].to_pylist(), table["categories"].to_pylist(), strict=True)
        ids.update(id_ for id_, categories in rows if is_in_category(categories or (), pattern))
    if not ids:
        raise ValueError(
            f"--category: no example of split {split} of {data} has one like {pattern!r}"
        )
    return ids


def baseline_systems(
    names: Sequence[str], data: str, split: str, ids: set[str] | None, max_paragraphs: int | None
) -> list[System]:
    """Baselines (`models/baselines.py`) on the examples of a split that have these ids, or all."""
    count = (
        len(ids) if ids is not None else sum(g.rows for g in row_groups(split_shards(data, split)))
    )
    return [
        System(
            name,
            partial(baseline_summaries, name, data, split, ids, max_paragraphs),
            count,
            f"{data}, split {split}",
            is_baseline=True,
        )
        for name in names
    ]
