import ast
import functools
import os
import signal

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner

from wikisum.pipeline.workers import ForkedWorkers, end_server, preload, start_server

pytestmark = [
    pytest.mark.slow,
    # of Beam, which counts workers by other flags
    pytest.mark.filterwarnings("ignore"),
]


def run(function, path):
    """Call a function for 0 to 7 in a pipeline of two workers, which write what it returns."""
    options = PipelineOptions(["--direct_num_workers=2"])
    with beam.Pipeline(runner=FnApiRunner(ForkedWorkers.default()), options=options) as pipeline:
        results = pipeline | beam.Create(range(8)) | beam.Reshuffle() | beam.Map(function)
        _ = results | beam.Map(lambda result: (path / str(result[0])).write_text(str(result[1:])))


def processes(number):
    return number, os.getpid(), os.getppid()


def end_at_five(number):
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return (number,)


@functools.cache
def loaded_in():
    return os.getpid()


def processes_with_loaded(number):
    return number, loaded_in(), os.getppid()


def cannot_load():
    raise ImportError("no such model")


@pytest.mark.longest
def test_workers_of_all_pipelines_are_forks_of_one_process(tmp_path, capfd):
    """Which does not warn of a missing cloud client, as Beam would."""
    end_server()
    found = set()
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        run(processes, folder)
        found |= {ast.literal_eval(path.read_text()) for path in folder.iterdir()}
        assert len(list(folder.iterdir())) == 8
    assert len({worker for worker, _ in found}) == 4
    assert len({server for _, server in found} | {os.getpid()}) == 2
    assert "apitools" not in capfd.readouterr().err


@pytest.mark.longest
def test_the_server_ends_and_another_starts(tmp_path):
    first = start_server()
    end_server()
    end_server()
    assert first.process.returncode == 0
    assert start_server() is start_server() is not first
    run(processes, tmp_path)
    assert len(list(tmp_path.iterdir())) == 8


def test_a_pipeline_fails_with_a_worker_that_is_killed(tmp_path):
    with pytest.raises(RuntimeError, match="a worker process was killed"):
        run(end_at_five, tmp_path)


def test_what_the_server_loads_is_there_in_all_later_workers(tmp_path):
    preload(cannot_load)
    preload(loaded_in)
    run(processes_with_loaded, tmp_path)
    found = [ast.literal_eval(path.read_text()) for path in tmp_path.iterdir()]
    assert len(found) == 8
    assert all(process == server for process, server in found)


def test_a_worker_that_fails_gives_its_own_error(tmp_path, monkeypatch):
    monkeypatch.setenv("PIPELINE_OPTIONS_FILE", str(tmp_path / "missing"))
    with pytest.raises(
        RuntimeError, match=r"a worker process failed: FileNotFoundError: .*missing"
    ):
        run(processes, tmp_path)


def test_a_server_that_is_killed_is_named(tmp_path):
    start_server().process.kill()
    try:
        with pytest.raises(RuntimeError, match="the process that forks the workers was killed"):
            run(processes, tmp_path)
    finally:
        end_server()
