"""A flow on one machine: range by range, through files that tell what has been done.

Each task, a source file or a range of a step, writes one file of records by the ranges of the steps
that take them. The tasks of a step begin when all that it takes is written, and hold one range in
memory. A file that exists is not made again, so a kill costs the tasks that were running.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import apache_beam as beam

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.run import DoParts
from wikisum.pipeline.engine.transforms import sorted_rows
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.joins.flow import Flow, Groups, Named, Source, Step
from wikisum.pipeline.joins.spill import open_spill, read_range

FOLDER = "ranges"  # below that of the records of the parts

T = TypeVar("T")


class _Phase(NamedTuple):
    """Tasks that may run at the same time: pairs of a source or step and an index.

    `consumed` are the sources and steps whose files no later phase reads.
    """

    label: str
    tasks: list[tuple[str, int]]
    consumed: list[str]


@dataclass(frozen=True)
class LocalFlow:
    """Runs a flow in the folder `folder`; each task holds some `held_bytes` of records.

    A single worker runs one phase after the other without a shuffle, which takes longer than a
    small task.
    """

    flow: Flow
    stage: str
    folder: str
    held_bytes: int
    has_one_worker: bool

    def __call__(self, pipeline: beam.Pipeline, pending: list[int], parts: Parts) -> None:
        """Add to a pipeline the tasks that write and record the pending parts."""
        before = pipeline | "Start" >> beam.Impulse()
        consumed: list[str] = []
        for phase in self._phases():
            before = self._add_phase(before, phase, consumed)
            consumed = phase.consumed
        tasks = [(index, None) for index in pending]
        written = before | "Parts: tasks" >> beam.FlatMap(self._begin, tasks, consumed)
        if not self.has_one_worker:
            written |= "Parts: spread" >> beam.Reshuffle()
        _ = written | "Parts: run" >> beam.ParDo(DoParts(self.stage, self._write, parts))

    def _add_phase(self, before: Any, phase: _Phase, consumed: list[str]) -> Any:
        """Return a collection whose elements arrive when all tasks of the phase are done."""
        if self.has_one_worker:
            return before | f"{phase.label}: run" >> beam.Map(self._run_all, phase.tasks, consumed)
        return (
            before
            | f"{phase.label}: tasks" >> beam.FlatMap(self._begin, phase.tasks, consumed)
            | f"{phase.label}: spread" >> beam.Reshuffle()
            | f"{phase.label}: run" >> beam.Map(self._run)
            | f"{phase.label}: end" >> beam.GroupByKey()
        )

    def _phases(self) -> Iterator[_Phase]:
        """The phases that have tasks left.

        What an unfinished step takes is not consumed yet, so its files exist or can be made.
        """
        needed = set(self.flow.target.takes)
        todo: dict[str, list[tuple[str, int]]] = {}
        backwards: list[Source | Step] = [*reversed(self.flow.steps), *self.flow.sources]
        for made in backwards:
            missing = self._missing(made) if needed.intersection(made.gives) else []
            todo[made.label] = missing
            if missing and isinstance(made, Step):
                needed.update(made.takes)
        sources = [task for source in self.flow.sources for task in todo[source.label]]
        if sources:
            yield _Phase("Read", sources, [])
        for number, step in enumerate(self.flow.steps):
            if todo[step.label]:
                yield _Phase(step.label, todo[step.label], self._consumed(number))

    def _missing(self, made: Source | Step) -> list[tuple[str, int]]:
        existing = set(files.list_folder(files.join(self.folder, made.label)))
        tasks = [(made.label, index) for index in range(made.count)]
        return [task for task in tasks if self._path(*task) not in existing]

    def _consumed(self, number: int) -> list[str]:
        """The sources and steps that give nothing to those after step `number`."""
        taken = {name for step in self.flow.steps[: number + 1] for name in step.takes}
        return [made.label for made in self.flow.makers if taken.issuperset(made.gives)]

    def _begin(self, _: object, tasks: list[T], consumed: list[str]) -> list[T]:
        for label in consumed:
            files.delete_folder(files.join(self.folder, label))
        return tasks

    def _run_all(self, _: object, tasks: list[tuple[str, int]], consumed: list[str]) -> None:
        for task in self._begin(None, tasks, consumed):
            self._run(task)

    def _path(self, label: str, index: int) -> str:
        return files.join(self.folder, label, f"{index:05d}")

    def _run(self, task: tuple[str, int]) -> tuple[None, int]:
        """Write the file of a task, unless it exists."""
        label, index = task
        path = self._path(label, index)
        if not files.exists(path):
            takers = self.flow.takers
            counts = {name: taker.count for name, taker in takers.items()}
            with open_spill(path, counts, self.held_bytes) as spill:
                for name, record in self._records(label, index):
                    for range_, packed in takers[name].takes[name](record):
                        spill.add(name, range_, packed)
        return None, index

    def _records(self, label: str, index: int) -> Iterable[Named]:
        maker = next(made for made in self.flow.makers if made.label == label)
        if isinstance(maker, Source):
            return maker.read(maker.paths[index])
        groups: Groups = {name: list(self._read(name, index)) for name in maker.takes}
        return maker.join(groups)

    def _read(self, name: str, range_: int) -> Iterator[bytes]:
        """Yield the packed records of a range."""
        for made in self.flow.makers:
            if name in made.gives:
                paths = (self._path(made.label, index) for index in range(made.count))
                yield from read_range(paths, name, range_)

    def _write(self, index: int, _: None) -> PartResult:
        rows = {name: self._rows(name, index) for name in self.flow.target.types}
        return self.flow.target.write(index, rows)

    def _rows(self, name: str, part: int) -> Iterator[Any]:
        """Yield the rows of a part in their order."""
        target = self.flow.target
        for range_ in range(part * target.divisions, (part + 1) * target.divisions):
            yield from sorted_rows(self._read(name, range_), target.types[name])
