import io
import tempfile

import boto3
import pytest

from tests.object_stores import BUCKET, s3_store
from wikisum.pipeline.engine import files
from wikisum.ranker.runs.files import LAST, LOG
from wikisum.ranker.runs.remote import StoredRun, local_copy, working_folder

RUN = f"s3://{BUCKET}/runs/a"

pytestmark = pytest.mark.slow


@pytest.fixture
def store(monkeypatch, tmp_path_factory):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("temporary")))
    with s3_store(monkeypatch) as store:
        yield store


def content(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def stored():
    """The files of the run; pyarrow also writes an empty object for a folder."""
    keys = [o["Key"] for o in boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]]
    paths = [f"s3://{BUCKET}/{key}" for key in keys if not key.endswith("/")]
    return {path.removeprefix(f"{RUN}/"): files.read_bytes(path) for path in paths}


def test_what_has_changed_is_stored_with_the_checkpoint_last(store, tmp_path):
    run = StoredRun(RUN, tmp_path)
    made = {LAST: b"a" * 100, LOG: b"", "best/step-2.safetensors": b"c"}
    made["best/step-4.safetensors"] = b"b"
    for name, data in made.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / ".last.safetensors.tmp").write_bytes(b"half")
    run.upload()
    assert stored() == made
    order = list(dict.fromkeys(path.rpartition("/runs/a/")[2] for path in store.paths))
    assert [name for name in order if name in made][-2:] == [LOG, LAST]

    store.paths.clear()
    (tmp_path / LOG).write_bytes(b"{}\n")
    (tmp_path / "best/step-4.safetensors").unlink()
    run.upload()
    changed = {path.rpartition("/runs/a/")[2] for path in store.paths}
    assert changed & made.keys() == {LOG, "best/step-4.safetensors"}
    assert stored() == {LAST: made[LAST], LOG: b"{}\n", "best/step-2.safetensors": b"c"}


def test_a_run_is_fetched_and_its_copy_deleted(store):
    for name in (LAST, "best/step-4.safetensors"):
        files.write_bytes(f"{RUN}/{name}", name.encode())
    with local_copy(RUN) as folder:
        assert content(folder) == stored()
        assert len(content(folder)) == 2
    assert not folder.exists()


def test_errors_name_the_run_and_not_its_copy(store):
    with pytest.raises(ValueError, match=rf"^{RUN}/{LOG} is damaged$"), local_copy(RUN) as folder:
        raise ValueError(f"{folder}/{LOG} is damaged")
    with pytest.raises(ValueError, match="no filesystem for ftp://a/b"), local_copy("ftp://a/b"):
        pass


def test_a_store_that_does_not_answer_ends_no_training(store, tmp_path):
    with working_folder(RUN) as run:
        (run.folder / LAST).write_bytes(b"a")
        store.refused_share, said = 1.0, io.StringIO()
        run.save(said)
        assert said.getvalue().startswith(f"{RUN} was not updated, next attempt at the next check")
        store.refused_share = 0.0
        run.save(said)
        assert stored() == {LAST: b"a"}
        (run.folder / LOG).write_bytes(b"b")
    assert stored() == {LAST: b"a", LOG: b"b"}
    assert not run.folder.exists()


def test_a_run_that_cannot_be_stored_stays_here(store):
    def train(run):
        (run.folder / LAST).write_bytes(b"a")
        store.refused_share = 1.0

    message = rf"{RUN} was not updated: .*; the run is in /"
    with pytest.raises(OSError, match=message), working_folder(RUN) as run:
        train(run)
    assert (run.folder / LAST).read_bytes() == b"a"


def fail(run, store, refused_share):
    """Save in vain, and end with an error, when the store refuses this share of requests."""
    store.refused_share = 1.0
    (run.folder / LAST).write_bytes(b"a")
    run.save(io.StringIO())
    store.refused_share = refused_share
    raise RuntimeError("out of memory")


def test_a_run_that_an_error_ends_is_stored_once_more(store):
    with pytest.raises(RuntimeError, match=r"^out of memory$"), working_folder(RUN) as run:
        fail(run, store, refused_share=0.0)
    assert stored() == {LAST: b"a"}
    assert not run.folder.exists()


def test_a_run_that_an_error_ends_and_that_cannot_be_stored_stays_here(store):
    message = rf"^out of memory; {RUN} was not updated: .*; the run is in /"
    with pytest.raises(OSError, match=message) as caught, working_folder(RUN) as run:
        fail(run, store, refused_share=1.0)
    assert str(caught.value).endswith(str(run.folder))
    assert (run.folder / LAST).read_bytes() == b"a"


def refuse(run, store):
    store.refused_share = 1.0
    raise ValueError(f"{run.folder} was trained with other settings")


def test_a_wrong_call_asks_the_store_for_nothing_more(store):
    with pytest.raises(ValueError, match=rf"^{RUN} was"), working_folder(RUN) as run:
        refuse(run, store)
    assert not run.folder.exists()
