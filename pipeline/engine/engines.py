"""The engine that Beam's flags name: check the flags and the workers, add what a build needs."""

import argparse
import contextlib
import functools
import json
import logging
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import apache_beam as beam
import cloudpickle
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.common import DoFnInvoker
from apache_beam.runners.runner import PipelineRunner, create_runner

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.manifest import versions
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed

DASK = "apache_beam.runners.dask.dask_runner.DaskRunner"
_MACHINE, _MACHINE_OF_ONE_PART = "n2-standard-4", "n2-highmem-2"
_MAX_MACHINES = 1_000  # the default limit of a job on Dataflow
_KNOWN = (
    "runner", "template_location", "job_name", "machine_type", "worker_machine_type",
    "max_num_workers", "dask_client_address", "dask_scheduler_file",
)  # fmt: skip
_MUST_AGREE = ("wikisum", "format", "apache-beam")
_ends: list[Callable[[], object]] = []  # of the job servers and clusters that this process started


class _Parser(argparse.ArgumentParser):
    """Parses flags for Beam; raises ValueError where argparse would print its usage and exit."""

    def __init__(self) -> None:
        super().__init__(allow_abbrev=False, add_help=False)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"Beam flags after --: {message}")


def checked_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """Return the flags as Beam is to get them. Raises ValueError for flags it does not have.

    Beam itself would ignore a flag that it does not know. A runner's own flags exist only once its
    module has been imported, so the named runner is imported first.
    """
    if not flags:
        return ()
    known = _known(flags)
    if known.template_location is not None:
        raise ValueError("--template_location: a build is several jobs, which no template holds")
    more = []
    if known.runner is not None:
        name = DASK if known.runner.lower() in ("dask", "daskrunner") else known.runner
        _import_runner(name)
        more.append(f"--runner={name}")  # the last one counts
        _start_job_servers_in_any_thread()
        if name == DASK:
            _keep_ends_of_bundles()
            if not any(flag.startswith(("--dask_partition", "--dask_npart")) for flag in flags):
                more.append("--dask_partition_size=1")  # one task per part
    parser = _Parser()
    children: list[Any] = _all_subclasses(PipelineOptions)
    for options in children:
        with contextlib.suppress(argparse.ArgumentError):
            options._add_argparse_args(parser)
    _, unknown = parser.parse_known_args(list(flags))
    if unknown:
        raise ValueError(f"Beam has no flag {unknown[0]}")
    return (*flags, *more)


def check_reachable(flags: Sequence[str], paths: Iterable[str]) -> None:
    """Raise ValueError for a path that the workers of the named engine cannot reach.

    Dataflow's workers read nothing of this machine; other engines may share a file system with it.
    """
    if is_dataflow(flags):
        for path in paths:
            if not files.is_remote(path):
                raise ValueError(
                    f"{path}: Dataflow's workers cannot reach files of this machine; "
                    "name a path such as gs://bucket/folder"
                )


def is_dataflow(flags: Sequence[str]) -> bool:
    """Whether the flags name Google's Dataflow."""
    return "dataflow" in (_known(flags).runner or "").lower()


def job_flags(flags: Sequence[str], stage: str, fingerprint: str, part_count: int) -> list[str]:
    """Return the flags of the job of one stage: on Dataflow with a name, a label and worker hints.

    The hints are the type of the workers and their maximum number, unless the flags name them: a
    single part gets one machine with much memory, others at most a machine with four cores each.
    """
    if not is_dataflow(flags):
        return list(flags)
    known = _known(flags)
    name = f"{known.job_name or 'wikisum'}-{stage}-{fingerprint}".replace("_", "-")
    hints = []
    if not (known.machine_type or known.worker_machine_type):
        hints.append(f"--machine_type={_MACHINE if part_count > 1 else _MACHINE_OF_ONE_PART}")
    if not known.max_num_workers:
        hints.append(f"--max_num_workers={min(part_count, _MAX_MACHINES)}")
    return [*flags, f"--job_name={name}", f"--labels=wikisum-stage={stage}", *hints]


@dataclass(frozen=True)
class WorkerCheck:
    """A job in which a worker writes its versions into the output folder.

    An engine whose workers do not start, or cannot write where this machine reads, would otherwise
    be noticed after hours, or never.
    """

    workspace: Workspace
    id: str = field(default_factory=lambda: uuid.uuid4().hex[:16])

    @property
    def path(self) -> str:
        """Where the worker writes."""
        return self.workspace.work(f"check-{self.id}.json")

    def construct(self, pipeline: beam.Pipeline) -> None:
        """Add the transform that writes the worker's versions."""
        _ = pipeline | beam.Create([self.path]) | "check" >> beam.Map(write_versions)

    def differences(self) -> list[str]:
        """Return a line for each library that the worker has in another version.

        Raises JobFailed if the worker wrote elsewhere, or if its version of this package, of Beam
        or of Python (3.x) differs.
        """
        if not files.exists(self.path):
            raise JobFailed(
                f"the workers do not write where this machine reads: {self.workspace.out} must be "
                "on storage that all of them share"
            )
        found: dict[str, str] = json.loads(files.read_bytes(self.path))
        files.delete(self.path)
        here = versions()
        for name in _MUST_AGREE:
            _check(name, found.get(name), here.get(name))
        _check("python", _minor(found["python"]), _minor(here["python"]))
        return [
            f"workers have {name} {found.get(name, '(missing)')}, this machine {here[name]}"
            for name in here
            if found.get(name) != here[name]
        ]


def write_versions(path: str) -> None:
    """Write the versions of this process to a file."""
    files.write_bytes(path, json.dumps(versions()).encode())


def _check(name: str, found: str | None, expected: str | None) -> None:
    if found != expected:
        raise JobFailed(f"workers have {name} {found or '(missing)'}, this machine {expected}")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _known(flags: Sequence[str]) -> argparse.Namespace:
    parser = _Parser()
    for name in _KNOWN:
        parser.add_argument(f"--{name}")
    return parser.parse_known_args(list(flags))[0]


def _import_runner(name: str) -> None:
    """Import a runner by its name or its full path. Raises ValueError if that fails."""
    try:
        is_runner = isinstance(create_runner(name), PipelineRunner)
    except ImportError as error:
        needs = "pip install 'wikisum[dask]'" if name == DASK else str(error)
        raise ValueError(f"--runner={name} cannot be imported: {needs}") from error
    except (ValueError, AttributeError, TypeError):
        is_runner = False
    if not is_runner:
        raise ValueError(f"--runner: Beam has no runner {name!r}")


def _all_subclasses(root: type) -> list[Any]:
    found: list[Any] = []
    child: Any
    for child in root.__subclasses__():
        found += [child, *_all_subclasses(child)]
    return found


def _start_job_servers_in_any_thread() -> None:
    """Let Beam start the job server of Flink, Spark or Prism outside the main thread.

    Beam 2.77 also sets a handler of SIGINT when it starts one. Only the main thread can do that,
    but jobs run in others, and a command has a handler of its own.
    """
    from apache_beam.runners.portability.job_server import StopOnExitJobServer

    StopOnExitJobServer.start = start_job_server  # type: ignore[method-assign]


def start_job_server(server: Any) -> Any:
    """Return the endpoint of a job server; start the server if it does not run.

    Takes the place of Beam's method. Jobs run one after the other, so those that were started
    before are ended: Beam's runner for Flink has one for each job. Raises RuntimeError if the
    server ends at once, with the last line that it printed.
    """
    with server._lock:
        if not server._started:
            end_local_engine()
            with _error_with_output(server._job_server):
                server._endpoint = server._job_server.start()
            server._started = True
            _ends.append(server.stop)
    return server._endpoint


@contextlib.contextmanager
def _error_with_output(job_server: Any) -> Iterator[None]:
    """Add the last line that a job server printed to Beam's error, which has only its status.

    Beam logs the lines under the name of the server's class.
    """
    printed, logger = _Printed(), logging.getLogger(type(job_server).__name__)
    logger.setLevel(logging.INFO)
    logger.addHandler(printed)
    before = threading.enumerate()
    try:
        yield
    except RuntimeError as error:
        # one reads what the server prints; one of gRPC prints a stack when its channel is closed
        for thread in set(threading.enumerate()).difference(before):
            thread.join(timeout=5)
        raise RuntimeError(f"{error}: {printed.last}" if printed.last else str(error)) from error
    finally:
        logger.removeHandler(printed)


class _Printed(logging.Handler):
    """Keeps the last line that says something: not of a stack, nor the head of a list of flags."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        line = record.getMessage()
        if line.strip() and not line[0].isspace() and not line.startswith("Usage"):
            self.last = line


def has_local_engine() -> bool:
    """Return whether a job server or a cluster runs that this process has started."""
    return bool(_ends)


def end_local_engine() -> None:
    """End the job servers and clusters that this process has started; a later job starts others.

    Beam would do that in an exit handler, but commands leave without calling those.
    """
    _dask_address.cache_clear()
    while _ends:
        end = _ends.pop()  # first out of the list: a signal may call this once more
        try:
            end()
        except Exception:
            logging.getLogger(__name__).warning("a job server was not ended", exc_info=True)


def with_cluster(flags: Sequence[str], workers: int) -> list[str]:
    """Return flags for Dask with the address of workers on this machine, if they name none.

    Beam would start a cluster for each job, and end none of them.
    """
    known = _known(flags)
    if known.runner != DASK or known.dask_client_address or known.dask_scheduler_file:
        return list(flags)
    return [*flags, f"--dask_client_address={_dask_address(workers)}"]


@functools.lru_cache(maxsize=1)
def _dask_address(workers: int) -> str:
    """Start `workers` Dask workers on this machine; return the address of their scheduler."""
    from distributed import LocalCluster

    # without a memory limit, since Dask kills workers that exceed it; `--memory` bounds the joins
    cluster = LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=None, dashboard_address=None
    )
    _ends.append(cluster.close)
    address: str = cluster.scheduler_address
    return address


def _keep_ends_of_bundles() -> None:
    """Let Dask's runner keep the elements that a DoFn emits in `finish_bundle`.

    Beam 2.77 takes a bundle's results before it calls `finish_bundle`, and so loses them silently.
    """
    from apache_beam.runners.dask import transform_evaluator

    transform_evaluator.apply_dofn_to_bundle = run_bundle


def run_bundle(items: Iterable[Any], args: list, kwargs: dict, receivers: Any) -> list[Any]:
    """Return all that a DoFn emits for a bundle (takes the place of Beam's own function)."""
    # bundles of one process share these objects, and would share what has been received
    args, kwargs, receivers = cloudpickle.loads(cloudpickle.dumps((args, kwargs, receivers)))
    invoker = DoFnInvoker.create_invoker(*args, **kwargs)
    invoker.invoke_setup()
    invoker.invoke_start_bundle()
    for item in items:
        invoker.invoke_process(item)
    invoker.invoke_finish_bundle()
    invoker.invoke_teardown()
    return [received.value for received in receivers.values]
