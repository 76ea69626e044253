"""How and where the stages of one command run."""

from dataclasses import dataclass
from typing import TextIO

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.stage import Stage, StageRun
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.machine import GIB, memory_bytes


def default_memory_bytes(workers: int) -> int:
    """1 GiB for each worker, but at most half of what this machine has."""
    return min(workers * GIB, memory_bytes() // 2)


@dataclass(frozen=True)
class Job:
    """The output folder, the number of worker processes and the flags for Beam.

    `memory_bytes` is what joins may take on one machine, over all workers. It decides no byte.
    `to` is the stream for the person watching. It must not share the file descriptor of standard
    error, which goes to a log while a pipeline runs. On another engine a stage fails that finishes
    no part for `stall_minutes`.
    """

    workspace: Workspace
    to: TextIO
    workers: int = 1
    beam_flags: tuple[str, ...] = ()
    stall_minutes: float = 180
    memory_bytes: int = GIB

    @property
    def progress_folder(self) -> str | None:
        """Where workers report their progress; None if they may run on other machines."""
        is_local = not files.is_remote(self.workspace.out) and not self.beam_flags
        return self.workspace.work("progress") if is_local else None

    @property
    def ticker(self) -> Ticker:
        """A new ticker for the workers of this job."""
        return Ticker(self.progress_folder)

    def writer(self, run: StageRun) -> StageWriter:
        """A writer for the parts of a run."""
        out, ticker = self.workspace.out, self.ticker
        return StageWriter(out, run.stage, run.part_count, run.metadata, ticker)

    def forget(self, stage: Stage) -> None:
        """Delete the records and the files of a stage that is no part of this build."""
        for each in (stage, *stage.internal):
            self.workspace.forget(each.name, each.prefixes)

    def note(self, text: str) -> None:
        """Write an indented line below the closing line of a stage."""
        self.to.write(f"{'':<9} {text}\n")
