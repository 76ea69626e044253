"""A flow as a Beam pipeline: its groupings are Beam's own."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import apache_beam as beam

from wikisum.pipeline.engine.transforms import GroupPacked, ReadFiles, SplitByName, WriteParts
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.joins.flow import Flow, Groups, Named, Placed, Step


class JoinRanges(beam.PTransform):
    """Group records by ranges and join each: {name: PCollection} -> {name: PCollection}."""

    def __init__(self, step: Step) -> None:
        super().__init__()
        self._step = step

    def expand(self, records: Any) -> Any:
        placed = {
            name: records[name] | f"Place {name}" >> beam.FlatMap(place)
            for name, place in self._step.takes.items()
        }
        joined = placed | GroupPacked() | "Join" >> beam.FlatMap(_joined, self._step.join)
        return joined | SplitByName(*self._step.gives)


def _joined(
    element: tuple[int, Groups], join: Callable[[Groups], Iterable[Named]]
) -> Iterable[Named]:
    return join(element[1])


def construct(flow: Flow, stage: str, pipeline: Any, pending: list[int], parts: Parts) -> None:
    """Add to a pipeline the transforms that write and record the pending parts of a flow."""
    given: dict[str, list[Any]] = {}

    def add(collections: dict[str, Any]) -> None:
        for name, collection in collections.items():
            given.setdefault(name, []).append(collection)

    def take(names: Iterable[str], label: str) -> dict[str, Any]:
        found = {name: given[name] for name in names}
        return {
            name: several[0] if len(several) == 1 else several | f"{label} {name}" >> beam.Flatten()
            for name, several in found.items()
        }

    for source in flow.sources:
        read = pipeline | source.label >> ReadFiles(source.paths, read=source.read)
        add(read | f"{source.label} by name" >> SplitByName(*source.gives))
    for step in flow.steps:
        add(take(step.takes, step.label) | step.label >> JoinRanges(step))
    target = flow.target
    placed = {
        name: collection
        | f"Part of {name}" >> beam.FlatMap(_in_parts, target.takes[name], target.divisions)
        for name, collection in take(target.takes, "Rows").items()
    }
    _ = placed | WriteParts(
        target.types, stage=stage, indexes=pending, write=target.write, parts=parts
    )


def _in_parts(
    record: Any, place: Callable[[Any], Iterable[Placed]], divisions: int
) -> Iterator[Placed]:
    return ((index // divisions, packed) for index, packed in place(record))
