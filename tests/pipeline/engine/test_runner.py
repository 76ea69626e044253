import io
import os
import tempfile

import pytest

from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.runner import LOG, LOG_OF_REMOTE, _stderr_to_log, cause
from wikisum.pipeline.engine.workspace import Workspace


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("disk full", "disk full"),
        ("Traceback\n  File x\nOSError: disk full\n\n", "OSError: disk full"),
        ("OSError: disk full [while running 'Map-ptransform-3']", "OSError: disk full"),
        ("RuntimeError: RuntimeError: bad [while running 'A/B']", "bad"),
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
