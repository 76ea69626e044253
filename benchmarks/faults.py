"""A build that kills one of its own processes once in each of its stages.

    python -c 'from benchmarks.faults import main; main()' FAULT build FLAGS

Runs `wikisum` with the words after FAULT, a JSON object with the fields of `Fault`. The workers
must be able to import this module. Each kill leaves a file named after its stage in `folder`, so
that it happens once even if the build is run again.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from wikisum.pipeline.cli import main as run_command
from wikisum.pipeline.engine import run, transforms
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.pipeline.joins import local

KILLS = {
    "worker-before": "a worker, before its first part",
    "worker-after": "a worker, as soon as it has recorded a part",
    "driver-within": "the driver, as soon as a part is recorded",
    "driver-between": "the driver, as soon as the stage is recorded",
}


class Fault(NamedTuple):
    """Which process is killed when (a key of `KILLS`), and in which stages."""

    kill: str
    stages: list[str]
    folder: str
    driver: int = 0

    def strike(self, kill: str, stage: str) -> None:
        """Kill the process now if this is the moment, in a stage without a kill so far."""
        if kill != self.kill or stage not in self.stages:
            return
        try:
            os.close(os.open(os.path.join(self.folder, stage), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os.kill(self.driver if kill == "driver-within" else os.getpid(), signal.SIGKILL)


class FaultyParts(run.DoParts):
    """`DoParts` with a fault."""

    def __init__(self, fault: Fault, *args: Any) -> None:
        super().__init__(*args)
        self._fault = fault

    def process(self, element: tuple[int, Any]) -> Iterator[int]:
        self._fault.strike("worker-before", self._stage)
        yield from super().process(element)

    def _record(self) -> None:
        is_record = bool(self._held)
        super()._record()
        if is_record:
            self._fault.strike("worker-after", self._stage)
            self._fault.strike("driver-within", self._stage)


def main() -> None:
    fault = Fault(**json.loads(sys.argv[1]))._replace(driver=os.getpid())
    faulty: Any = partial(FaultyParts, fault)
    for module in (run, transforms, local):
        module.DoParts = faulty  # type: ignore[attr-defined]
    finish = Workspace.finish

    def finish_and_strike(workspace: Workspace, result: StageResult) -> None:
        finish(workspace, result)
        fault.strike("driver-between", result.stage)

    Workspace.finish = finish_and_strike  # type: ignore[method-assign]
    sys.exit(run_command(sys.argv[2:]))
