"""The engines that Beam's flags name."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import apache_beam as beam
import pytest
from apache_beam.runners.portability.job_server import JobServer, StopOnExitJobServer
from apache_beam.transforms.window import GlobalWindows

from wikisum.crawl.titles import article_id
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.engines import (
    DASK,
    WorkerCheck,
    check_reachable,
    checked_flags,
    end_local_engine,
    has_local_engine,
    is_dataflow,
    job_flags,
    with_cluster,
    write_versions,
)
from wikisum.pipeline.engine.manifest import versions
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.records import Dropped, WantedUrl
from wikisum.pipeline.wanted.search_results import SearchResult
from wikisum.pipeline.wanted.urls import CitingArticle
from wikisum.pipeline.wanted.want import WantUrls


def test_flags_of_beam_pass():
    assert checked_flags([]) == ()
    flags = ["--runner=FlinkRunner", "--direct_num_workers", "2"]
    assert checked_flags(flags) == (*flags, "--runner=FlinkRunner")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--runer=FlinkRunner"], "Beam has no flag --runer=FlinkRunner"),
        (["--direct_num_workers=2", "--direct_num_worker", "2"], "no flag --direct_num_worker"),
        (["--direct_num_workers=two"], "Beam flags after --: argument --direct_num_workers: inva"),
        (["--runner"], "Beam flags after --: argument --runner: expected one argument"),
        (["--help"], "Beam has no flag --help"),
        (["--runner=BestRunner"], "Beam has no runner 'BestRunner'"),
        (["--runner=best.module.Runner"], "--runner=best.module.Runner cannot be imported"),
        (["--runner=os.path.Runner"], "Beam has no runner 'os.path.Runner'"),
        (["--runner=os.path.join"], "Beam has no runner 'os.path.join'"),
        (["--runner=json.JSONDecoder"], "Beam has no runner 'json.JSONDecoder'"),
        (["--runner=DataflowRunner", "--template_location=gs://b/t"], "several jobs"),
    ],
)
def test_other_flags_are_a_wrong_call(flags, message, capsys):
    with pytest.raises(ValueError, match=message):
        checked_flags(flags)
    assert capsys.readouterr().err == ""


def test_flags_that_name_a_cluster_of_dask_stay():
    for flags in (
        [f"--runner={DASK}", "--dask_client_address=tcp://a:8786"],
        [f"--runner={DASK}", "--dask_scheduler_file=scheduler.json"],
        ["--runner=FlinkRunner"],
    ):
        assert with_cluster(flags, 2) == flags
    assert not has_local_engine()


class CountedServer(JobServer):
    """A job server that counts how often it was started and stopped."""

    def __init__(self):
        self.started, self.stopped = 0, 0

    def start(self):
        self.started += 1
        return "endpoint"

    def stop(self):
        self.stopped += 1


@pytest.mark.parametrize("runner", ["FlinkRunner", "SparkRunner", "PrismRunner"])
def test_the_job_server_of_a_runner_starts_in_the_thread_of_a_job(runner):
    checked_flags([f"--runner={runner}"])
    server = CountedServer()
    wrapped = StopOnExitJobServer(server)
    with ThreadPoolExecutor(1) as thread:
        assert [thread.submit(wrapped.start).result() for _ in range(2)] == ["endpoint"] * 2
    assert (server.started, server.stopped) == (1, 0)
    end_local_engine()
    assert (server.started, server.stopped) == (1, 1)


def test_one_job_server_runs_at_a_time():
    """The one of an earlier job is ended; an ended one can be started again."""
    checked_flags(["--runner=FlinkRunner"])
    servers = [CountedServer(), CountedServer()]
    wrapped = [StopOnExitJobServer(server) for server in servers]
    for each in (*wrapped, wrapped[0]):
        each.start()
    assert [(s.started, s.stopped) for s in servers] == [(2, 1), (1, 1)]
    assert has_local_engine()
    end_local_engine()
    assert [(s.started, s.stopped) for s in servers] == [(2, 2), (1, 1)]
    assert not has_local_engine()


@pytest.mark.slow
def test_dask_is_imported_before_its_flags_are_checked():
    """In a process of its own: this one may have imported the runner before."""
    code = (
        "from wikisum.pipeline.engine.engines import checked_flags;"
        "print(*checked_flags(['--runner=DaskRunner', '--dask_client_address=tcp://h:1']))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *_, runner, size = found.stdout.split()
    assert (runner, size) == (f"--runner={DASK}", "--dask_partition_size=1")


@pytest.mark.slow
def test_the_size_of_dasks_partitions_can_be_chosen():
    flags = checked_flags([f"--runner={DASK}", "--dask_npartitions=3"])
    assert "--dask_partition_size=1" not in flags


class LastWords(beam.DoFn):
    def process(self, element):
        yield element

    def finish_bundle(self):
        yield GlobalWindows.windowed_value("last")


def on_dask(construct) -> list:
    """Return the elements that a pipeline's last collection has on Dask, each partition in turn."""
    from apache_beam.runners.dask.dask_runner import DaskRunner
    from apache_beam.runners.dask.overrides import dask_overrides

    checked_flags([f"--runner={DASK}"])
    pipeline = beam.Pipeline(runner="FnApiRunner")
    construct(pipeline)
    pipeline.replace_all(dask_overrides())
    visitor = DaskRunner.to_dask_bag_visitor({"partition_size": 1})
    pipeline.visit(visitor)
    return list(list(visitor.bags.values())[-1].compute(scheduler="synchronous"))


def test_dask_keeps_what_a_bundle_emits_at_its_end():
    found = on_dask(lambda p: p | beam.Create(["a", "b"]) | beam.ParDo(LastWords()))
    assert sorted(found) == ["a", "b", "last", "last"]


def test_a_join_with_several_outputs_is_the_same_on_dask():
    """Two kinds of rows, each written by its own class: a mix of them could not be decoded."""
    articles = [CitingArticle("dump", 0, article_id("Cheese"), ["http://a.org/"])]
    results = [SearchResult("search", 0, "Ham", ["http://b.org/"])]

    def construct(pipeline: beam.Pipeline) -> None:
        found = {
            "articles": pipeline | "Articles" >> beam.Create(articles),
            "results": pipeline | "Results" >> beam.Create(results),
        } | WantUrls()
        kinds = (
            found[name] | f"Kinds {name}" >> beam.Map(lambda row, name=name: (name, type(row)))
            for name in ("wanted", "dropped")
        )
        _ = tuple(kinds) | beam.Flatten()

    kinds = on_dask(construct)
    assert sorted(kinds, key=str) == [
        ("dropped", Dropped), ("wanted", WantedUrl),
    ]  # fmt: skip


def test_dataflow_reaches_no_file_of_this_machine():
    flags = ["--runner=DataflowRunner"]
    assert is_dataflow(flags)
    assert not is_dataflow(["--runner=FlinkRunner"])
    check_reachable(flags, ["gs://bucket/out"])
    check_reachable([], ["out"])
    with pytest.raises(ValueError, match="out: Dataflow's workers cannot reach files"):
        check_reachable(flags, ["gs://bucket/out", "out"])


def test_each_job_on_dataflow_has_a_name_of_its_own():
    flags = ["--runner=DataflowRunner", "--job_name=mine"]
    found = job_flags(flags, "tokenize", "ab12", 8)
    name, labels = "--job_name=mine-tokenize-ab12", "--labels=wikisum-stage=tokenize"
    assert found == [*flags, name, labels, "--machine_type=n2-standard-4", "--max_num_workers=8"]
    assert job_flags(["--runner=FlinkRunner"], "tokenize", "ab12", 8) == ["--runner=FlinkRunner"]


def test_the_workers_of_a_dataflow_job_can_be_chosen():
    flags = ["--runner=DataflowRunner"]
    one_part = job_flags(flags, "vocab", "ab12", 1)[-2:]
    assert one_part == ["--machine_type=n2-highmem-2", "--max_num_workers=1"]
    assert job_flags(flags, "scan", "ab12", 5_000)[-1] == "--max_num_workers=1000"
    for type_flag in ("--machine_type=e2-small", "--worker_machine_type=e2-small"):
        given = [*flags, type_flag, "--max_num_workers=3"]
        assert len(job_flags(given, "scan", "ab12", 8)) == len(given) + 2


def _written(tmp_path, **changes):
    check = WorkerCheck(Workspace(str(tmp_path)))
    files.write_bytes(check.path, json.dumps({**versions(), **changes}).encode())
    return check


def test_workers_like_this_machine_pass(tmp_path):
    check = WorkerCheck(Workspace(str(tmp_path)))
    write_versions(check.path)
    assert check.differences() == []
    assert files.list_tree(str(tmp_path)) == []


def test_another_version_of_a_library_is_named(tmp_path):
    found = _written(tmp_path, numpy="1.0").differences()
    assert found == [f"workers have numpy 1.0, this machine {versions()['numpy']}"]


@pytest.mark.parametrize("changes", [{"wikisum": "0"}, {"apache-beam": None}, {"python": "3.1.9"}])
def test_versions_that_must_agree(tmp_path, changes):
    with pytest.raises(JobFailed, match=f"workers have {next(iter(changes))}"):
        _written(tmp_path, **changes).differences()


def test_workers_that_write_elsewhere(tmp_path):
    with pytest.raises(JobFailed, match="storage that all of them share"):
        WorkerCheck(Workspace(str(tmp_path))).differences()
