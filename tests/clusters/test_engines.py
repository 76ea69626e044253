"""Builds on other engines: the same bytes as with the embedded runner, also if a worker is lost."""

import subprocess
import sys
import time

import distributed
import psutil
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.stager import Stager

from benchmarks.clusters import ENGINES, ROOT, build, hashes, portable
from benchmarks.worker_kills import build_with_kills
from tests.conftest import GOLDEN
from tests.packaging.environments import build as build_wheel
from tests.packaging.environments import copy_checkout, make_environment, unpack
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine import runner

FLAGS = [
    "--articles", str(GOLDEN / "sample.xml.bz2"),
    "--warcs", str(GOLDEN / "sample-pages-00000.warc.gz"),
    str(GOLDEN / "sample-pages-00001.warc.gz"), str(GOLDEN / "sample-wet-00000.warc.wet.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"),
    "--vocab-size", "1000", "--graphs", "none",
]  # fmt: skip


def has_ended(pid):
    """Whether a process ends within 20 s; one that nobody has waited for counts as ended."""
    for _ in range(200):
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def embedded(tmp_path_factory):
    """The hashes of the files that the embedded runner makes."""
    out = tmp_path_factory.mktemp("embedded")
    assert main(["build", *FLAGS, "--workers", "1", "--out", str(out)]) == 0
    return hashes(out)


@pytest.mark.longest
@pytest.mark.slow
def test_a_build_on_dask_survives_the_loss_of_workers(tmp_path, embedded):
    """Three stages lose a worker each, which has just recorded a part; `make clusters` tries all.

    The workers run in another directory, so that relative paths would not do.
    """
    out, stages = tmp_path / "dask" / "build", ["articles", "examples", "tokenize"]
    outcome = build_with_kills(out, FLAGS, "dask", "worker-after", stages, stall_minutes=30)
    assert sorted(outcome.stages) == stages
    assert (outcome.run_again, outcome.parts_redone) == (0, 0)
    assert hashes(out) == embedded


@pytest.mark.slow
def test_dask_without_an_address_has_one_cluster_that_ends_with_the_command(tmp_path, monkeypatch):
    clusters = []

    class Counted(distributed.LocalCluster):
        def __init__(self, **settings):
            super().__init__(**settings)
            clusters.append([worker.pid for worker in self.workers.values()])

    monkeypatch.setattr(distributed, "LocalCluster", Counted)
    words = ["articles", "--articles", str(GOLDEN / "sample.xml.bz2"), "--workers", "2", "--out"]
    assert main([*words, str(tmp_path / "embedded")]) == 0
    assert main([*words, str(tmp_path / "dask"), "--", "--runner=DaskRunner"]) == 0
    (processes,) = clusters
    assert len(processes) == 2
    assert all(map(has_ended, processes))
    assert hashes(tmp_path / "dask") == hashes(tmp_path / "embedded")


@pytest.mark.longest
@pytest.mark.slow
def test_external_workers_of_the_staged_package_make_the_same_bytes(tmp_path):
    """A fresh environment has what Beam stages and what the extra `build` requires, no more.

    One worker per stage, since each loads Beam anew; `make clusters` runs two.
    """
    flags = [flag for flag in FLAGS if flag not in ("--graphs", "none")]
    flags += ["--limit", "4", "--shards", "1", "--workers", "1"]
    assert main(["build", *flags, "--out", str(tmp_path / "embedded")]) == 0
    checkout = copy_checkout(tmp_path / "checkout")
    options = PipelineOptions([f"--setup_file={checkout / 'setup.py'}"])
    Stager.create_job_resources(options, str(tmp_path))
    (staged,) = tmp_path.glob("*.tar.gz")
    wheel = build_wheel(unpack(staged, tmp_path / "unpacked"), "wheel", tmp_path / "dist")
    programs = make_environment(tmp_path / "venv", wheel, "build")
    with portable(tmp_path / "engine", programs / "python", workers=1) as engine:
        build(tmp_path / "out", flags, engine)
    assert "worker_0" in (tmp_path / "engine" / "engine.log").read_text()
    assert hashes(tmp_path / "out") == hashes(tmp_path / "embedded")


@pytest.mark.slow
def test_workers_that_do_not_start_end_the_build(tmp_path, monkeypatch, capsys):
    """As where the `python` on the PATH of the pool lacks Beam."""
    pool, python = tmp_path / "pool", tmp_path / "python"
    pool.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.write_text("#!/bin/sh\nexit 1\n")
    for program in (pool, python):
        program.chmod(0o755)
    monkeypatch.setattr(runner, "START_SECONDS", 5.0)
    with portable(tmp_path / "engine", pool) as engine:
        words = ["build", *FLAGS, "--out", str(tmp_path / "out"), "--", *engine.flags]
        assert main(words) == 1
    assert "no worker of the engine started within 5 seconds" in capsys.readouterr().err


# the program that is replaced, its flag for the port, and how often it is started: Beam's runner
# for Flink starts a job server for each job, and the check of the workers is a job too
JOB_SERVERS = {
    "flink": ("java", "--job-port", 4),
    "spark": ("java", "--job-port", 1),
    "prism": ("prism", "--job_port", 1),
}


def stand_in(name, folder, monkeypatch, script):
    """Let a shell script take the place of a job server; `$2` is its port."""
    program, flag, _ = JOB_SERVERS[name]
    path = folder / "bin" / program
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nwhile [ "$1" != {flag} ]; do shift; done\n{script}\n')
    path.chmod(0o755)
    monkeypatch.setenv("PATH", str(path.parent), prepend=":")
    monkeypatch.setenv("WIKISUM_PRISM", str(path))
    for engine in ("FLINK", "SPARK"):
        monkeypatch.setenv(f"WIKISUM_{engine}_JAR", str(path))  # any file


@pytest.mark.slow
@pytest.mark.parametrize("name", JOB_SERVERS)
def test_a_job_server_that_exits_after_its_start_is_reported_with_its_last_line(
    name, tmp_path, monkeypatch
):
    """And nothing else: threads of gRPC print a stack when their channel is closed."""
    script = "echo no such option >&2; echo Usage of it: >&2; echo '  --port' >&2; exit 3"
    stand_in(name, tmp_path, monkeypatch, script)
    words = ["articles", "--articles", str(GOLDEN / "sample.xml.bz2"), "--out", str(tmp_path / "o")]
    with ENGINES[name](tmp_path / "engine") as engine:
        call = [sys.executable, "-m", "wikisum", *words, "--", *engine.flags]
        done = subprocess.run(call, capture_output=True, text=True)
    assert done.returncode == 1
    line = "wikisum articles: Service failed to start up with error 3: no such option\n"
    assert done.stderr.endswith(line)
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", JOB_SERVERS)
def test_beam_starts_the_job_server_of_an_engine_and_it_ends_with_the_command(
    name, tmp_path, monkeypatch
):
    """With Beam's Python job service in the place of the engine, behind the flags that it gets.

    `python -m wikisum`, since it leaves without calling exit handlers.
    """
    started = tmp_path / "started"
    service = f"{sys.executable} {ROOT / 'benchmarks' / 'job_service.py'}"
    script = f'echo $$ >> {started}; exec {service} --port "$2" --workers 1'
    stand_in(name, tmp_path, monkeypatch, script)
    words = ["articles", "--articles", str(GOLDEN / "sample.xml.bz2"), "--workers", "1"]
    assert main([*words, "--out", str(tmp_path / "embedded")]) == 0
    with ENGINES[name](tmp_path / "engine") as engine:
        call = [sys.executable, "-m", "wikisum", *words, "--out", str(tmp_path / "out")]
        done = subprocess.run([*call, "--", *engine.flags], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "service" not in done.stderr  # what Beam says goes to the log
    processes = started.read_text().split()
    assert len(processes) == JOB_SERVERS[name][2]
    assert all(has_ended(int(process)) for process in processes)
    assert hashes(tmp_path / "out") == hashes(tmp_path / "embedded")
