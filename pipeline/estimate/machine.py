"""Compare an estimate with the machine that the build would run on."""

import shutil
from collections.abc import Iterator
from typing import NamedTuple

from wikisum.pipeline.estimate.estimate import Estimate, StageCost
from wikisum.pipeline.machine import existing_folder, memory_bytes


class Machine(NamedTuple):
    """The worker processes of a build, and the bytes of memory and free disk that it may use."""

    workers: int
    memory_bytes: float
    disk_bytes: float


def this_machine(workers: int, out: str) -> Machine:
    """Return this machine, with the free disk of the file system that `out` will be on."""
    return Machine(workers, memory_bytes(), shutil.disk_usage(existing_folder(out)).free)


def stage_memory(cost: StageCost, workers: int) -> float:
    """Return the memory of all processes of a stage."""
    return cost.process_bytes * (1 if cost.is_single else workers)


def misfits(found: Estimate, machine: Machine) -> Iterator[str]:
    """Yield a line for each thing that the machine has too little of: memory, disk."""
    largest = max(found.stages, key=lambda cost: stage_memory(cost, machine.workers))
    memory = stage_memory(largest, machine.workers)
    if memory > machine.memory_bytes:
        advice = "--vocab-characters" if largest.is_single else "--workers or --memory"
        name = f"memory for {largest.stage}"
        yield _line(name, memory, machine.memory_bytes, f"lower {advice}")
    disk = found.disk_bytes
    if disk > machine.disk_bytes:
        yield _line("disk", disk, machine.disk_bytes, "choose another --out, or set --limit")


def _line(name: str, needed: float, there: float, advice: str) -> str:
    return (
        f"does not fit this machine: the build needs {needed / 1e9:.1f} GB of {name}, "
        f"and {there / 1e9:.1f} GB are there: {advice}"
    )
