"""A stage as its folder declares it, and one run of it."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa

from wikisum import __version__
from wikisum.pipeline.engine.files import InputFile, described, identity
from wikisum.pipeline.engine.funnel import Funnel
from wikisum.pipeline.engine.workspace import WORK, StageResult, fingerprint
from wikisum.pipeline.records import FORMAT_VERSION, Dropped, schema_of
from wikisum.pipeline.setting import Settings
from wikisum.ranker.setting import Checked


@dataclass(frozen=True)
class Output:
    """One kind of file that a stage writes.

    `prefix` is how the paths of its files begin, relative to the output folder. `record` is the
    type of what they hold. `count` names the count of their rows.
    """

    prefix: str
    record: type | None = None
    count: str | None = None
    suffix: str = ".parquet"

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of its Parquet shards, or None for files of another form."""
        is_shard = self.record is not None and self.suffix == ".parquet"
        return schema_of(self.record) if is_shard else None

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
    it drops a row; a stage with reasons also writes `dropped/dropped-<name>-*.parquet`. `settings`
    is the class of its settings; those with a `title` have their flags under it in `wikisum build`.
    `funnels` are
    those of the report. `internal` are stages that it runs first, whose files no other stage reads.

    What it made is deleted when a later build in the same folder does not need it, unless
    `is_kept`. A stage that `is_beside` the flow leaves a dataset in the same folder finished.
    """

    name: str
    unit: str
    outputs: tuple[Output, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    settings: type[Checked] | None = None
    title: str = ""
    funnels: tuple[Funnel, ...] = ()
    internal: tuple["Stage", ...] = ()
    is_kept: bool = False
    is_beside: bool = False

    @property
    def all_outputs(self) -> tuple[Output, ...]:
        """The outputs, the dropped rows among them."""
        dropped = Output(f"dropped/dropped-{self.name}-", Dropped)
        return (*self.outputs, dropped) if self.reasons else self.outputs

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the paths of all its files begin."""
        return tuple(output.prefix for output in self.all_outputs)


@dataclass(frozen=True, kw_only=True)
class StageRun:
    """A stage on certain inputs under certain settings.

    It reads what the stages `before` made, and the `inputs`, by the names that the manifest gives
    them. `more_settings` stand with the settings wherever these are recorded. `key` has what else
    decides about the content, `extra` what else is kept with the result; both take precedence over
    what is derived here. `total_work` is the sum of what the parts report as work, 0 if unknown.
    `preload` loads what each worker needs and keeps it: on one machine it is called once for all.
    """

    stage: Stage
    settings: Settings = field(default_factory=Settings)
    before: Sequence[StageResult] = ()
    inputs: Mapping[str, list[InputFile]] = field(default_factory=dict)
    part_count: int
    total_work: float = 0.0
    more_settings: Mapping[str, Any] = field(default_factory=dict)
    key: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    preload: Callable[[], object] | None = None

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides about the content. A stage with the same hash is skipped."""
        return fingerprint(
            {
                "stage": self.stage.name,
                "settings": self._recorded_settings,
                "before": [result.fingerprint for result in self.before],
                "inputs": {name: identity(files) for name, files in self.inputs.items()},
                **self.key,
            }
        )

    @property
    def origin(self) -> dict[str, Any]:
        """The settings of the stage and of those before it, without paths of this machine."""
        own = {self.stage.name: self._recorded_settings} if self._own else {}
        return reduce(or_, (result.extra.get("origin", {}) for result in self.before), {}) | own

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata of its shards. Nothing in it may depend on the machine or the run."""
        return {
            "wikisum.version": __version__,
            "wikisum.format": FORMAT_VERSION,
            "wikisum.settings": json.dumps(self.origin, sort_keys=True),
        }

    @property
    def recorded(self) -> dict[str, Any]:
        """What is kept with the result: settings, their origin, inputs, and `extra`."""
        return {
            "settings": {**(self._own.values() if self._own else {}), **self.more_settings},
            "origin": self.origin,
            "inputs": {name: described(files) for name, files in self.inputs.items()},
            **self.extra,
        }

    @property
    def _recorded_settings(self) -> dict[str, Any]:
        return {**(self._own.recorded() if self._own else {}), **self.more_settings}

    @property
    def _own(self) -> Checked | None:
        return self.settings[self.stage.settings] if self.stage.settings else None
