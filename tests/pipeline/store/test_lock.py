"""One run at a time writes to a folder of an object store."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.object_stores import BUCKET, gcs_store, s3_store
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.store import lock, objects


@pytest.fixture(params=["s3", "gs"])
def path(request, monkeypatch):
    with (s3_store if request.param == "s3" else gcs_store)(monkeypatch):
        yield f"{request.param}://{BUCKET}/out/.work/lock"


def test_a_second_run_is_refused(path):
    workspace = Workspace(path.removesuffix("/.work/lock"))
    for _ in range(2):  # it can be taken again afterwards
        with workspace.locked():
            found = objects.get_with_version(path)
            assert found is not None
            assert json.loads(found[0])["process"] == os.getpid()
            with pytest.raises(JobFailed, match=f"process {os.getpid()} on "), workspace.locked():
                raise AssertionError
    assert objects.info(path) is None


@pytest.mark.parametrize("age", [0.0, 1_000.0])
def test_the_lock_of_another_machine_is_taken_over_when_it_is_old(path, age):
    holder = {"host": "another", "process": 1, "id": "x", "renewed": time.time() - age}
    objects.put(path, json.dumps(holder).encode())
    if age:
        with lock.held(path):
            return
    with pytest.raises(JobFailed, match="process 1 on another"), lock.held(path):
        raise AssertionError


def test_the_lock_of_a_process_that_has_ended_is_taken_over(path):
    ended = subprocess.Popen(["true"])
    ended.wait()
    holder = {"host": lock.socket.gethostname(), "process": ended.pid, "id": "x"}
    objects.put(path, json.dumps({**holder, "renewed": time.time()}).encode())
    with lock.held(path):
        pass


def test_the_lock_is_renewed(path, monkeypatch):
    monkeypatch.setattr(lock, "RENEWAL_SECONDS", 0.05)
    with lock.held(path):
        before = objects.get_with_version(path)
        time.sleep(0.5)
        assert objects.get_with_version(path) != before


def test_a_bucket_that_does_not_exist(monkeypatch):
    with (
        s3_store(monkeypatch),
        pytest.raises(JobFailed, match="no such bucket"),
        lock.held("s3://no-bucket/lock"),
    ):
        raise AssertionError


def test_a_lock_that_cannot_be_deleted_does_not_hide_an_error(path, monkeypatch, capsys):
    def fail(paths):
        raise OSError(f"{paths[0]}: no answer")

    monkeypatch.setattr(objects, "delete", fail)
    with pytest.raises(OSError, match="disk full"), lock.held(path):
        raise OSError("disk full")
    assert capsys.readouterr().err == f"the lock was not deleted: {path}: no answer\n"


def test_machines_that_train_need_no_beam_for_the_lock():
    loads = "import sys; from wikisum.pipeline.store import lock; print(*sys.modules)"
    out = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert "wikisum.pipeline.store.lock" in out.stdout.split()
    assert "apache_beam" not in out.stdout.split()
