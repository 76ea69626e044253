"""How and where the stages of one command run."""

from dataclasses import dataclass
from typing import Any, TextIO

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.provenance import metadata_of
from wikisum.pipeline.engine.stage import Stage
from wikisum.pipeline.engine.workspace import Workspace


@dataclass(frozen=True)
class Job:
    """The output folder, the number of worker processes and the flags for Beam.

    `to` is the stream for the person watching. It must not share the file descriptor of standard
    error, which goes to a log while a pipeline runs.
    """

    workspace: Workspace
    to: TextIO
    workers: int = 1
    beam_flags: tuple[str, ...] = ()

    @property
    def progress_folder(self) -> str | None:
        """Where workers report their progress; None if they may run on other machines."""
        is_local = not files.is_remote(self.workspace.out) and not self.beam_flags
        return self.workspace.work("progress") if is_local else None

    @property
    def ticker(self) -> Ticker:
        """A new ticker for the workers of this job."""
        return Ticker(self.progress_folder)

    def writer(
        self, stage: Stage, part_count: int, origin: dict[str, Any] | None = None
    ) -> StageWriter:
        """A writer for a stage; every shard's metadata holds `origin`, if it is given."""
        metadata = {} if origin is None else metadata_of(origin)
        return StageWriter(self.workspace.out, stage, part_count, metadata, self.ticker)

    def forget(self, stage: Stage) -> None:
        """Delete the record and the files of a stage that is no part of this build."""
        self.workspace.forget(stage.name, stage.prefixes)

    def note(self, text: str) -> None:
        """Write an indented line below the closing line of a stage."""
        self.to.write(f"{'':<9} {text}\n")
