import argparse

import pytest

from wikisum.pipeline.commands.flags import add_dataset, dataset_of
from wikisum.pipeline.commands.job import check_out, done_stage, open_job
from wikisum.pipeline.engine.job import default_memory_bytes
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.pipeline.errors import JobFailed


def call(out, workers=1, memory=None):
    return argparse.Namespace(out=str(out), workers=workers, memory=memory, stall_minutes=1)


@pytest.mark.parametrize("out", ["", " "])
def test_an_empty_out_is_refused(out):
    with pytest.raises(ValueError, match="--out is empty"):
        check_out(out)


def test_a_file_is_not_an_output_folder(tmp_path):
    path = tmp_path / "file"
    path.write_text("")
    with pytest.raises(ValueError, match="file is not a directory"):
        check_out(str(path))
    check_out(str(tmp_path))
    check_out(str(tmp_path / "new"))


def test_a_stage_without_the_one_before_creates_no_folder(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(JobFailed, match=r"out has no finished articles: run `wikisum articles`"):
        open_job(call(out), [], "articles").__enter__()
    assert not out.exists()


def test_memory_is_that_of_the_call_or_a_share_of_the_machine(tmp_path):
    with open_job(call(tmp_path, memory=2.5), []) as job:
        assert job.memory_bytes == 5 << 29
    with open_job(call(tmp_path), []) as job:
        assert job.memory_bytes == default_memory_bytes(1)


def test_a_job_holds_its_folder(tmp_path):
    out = tmp_path / "out"
    with open_job(call(out), []) as job:
        assert job.workspace.out == str(out)
        with pytest.raises(JobFailed, match="another run is writing"):
            open_job(call(out), []).__enter__()
        with pytest.raises(JobFailed, match="run `wikisum scan` first"):
            done_stage(job, "wanted")
        job.workspace.finish(StageResult("wanted", "key", [], {}, {}, 1.0))
        assert done_stage(job, "wanted").fingerprint == "key"
    assert Workspace(str(out)).finished("wanted") is not None


@pytest.mark.parametrize(
    ("words", "folder"),
    [(["d"], "d"), (["--data", "d"], "d"), ([], None), (["a", "--data", "b"], None)],
)
def test_a_dataset_is_named_once(words, folder):
    parser = argparse.ArgumentParser()
    add_dataset(parser)
    args = parser.parse_args(words)
    if folder is None:
        with pytest.raises(ValueError, match="DIR or --data DIR"):
            dataset_of(args)
    else:
        assert dataset_of(args) == folder
