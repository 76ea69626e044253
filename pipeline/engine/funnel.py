"""Funnels of the report: what goes into a step of the flow, and where each part of it ends.

A stage declares the funnels of what it makes. Each is computed from the counts of all stages.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple


class Counts:
    """The counts of the stages of a build, by their names, in the order of the stages.

    `pages` has the sums over the stages that make documents, whose names are `page_stages`.
    """

    def __init__(
        self, by_stage: Mapping[str, Mapping[str, int]], page_stages: Collection[str]
    ) -> None:
        self._by_stage = by_stage
        self.pages: Counter[str] = Counter()
        for name in page_stages:
            self.pages.update(self.of(name))

    def of(self, stage: str) -> Counter[str]:
        """The counts of a stage, 0 for all that it did not count."""
        return Counter(self._by_stage.get(stage, {}))

    def has(self, stage: str) -> bool:
        """Whether the stage was part of the build."""
        return stage in self._by_stage

    def maker_of(self, count: str, default: str) -> str:
        """The first stage that has such a count, or `default`."""
        return next((name for name, counts in self._by_stage.items() if count in counts), default)

    def dropped_after(self, stage: str, kind: str) -> dict[str, int]:
        """The dropped rows of a kind by their reasons, over the stages after this one."""
        names = list(self._by_stage)
        rows: Counter[str] = Counter()
        for name in names[names.index(stage) + 1 :]:
            rows.update(beginning(self.of(name), f"dropped_{kind}_"))
        return dict(rows)


class Funnel(NamedTuple):
    """A funnel of the report under a title.

    `parts` returns the whole, what is kept of it, then all else, which add up to the whole; nothing
    where the funnel does not apply. Dropped rows of the kind `sampled` are examples of its parts.
    """

    name: str
    title: str
    parts: Callable[[Counts], dict[str, int]]
    sampled: str | None = None


def beginning(
    counts: Mapping[str, int], start: str, without: Collection[str] = ()
) -> dict[str, int]:
    """The counts whose names begin with `start`, under the rest of their names."""
    return {
        name.removeprefix(start): number
        for name, number in counts.items()
        if name.startswith(start) and name not in without
    }
