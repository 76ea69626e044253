"""A stage as its folder declares it, and one run of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from wikisum.pipeline.engine.workspace import WORK, fingerprint
from wikisum.pipeline.records import DROPPED, Dropped


@dataclass(frozen=True)
class Output:
    """One kind of file that a stage writes.

    `prefix` is how the paths of its files begin, relative to the output folder. `record` is the
    type of what they hold; those with a `schema` are Parquet shards of such records. `count` names
    the count of their rows.
    """

    prefix: str
    record: type | None = None
    schema: pa.Schema | None = None
    count: str | None = None
    suffix: str = ".parquet"

    @property
    def folder(self) -> str:
        """The folder of its files, relative to the output folder."""
        return self.prefix.rpartition("/")[0]

    @property
    def is_internal(self) -> bool:
        """Whether its files are no part of the dataset, but lie in the work folder."""
        return self.prefix.startswith(WORK)


@dataclass(frozen=True)
class Stage:
    """One step of the flow: what is the same in every run of it.

    `unit` is what its progress line counts. `reasons` has one sentence for each reason for which
    it drops a row; a stage with reasons also writes `dropped/dropped-<name>-*.parquet`. What it
    made is deleted when a later build in the same folder does not need it, unless `is_kept`.
    """

    name: str
    unit: str
    outputs: tuple[Output, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    is_kept: bool = False

    @property
    def all_outputs(self) -> tuple[Output, ...]:
        """The outputs, the dropped rows among them."""
        dropped = Output(f"dropped/dropped-{self.name}-", Dropped, DROPPED)
        return (*self.outputs, dropped) if self.reasons else self.outputs

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the paths of all its files begin."""
        return tuple(output.prefix for output in self.all_outputs)


@dataclass(frozen=True)
class StageRun:
    """A stage on certain inputs under certain settings, both named in `key`.

    `total_work` is the sum of what the parts report as work, 0 if it is unknown. `extra` is kept
    with the result: settings, inputs and what later stages need.
    """

    stage: Stage
    key: Mapping[str, Any]
    part_count: int
    total_work: float = 0.0
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fingerprint(self) -> str:
        """Hash of name and key. A finished stage with the same hash is skipped."""
        return fingerprint({"stage": self.stage.name, **self.key})
