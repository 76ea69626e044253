"""Run a stage that joins: range by range on one machine, by Beam's own groupings on a cluster."""

import os
import tempfile
from functools import partial

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_stage
from wikisum.pipeline.engine.stage import StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.joins import cluster
from wikisum.pipeline.joins.flow import Flow
from wikisum.pipeline.joins.local import FOLDER, LocalFlow

# Bytes in memory for each byte of packed records of a range: the records as objects, what is made
# of them, the segment that is written, and freed memory that lies between objects in use
_BYTES_PER_PACKED_BYTE = 16
_CLUSTER_RANGE_BYTES = 16 << 20
_RANGES_PER_WORKER = 4  # so that workers end at about the same time


def range_bytes(job: Job) -> int:
    """The bytes of packed records that a worker may hold."""
    if job.beam_flags:
        return _CLUSTER_RANGE_BYTES
    return max(1, job.memory_bytes // job.workers // _BYTES_PER_PACKED_BYTE)


def range_count(job: Job, packed_bytes: float) -> int:
    """The number of ranges for records of this size in all: some for each worker."""
    at_least = 1 if job.workers == 1 and not job.beam_flags else _RANGES_PER_WORKER * job.workers
    return max(at_least, division_count(job, packed_bytes))


def division_count(job: Job, packed_bytes: float) -> int:
    """The number of divisions of a part whose records have this size."""
    return 1 + int(packed_bytes / range_bytes(job))


def run_flow(job: Job, run: StageRun, flow: Flow) -> StageResult:
    """The result of a run whose parts are those of the flow's target.

    On one machine the ranges lie in the work folder or, for a remote output, in a temporary folder
    of this machine, whose ranges a later run does not find.
    """
    if job.beam_flags:
        return run_stage(job, run, partial(cluster.construct, flow, run.stage.name))
    if files.is_remote(job.workspace.out):
        with tempfile.TemporaryDirectory(prefix="wikisum-ranges-") as folder:
            return run_stage(job, run, _in_ranges(job, run, flow, folder))
    folder = files.join(job.workspace.parts(run.stage.name, run.fingerprint).folder, FOLDER)
    counts = "-".join(str(grouping.count) for grouping in flow.groupings)
    if os.path.isdir(folder):  # left by a run that was killed
        for other in set(os.listdir(folder)) - {counts}:
            files.delete_folder(files.join(folder, other))
    result = run_stage(job, run, _in_ranges(job, run, flow, files.join(folder, counts)))
    files.delete_folder(folder)
    return result


def _in_ranges(job: Job, run: StageRun, flow: Flow, folder: str) -> LocalFlow:
    return LocalFlow(flow, run.stage.name, folder, range_bytes(job), job.workers == 1)
