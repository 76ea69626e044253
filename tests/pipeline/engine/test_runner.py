import io
import os
import tempfile
import threading

import pytest
from apache_beam.options.pipeline_options import DirectOptions, StandardOptions

from wikisum.pipeline.engine import runner
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.runner import LOG, LOG_OF_REMOTE, LocalOptions, _stderr_to_log, cause
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("disk full", "disk full"),
        ("Traceback\n  File x\nOSError: disk full\n\n", "OSError: disk full"),
        ("OSError: disk full [while running 'Map-ptransform-3']", "OSError: disk full"),
        ("RuntimeError: RuntimeError: bad [while running 'A/B']", "bad"),
        (
            "First.\n\nVersions may\ndiffer, see\nhttps://a.example/b\n",
            "Versions may differ, see https://a.example/b",
        ),
        ("Versions differ, see\nhttps://a.example/b", "Versions differ, see https://a.example/b"),
        ("https://a.example/b", "https://a.example/b"),
        ("", "ValueError"),
        (" \n ", "ValueError"),
    ],
)
def test_the_cause_is_the_last_line_without_wrapping(message, line):
    assert cause(ValueError(message)) == line


def test_standard_error_goes_to_a_log(tmp_path, monkeypatch, capfd):
    """That of a remote output lies in the temporary folder."""
    monkeypatch.chdir(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    jobs = [
        Job(Workspace("out"), io.StringIO()),
        Job(Workspace("flags"), io.StringIO(), beam_flags=("--runner=X",)),
        Job(Workspace("gs://bucket/out"), io.StringIO()),
    ]
    for job in jobs:
        with _stderr_to_log(job):
            os.write(2, f"written to {job.workspace.out}\n".encode())
    assert capfd.readouterr().err == ""
    for name in ("out", "flags"):
        assert (tmp_path / name / ".work" / LOG).read_text() == f"written to {name}\n"
    log = temporary / LOG_OF_REMOTE.format(os.getpid())
    assert log.read_text() == "written to gs://bucket/out\n"


class _Endless:
    """A job on an engine that never ends; `cancel` releases it."""

    def __init__(self):
        self.canceled = threading.Event()

    def wait_until_finish(self):
        self.canceled.wait(30)

    def cancel(self):
        self.canceled.set()


def test_a_job_without_progress_is_canceled(tmp_path, monkeypatch):
    """It lives as long as there is progress."""
    result, counts = _Endless(), iter([1, 2, 3, *[4] * 100])
    monkeypatch.setattr(runner, "_start", lambda *_: result)
    monkeypatch.setattr(runner, "POLL_SECONDS", 0.05)
    job = Job(Workspace(str(tmp_path)), io.StringIO(), beam_flags=("--runner=X",))
    watch = runner.Watch(lambda: next(counts), 0.2, "nothing was finished")
    with pytest.raises(JobFailed, match="nothing was finished"):
        runner._run_watched(job, lambda _: None, [], watch)
    assert result.canceled.is_set()
    assert next(counts) == 4


def test_views_of_local_options_are_made_once_and_share_their_values():
    options = LocalOptions(["--direct_num_workers=3"])
    view = options.view_as(DirectOptions)
    assert view.direct_num_workers == 3
    assert options.view_as(DirectOptions) is view
    options.view_as(StandardOptions).streaming = True
    assert view.get_all_options()["streaming"]
