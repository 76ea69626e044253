"""Beam transforms that every stage shares: read files, group packed records, write parts.

The joins themselves (`wanted/want.py`, `locate/choose.py`, `examples/join.py`) take and give
PCollections of records, so that they also work inside other pipelines; reading and writing stand
beside them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import apache_beam as beam
from apache_beam.transforms.window import GlobalWindows
from apache_beam.utils.windowed_value import WindowedValue

from wikisum.pipeline.engine.packed import pack, unpack
from wikisum.pipeline.engine.run import DoParts
from wikisum.pipeline.engine.workspace import PartResult, Parts

HELD_BYTES = 4 << 20

Pack = tuple[int, bytes]  # a key and packed records of that key


class ReadFiles(beam.PTransform):
    """Read files on all workers: a pipeline -> PCollection[T].

    `read: Callable[[P], Iterable[T]]` is called for each of `paths`, which are of type P: paths or
    other small descriptions of files.

        documents = pipeline | "Read documents" >> ReadFiles(paths, read=read_documents)
    """

    def __init__(self, paths: Sequence[Any], *, read: Callable[[Any], Iterable[Any]]) -> None:
        super().__init__()
        self._paths, self._read = paths, read

    def expand(self, pipeline: Any) -> Any:
        return (
            pipeline
            | "Paths" >> beam.Create(self._paths, reshuffle=False)
            | "Spread" >> beam.Reshuffle()
            | "Read" >> beam.FlatMap(self._read)
        )


class PackByKey(beam.DoFn):
    """(key, record) -> (key, packed records): those of one bundle travel together by their key.

    An element of a shuffle costs some 2 KB beside its data on the local runner
    (benchmarks/locate.md), so small records must share one. At most `HELD_BYTES` are held.
    """

    def start_bundle(self) -> None:
        self._held: dict[int, list[bytes]] = defaultdict(list)
        self._held_bytes = 0

    def process(self, element: tuple[int, object]) -> Iterator[Pack]:
        key, record = element
        data = pack(record)
        self._held[key].append(data)
        self._held_bytes += len(data)
        if self._held_bytes > HELD_BYTES:
            yield from self._packs()
            self.start_bundle()

    def finish_bundle(self) -> Iterator[WindowedValue]:
        yield from map(GlobalWindows.windowed_value, self._packs())

    def _packs(self) -> Iterator[Pack]:
        return ((key, pack(records)) for key, records in self._held.items())


class GroupPacked(beam.PTransform):
    """Group records of several kinds by an integer key.

    {name: PCollection[tuple[int, T]]} -> PCollection[tuple[int, dict[name, list[bytes]]]]: of each
    key and name the records, each packed, in no particular order.
    """

    def expand(self, records: Any) -> Any:
        packed = {
            name: collection | f"Pack {name}" >> beam.ParDo(PackByKey())
            for name, collection in records.items()
        }
        return packed | "Group" >> beam.CoGroupByKey() | "Flatten packs" >> beam.Map(_flattened)


def _flattened(element: tuple[int, Mapping[str, Iterable[bytes]]]) -> tuple[int, Any]:
    key, groups = element
    return key, {
        name: [data for packed in packs for data in unpack(packed, list[bytes])]
        for name, packs in groups.items()
    }


class SplitByName(beam.PTransform):
    """Give each kind of record a collection: PCollection[tuple[name, T]] -> {name: PCollection[T]}.

    Beam has tagged outputs for this, but its runner for Dask (2.77) gives all outputs of a
    transform to every consumer of one of them.
    """

    def __init__(self, *names: str) -> None:
        super().__init__()
        self._names = names

    def expand(self, pairs: Any) -> Any:
        return {name: pairs | f"Only {name}" >> beam.FlatMap(_named, name) for name in self._names}


def _named(pair: tuple[str, Any], name: str) -> list[Any]:
    return [pair[1]] if pair[0] == name else []


class RowType(NamedTuple):
    """The class of the rows that a part takes, and the sort key of a row."""

    kind: type
    order: Callable[[Any], Any]


class WriteParts(beam.PTransform):
    """Write the parts of a stage and record them as done.

    {name: PCollection[tuple[int, T]]} -> PCollection[int]: records by the index of their part in,
    the indexes of the parts that were written out. `types` gives each name its class and order.
    `write(index, rows)` is called once for each of `indexes`, also for a part without records;
    `rows` has under each name the sorted records, as an iterator that unpacks them one by one.
    Records of other parts, which an earlier run has written, are left out.
    """

    def __init__(
        self,
        types: Mapping[str, RowType],
        *,
        stage: str,
        indexes: Sequence[int],
        write: Callable[[int, dict[str, Iterator[Any]]], PartResult],
        parts: Parts,
    ) -> None:
        super().__init__()
        self._types, self._stage, self._indexes = dict(types), stage, frozenset(indexes)
        self._write, self._parts = write, parts

    def expand(self, records: Any) -> Any:
        pipeline = next(iter(records.values())).pipeline
        every = pipeline | "Every part" >> beam.Create(
            [(index, None) for index in sorted(self._indexes)]
        )
        pending = {
            name: collection | f"Pending {name}" >> beam.Filter(self._is_pending)
            for name, collection in records.items()
        }
        do = DoParts(self._stage, self._write_part, self._parts)
        return {**pending, _EVERY: every} | GroupPacked() | "Write" >> beam.ParDo(do)

    def _is_pending(self, element: tuple[int, Any]) -> bool:
        return element[0] in self._indexes

    def _write_part(self, index: int, packed: dict[str, list[bytes]]) -> PartResult:
        rows = {name: sorted_rows(packed[name], type_) for name, type_ in self._types.items()}
        return self._write(index, rows)


_EVERY = "every part"  # the collection that gives each part, also an empty one, an element


def sorted_rows(packed: Iterable[bytes], type_: RowType) -> Iterator[Any]:
    """Yield the records in order; they stay packed until their turn, since a part can be large."""

    def order(data: bytes) -> tuple[Any, bytes]:
        return type_.order(unpack(data, type_.kind)), data

    for data in sorted(packed, key=order):
        yield unpack(data, type_.kind)
