"""A join of tables as data: files to read, groupings by ranges of keys, and parts to write.

A `Flow` runs in two ways that write the same bytes: on a cluster as a Beam pipeline whose groupings
are Beam's own (`cluster.py`), and on one machine range by range through files (`local.py`), so that
memory does not grow with the input.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult

Named = tuple[str, Any]  # the name of a kind of record, and a record
Placed = tuple[int, object]  # the range that a record belongs to, and what is packed for it
Groups = dict[str, list[bytes]]  # the packed records of one range, by their names


@dataclass(frozen=True)
class Source:
    """Files to read. `read(path)` yields records under the names in `gives`."""

    label: str
    paths: Sequence[Any]
    gives: tuple[str, ...]
    read: Callable[[Any], Iterable[Named]]

    @property
    def count(self) -> int:
        """The number of its tasks: one for each file."""
        return len(self.paths)


@dataclass(frozen=True)
class Step:
    """A grouping of records by ranges of their keys, and what is made of each range.

    `takes` has for each name of records that are grouped the function that places a record: it
    yields the ranges that the record belongs to, each with what is packed for it there. `join`
    gets what was packed for one range, in no particular order, and yields records under the names
    in `gives`. What it makes of a key must not depend on the other keys of the range.
    """

    label: str
    count: int  # of ranges
    takes: Mapping[str, Callable[[Any], Iterable[Placed]]]
    gives: tuple[str, ...]
    join: Callable[[Groups], Iterable[Named]]


@dataclass(frozen=True)
class Target:
    """The parts of a stage, each in `divisions` ranges that follow each other in sorted order.

    `takes` places records as in a `Step`; range r belongs to part r // divisions. `types` has the
    class and the order of the packed rows. `write(index, rows)` is called once for each part, also
    for one without rows, with an iterator over the sorted rows of each name.
    """

    part_count: int
    takes: Mapping[str, Callable[[Any], Iterable[Placed]]]
    types: Mapping[str, RowType]
    write: Callable[[int, dict[str, Iterator[Any]]], PartResult]
    divisions: int = 1

    @property
    def count(self) -> int:
        """The number of its ranges."""
        return self.part_count * self.divisions


@dataclass(frozen=True)
class Flow:
    """Sources, the steps that follow one after the other, and the target.

    Each name of records is taken by one step or by the target, and given only before it.
    """

    sources: tuple[Source, ...]
    steps: tuple[Step, ...]
    target: Target

    @property
    def makers(self) -> list[Source | Step]:
        """What gives records: the sources, then the steps."""
        return [*self.sources, *self.steps]

    @property
    def groupings(self) -> list[Step | Target]:
        """What takes records: the steps, then the target."""
        return [*self.steps, self.target]

    @property
    def takers(self) -> dict[str, Step | Target]:
        """The step or the target that takes the records of each name."""
        return {name: taker for taker in self.groupings for name in taker.takes}


def placed_by(key: Callable[[Any], int], count: int) -> Callable[[Any], Iterator[Placed]]:
    """Return what places a record, as it is, in the range of its key among `count` ranges."""

    def place(record: Any) -> Iterator[Placed]:
        yield range_of(key(record), count), record

    return place


def range_of(key: int, count: int) -> int:
    """The range of a key of 64 bits, with or without a sign, among `count` equal ranges."""
    return (key % 2**64) * count >> 64
