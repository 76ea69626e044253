"""Does everything that is wanted end exactly once: in an example, or in a dropped row?"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TextIO

import numpy as np

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.progress import Ticker, watched
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.validate.pool import map_in_order
from wikisum.pipeline.validate.tally import Keys, Unequal, open_tally


class _Entry(NamedTuple):
    """An article, or an article and a URL that it wants; `is_fate` says that it ended here."""

    kind: str
    name: str
    is_fate: bool
    file: str


def _entries(workspace: Workspace, path: str) -> Iterator[_Entry]:
    """Everything that is wanted in a file, and every fate."""
    whole, folder = workspace.path(path), path.split("/")[0]
    if folder == "articles":
        for row in read_rows(whole, ["id"]):
            yield _Entry("article", row["id"], False, path)
    elif folder == "wanted":
        for row in read_rows(whole, ["article", "url"]):
            yield _Entry("reference", f"{row['article']} {row['url']}", False, path)
    elif folder == "examples":
        for row in read_rows(whole, ["id", "documents.list.element.url"]):
            yield _Entry("article", row["id"], True, path)
            for document in filter(None, row["documents"] or []):  # nulls are faults of the row
                yield _Entry("reference", f"{row['id']} {document['url']}", True, path)
    elif folder == "dropped":
        for row in read_rows(whole, ["kind", "article", "url", "stage"]):
            if row["stage"] != "articles" and row["kind"] == "article":
                yield _Entry("article", row["article"], True, path)
            elif row["stage"] != "articles" and row["kind"] == "reference" and row["url"]:
                yield _Entry("reference", f"{row['article']} {row['url']}", True, path)


def fate_faults(
    workspace: Workspace,
    rows: dict[str, int],
    max_named: int,
    to: TextIO | None,
    workers: int = 1,
) -> Iterator[tuple[str, str]]:
    """Articles, and pairs of an article and a wanted URL, that do not have exactly one fate.

    The files are read once to count, in constant memory, and a second time only to name the first
    `max_named` faults.
    """
    expected = sum(n for path, n in rows.items() if path.startswith(("articles/", "wanted/")))
    with open_tally(expected) as tally:
        with watched("fates", "fates", 2 * expected, to) as ticker:
            for left, right in map_in_order(_ReadKeys(workspace), rows, workers, ticker):
                tally.add(left, right)
        unequal = tally.unequal()
        named = {u.key: u for u in islice(unequal, max_named)}
        yield from _named_faults(workspace, rows, named, workers)
        for more in unequal:
            yield "fate", f"key {more.key:016x}: has {more.right} fates, not {more.left}"


@dataclass(frozen=True)
class _ReadKeys:
    """A file -> the keys of all that is wanted in it, and of the fates."""

    workspace: Workspace

    def __call__(self, path: str, ticker: Ticker) -> tuple[Keys, Keys]:
        keys = array("Q"), array("Q")
        for entry in _entries(self.workspace, path):
            keys[entry.is_fate].append(url_key(f"{entry.kind} {entry.name}"))
            ticker.add(items=1, work=1)
        left, right = (np.array(side, np.uint64) for side in keys)
        return left, right


@dataclass(frozen=True)
class _FindKeys:
    """A file -> those of its entries that have one of the keys, by their keys."""

    workspace: Workspace
    keys: frozenset[int]

    def __call__(self, path: str, ticker: Ticker) -> list[tuple[int, _Entry]]:
        keyed = ((url_key(f"{e.kind} {e.name}"), e) for e in _entries(self.workspace, path))
        return [(key, entry) for key, entry in keyed if key in self.keys]


def _named_faults(
    workspace: Workspace, paths: Iterable[str], faults: dict[int, Unequal], workers: int
) -> Iterator[tuple[str, str]]:
    if not faults:
        return
    name_by_key: dict[int, str] = {}
    files_by_key: dict[int, list[str]] = {key: [] for key in faults}
    find = _FindKeys(workspace, frozenset(faults))
    for found in map_in_order(find, paths, workers, Ticker(None)):
        for key, entry in found:
            name_by_key[key] = f"{entry.kind} {entry.name}"
            if entry.is_fate:
                files_by_key[key].append(entry.file)
    for key, (_, wanted, fates) in faults.items():
        where = "".join(f", in {path}" for path in files_by_key[key])
        yield "fate", f"{name_by_key[key]}: has {fates} fates, not {wanted}{where}"
