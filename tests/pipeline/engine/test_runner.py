import io
import os

import pytest

from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.runner import LOG, _stderr_to_log, cause, check_beam_flags
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


def test_standard_error_goes_to_the_log_of_a_build_on_this_machine(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    jobs = [
        Job(Workspace("out"), io.StringIO()),
        Job(Workspace("flags"), io.StringIO(), beam_flags=("--runner=X",)),
        Job(Workspace("gs://bucket/out"), io.StringIO()),
    ]
    for job in jobs:
        with _stderr_to_log(job):
            os.write(2, f"written to {job.workspace.out}\n".encode())
    assert capfd.readouterr().err == "written to flags\nwritten to gs://bucket/out\n"
    assert (tmp_path / "out" / ".work" / LOG).read_text() == "written to out\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_flags_of_beam_pass():
    check_beam_flags([])
    check_beam_flags(["--runner=FlinkRunner", "--direct_num_workers", "2"])


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--runer=FlinkRunner"], "Beam has no flag --runer=FlinkRunner"),
        (["--direct_num_workers=2", "--direct_num_worker", "2"], "no flag --direct_num_worker"),
        (["--direct_num_workers=two"], "invalid Beam flags after --: --direct_num_workers=two"),
    ],
)
def test_other_flags_are_a_wrong_call(flags, message, capsys):
    with pytest.raises(ValueError, match=message):
        check_beam_flags(flags)
