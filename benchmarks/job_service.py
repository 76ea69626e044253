"""Beam's own job service with several workers for each job, as other engines have.

    python -m benchmarks.job_service --port 8099 --workers 2

`apache_beam.runners.portability.local_job_service_main` asks the pool of external workers for one
worker, whatever `--direct_num_workers` says. Otherwise this is the same service.
"""

import argparse
import functools
import sys
import threading
from typing import Any

from apache_beam.portability.api import beam_job_api_pb2
from apache_beam.runners.portability.fn_api_runner import FnApiRunner
from apache_beam.runners.portability.local_job_service import BeamJob, LocalJobServicer


class ParallelJob(BeamJob):
    """A job that runs on `workers` workers."""

    def __init__(self, *args: Any, workers: int) -> None:
        super().__init__(*args)
        self._workers = workers

    def _invoke_runner(self) -> Any:
        self.set_state(beam_job_api_pb2.JobState.RUNNING)
        runner = FnApiRunner(provision_info=self._provision_info)
        runner._num_workers = self._workers
        return runner.run_via_runner_api(self._pipeline_proto, self.pipeline_options())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workers", type=int, required=True)
    args = parser.parse_args()
    job_type: Any = functools.partial(ParallelJob, workers=args.workers)
    LocalJobServicer(beam_job_type=job_type).start_grpc_server(args.port)
    threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
