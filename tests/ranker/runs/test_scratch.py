import subprocess
import sys
import tempfile

import pytest

from wikisum.ranker.runs.scratch import mark_stored, mark_unstored, scratch_folder

KILLED = """
import os, signal
from wikisum.ranker.runs.scratch import mark_unstored, scratch_folder
with scratch_folder() as folder:
    (folder / "last.safetensors").write_bytes(b"a")
    if {is_unstored}:
        mark_unstored(folder, "s3://bucket/run")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def temporary(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def killed(is_unstored):
    code = KILLED.format(is_unstored=is_unstored)
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9


def test_the_folder_of_a_killed_process_is_deleted_and_no_other(temporary):
    (temporary / "wikisum-run-of-another-version").mkdir()
    killed(is_unstored=False)
    with scratch_folder() as first:
        assert len(list(temporary.iterdir())) == 2
        with scratch_folder() as second:
            assert first.is_dir()
            assert second.is_dir()
    assert [path.name for path in temporary.iterdir()] == ["wikisum-run-of-another-version"]


def test_a_folder_with_the_only_copy_stays_and_is_named(temporary, capfd):
    killed(is_unstored=True)
    with scratch_folder() as folder:
        (left,) = set(temporary.iterdir()) - {folder}
        said = capfd.readouterr().err
        assert said == f"{left} has changes of s3://bucket/run that were not stored\n"
        mark_unstored(folder, "s3://bucket/other")
        mark_stored(folder)
    assert list(temporary.iterdir()) == [left]
    assert (left / "last.safetensors").read_bytes() == b"a"
