"""Does a build on every engine that this machine offers make the same bytes?

    make clusters
    python -m benchmarks.clusters --out out/clusters [--engines dask portable] -- BUILD FLAGS

Builds the bundled sample (or what the flags after `--` name) with the embedded runner and then with
each other engine, and compares the SHA-256 of every shard. A table: wall and CPU seconds, and files
with the same bytes. (`benchmarks/worker_kills.py` kills workers and drivers.) `embedded-1` is one
process, for comparison; all others have two workers. If it is among the engines, a second table has
its stages of over `--min-seconds`: wall and CPU seconds on each engine, how many times as fast each
was, and the CPU seconds of all workers over those of the busiest one, which says how evenly they
shared the work whatever else the machine did.

Dask and Beam's portable job service (Python, external workers) always run. The others run where
they are found: Flink and Spark if WIKISUM_FLINK_JAR or WIKISUM_SPARK_JAR names Beam's job server
or it lies in ~/.m2 (`beam-runners-flink-2.2-job-server`, `beam-runners-spark-3-job-server`, of
Beam's version; Java 11), Prism if WIKISUM_PRISM names its binary or PATH has `prism`.
"""

import argparse
import contextlib
import hashlib
import json
import os
import platform
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam

from benchmarks.stage_times import StageTime, Watch, stage_times
from benchmarks.stage_times import table as stage_times_table

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
SAMPLE = (
    "--articles", str(GOLDEN / "sample.xml.bz2"),
    "--warcs", str(GOLDEN / "sample-*.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"),
    "--vocab-size", "1000",
)  # fmt: skip
CONTENT = ("articles", "wanted", "documents", "examples", "dropped", "vocab")
WORKERS = 2
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Engine(NamedTuple):
    """A running engine: Beam's flags for it and its workers; without workers none can be killed.

    A stage that finishes no part for `stall_minutes` fails. Each process of `workers` is a worker
    or the parent of several. `start_worker` starts one more.
    """

    flags: list[str]
    workers: list[subprocess.Popen]
    processes: int = WORKERS
    stall_minutes: float = 60
    start_worker: Callable[[], subprocess.Popen] | None = None

    def replace_worker(self) -> None:
        """Start a worker for one that was killed, unless the engine does that itself."""
        if self.start_worker is not None:
            self.workers.append(self.start_worker())


@contextlib.contextmanager
def one_process(folder: Path) -> Iterator[Engine]:
    """Beam's embedded runner, with one process."""
    yield Engine([], [], 1)


@contextlib.contextmanager
def embedded(folder: Path) -> Iterator[Engine]:
    """Beam's embedded runner, with two processes."""
    yield Engine([], [])


@contextlib.contextmanager
def dask(folder: Path) -> Iterator[Engine]:
    """A scheduler of Dask and two workers of one thread."""
    with contextlib.ExitStack() as stack:
        file, scratch = folder / "scheduler.json", folder / "scratch"
        quiet = ["--no-dashboard", "--scheduler-file", str(file)]
        _start(stack, folder, "-m", "distributed.cli.dask_scheduler", "--port", "0", *quiet)
        address = wait_for(lambda: json.loads(file.read_text())["address"])

        def start_worker() -> subprocess.Popen:
            words = ["-m", "distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1"]
            return _start(stack, folder, *words, "--local-directory", str(scratch), *quiet)

        workers = [start_worker() for _ in range(WORKERS)]
        flags = ["--runner=DaskRunner", f"--dask_client_address={address}"]
        yield Engine(flags, workers, start_worker=start_worker)


@contextlib.contextmanager
def portable(
    folder: Path, python: Path | str = sys.executable, workers: int = WORKERS
) -> Iterator[Engine]:
    """Beam's job service and a pool of external workers, in the environment of `python`."""
    with contextlib.ExitStack() as stack, _pool(stack, folder, python) as (flags, pool):
        port = free_port()
        service = str(ROOT / "benchmarks" / "job_service.py")
        _start(stack, folder, service, "--port", str(port), "--workers", str(workers))
        wait_for(lambda: socket.create_connection(("127.0.0.1", port), 1).close() or True)
        endpoint = f"--job_endpoint=127.0.0.1:{port}"
        yield Engine(["--runner=PortableRunner", endpoint, *flags], [pool])


@contextlib.contextmanager
def flink(folder: Path) -> Iterator[Engine]:
    """A local Flink cluster in Beam's job server, with external workers."""
    with contextlib.ExitStack() as stack, _pool(stack, folder) as (flags, pool):
        jar = job_server("FLINK", "beam-runners-flink-2.2-job-server")
        yield Engine(
            ["--runner=FlinkRunner", f"--flink_job_server_jar={jar}", "--flink_master=[local]",
             f"--parallelism={WORKERS}", *flags],
            [pool],
        )  # fmt: skip


@contextlib.contextmanager
def spark(folder: Path) -> Iterator[Engine]:
    """A local Spark in Beam's job server, with external workers."""
    with contextlib.ExitStack() as stack, _pool(stack, folder) as (flags, pool):
        jar = job_server("SPARK", "beam-runners-spark-3-job-server")
        master = f"--spark_master_url=local[{WORKERS}]"
        yield Engine(
            ["--runner=SparkRunner", f"--spark_job_server_jar={jar}", master, *flags],
            [pool],
        )


@contextlib.contextmanager
def prism(folder: Path) -> Iterator[Engine]:
    """Prism, with external workers."""
    with contextlib.ExitStack() as stack, _pool(stack, folder) as (flags, pool):
        yield Engine(
            ["--runner=PrismRunner", f"--prism_location={prism_binary()}", *flags],
            [pool],
        )


Start = Callable[[Path], contextlib.AbstractContextManager[Engine]]
ENGINES: dict[str, Start] = {
    "embedded": embedded,
    "embedded-1": one_process,
    "dask": dask,
    "portable": portable,
    "flink": flink,
    "spark": spark,
    "prism": prism,
}


def found_engines() -> list[str]:
    """Return the engines that can run here."""
    has_java = shutil.which("java") is not None
    found = {
        "flink": has_java and job_server("FLINK", "beam-runners-flink-2.2-job-server"),
        "spark": has_java and job_server("SPARK", "beam-runners-spark-3-job-server"),
        "prism": prism_binary(),
    }
    return [name for name in ENGINES if found.get(name, True)]


def job_server(variable: str, artifact: str) -> str | None:
    """Return the path of a job server, named by a variable or in the local Maven repository."""
    if named := os.environ.get(f"WIKISUM_{variable}_JAR"):
        return named
    version = apache_beam.__version__
    jar = Path.home() / ".m2/repository/org/apache/beam" / artifact / version
    jar /= f"{artifact}-{version}.jar"
    return str(jar) if jar.is_file() else None


def prism_binary() -> str | None:
    """Return the path of Prism, named by a variable or on the PATH."""
    return os.environ.get("WIKISUM_PRISM") or shutil.which("prism")


@contextlib.contextmanager
def _pool(
    stack: contextlib.ExitStack, folder: Path, python: Path | str = sys.executable
) -> Iterator[tuple[list[str], subprocess.Popen]]:
    """A pool of external workers, and the flags by which an engine asks it for them."""
    port = free_port()
    module = "apache_beam.runners.worker.worker_pool_main"
    pool = _start(stack, folder, "-m", module, f"--service_port={port}", python=python)
    wait_for(lambda: socket.create_connection(("127.0.0.1", port), 1).close() or True)
    yield ["--environment_type=EXTERNAL", f"--environment_config=127.0.0.1:{port}"], pool


def _start(
    stack: contextlib.ExitStack, folder: Path, *words: str, python: Path | str = sys.executable
) -> subprocess.Popen:
    """Start Python in a directory of its own; it and its children end with the stack.

    The `python` that its children find on the PATH is the same: a pool starts its workers with it.
    """
    path = f"{Path(python).parent}:{os.environ['PATH']}"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "engine.log", "ab") as log:
        process = subprocess.Popen(
            [str(python), *words], cwd=folder, stdout=log, stderr=log,
            env={**ENVIRONMENT, "PATH": path}, start_new_session=True,
        )  # fmt: skip
    stack.callback(_end, process)
    return process


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def free_port() -> int:
    """Return a port that no process listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(found: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Return the first true result. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError):
            if result := found():
                return result
        time.sleep(0.1)
    raise TimeoutError("an engine did not start")


def hashes(out: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of the dataset's content, by its relative path."""
    paths = sorted(p for name in CONTENT for p in (out / name).rglob("*") if p.is_file())
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def start_build(out: Path, flags: Sequence[str], engine: Engine) -> subprocess.Popen:
    """Start a build in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "wikisum", *build_words(out, flags, engine)],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT,
    )  # fmt: skip


def build_words(out: Path, flags: Sequence[str], engine: Engine) -> list[str]:
    """Return the words of a call of `wikisum` that builds on an engine."""
    words = ["build", *flags, "--workers", str(engine.processes)]
    words += ["--stall-minutes", str(engine.stall_minutes), "--out", str(out)]
    return [*words, "--", *engine.flags] if engine.flags else words


def build(out: Path, flags: Sequence[str], engine: Engine) -> list[StageTime]:
    """Build to the end; return the times of its stages. Raises RuntimeError if it fails."""
    process = start_build(out, flags, engine)
    watch = Watch(process.pid, [worker.pid for worker in engine.workers])
    _, said = process.communicate()
    watch.stop()
    if process.returncode:
        raise RuntimeError(f"build ended with {process.returncode}: {said[-2_000:]}")
    return stage_times(out, watch)


def records(out: Path) -> dict[str, int]:
    """Return the time of change of each recorded part, in nanoseconds."""
    return {str(p): p.stat().st_mtime_ns for p in out.glob(".work/*/part-*.json")}


def rows(
    out: Path,
    names: Sequence[str],
    flags: Sequence[str],
    times: dict[str, list[StageTime]],
) -> Iterator[dict]:
    """Yield a row per engine; add the times of its stages to `times`."""
    expected: dict[str, str] = {}
    for name in names:
        shutil.rmtree(out / name, ignore_errors=True)
        cpu, start = _cpu_seconds(), time.monotonic()
        with ENGINES[name](out / name / "engine") as engine:
            times[name] = build(out / name / "build", flags, engine)
        wall = time.monotonic() - start
        row: dict[str, Any] = {"engine": name, "wall s": round(wall, 1)}
        row["CPU s"] = round(_cpu_seconds() - cpu, 1)  # of processes that have ended
        made = hashes(out / name / "build")
        expected = expected or made
        row["same files"] = f"{len(made.items() & expected.items())} of {len(expected)}"
        yield row


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=None)
    parser.add_argument(
        "--min-seconds",
        type=float,
        default=20.0,
        metavar="S",
        help="wall seconds with one process from which on a stage is in the second table",
    )
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    args = parser.parse_args(words[:cut])
    names = list(dict.fromkeys(["embedded", *(args.engines or found_engines())]))
    table = []
    times: dict[str, list[StageTime]] = {}
    flags = words[cut + 1 :] or SAMPLE
    for row in rows(args.out.resolve(), names, flags, times):
        table.append(row)
        print(" | ".join(f"{name}: {value}" for name, value in row.items()), flush=True)
    if "embedded-1" in times:
        print(stage_times_table(times, "embedded-1", args.min_seconds))
    missing = sorted(set(ENGINES) - set(names))
    print(f"not found here: {', '.join(missing) or 'none'}")
    about = {"beam": apache_beam.__version__, "cores": os.cpu_count()}
    print(json.dumps({"rows": table, "stages": times, **about, "machine": platform.machine()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
