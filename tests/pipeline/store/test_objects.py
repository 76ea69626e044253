"""Objects on a store like S3 and one like Google's, both served here."""

import contextlib
import io

import pytest

from tests.object_stores import BUCKET, gcs_store, s3_store
from wikisum.pipeline.engine import files
from wikisum.pipeline.store import objects


@pytest.fixture(params=["s3", "gs"])
def store(request, monkeypatch):
    with (s3_store if request.param == "s3" else gcs_store)(monkeypatch) as found:
        found.root = f"{request.param}://{BUCKET}"
        yield found


def test_an_object_is_written_and_read_with_one_request_each(store):
    path = f"{store.root}/out/a b.txt"
    with files.AtomicFile(path) as file:
        file.write(b"one ")
        file.write(b"two")
        assert store.requests.total() == 0
    assert dict(store.requests) == {"PUT": 1}
    with files.open_input(path) as raw:
        assert raw.read() == b"one two"
    assert dict(store.requests) == {"PUT": 1, "GET": 1}
    assert files.read_range(path, 4, 2) == b"tw"
    assert files.read_range(path, 7, 2) == b""
    assert files.size_bytes(path) == 7


def test_a_failure_writes_nothing(store):
    with contextlib.suppress(ZeroDivisionError), files.AtomicFile(f"{store.root}/x") as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert store.requests.total() == 0


def test_a_large_object_is_read_in_blocks(store, monkeypatch):
    monkeypatch.setattr(objects, "BLOCK_BYTES", 10)
    data = bytes(range(25))
    objects.put(f"{store.root}/x", data)
    with files.open_input(f"{store.root}/x") as raw:
        assert raw.read() == data
        raw.seek(-3, io.SEEK_END)
        assert raw.read() == data[-3:]
        raw.seek(5)
        assert raw.read(10) == data[5:15]


def test_folders(store):
    for name in ("a/1", "a/2", "a/b/3", "ab/4"):
        objects.put(f"{store.root}/{name}", b"x")
    root = f"{store.root}/a"
    assert files.list_folder(root) == [f"{root}/1", f"{root}/2"]
    assert files.list_tree(root) == [f"{root}/1", f"{root}/2", f"{root}/b/3"]
    assert files.sizes_bytes([f"{root}/1", f"{root}/9"]) == {f"{root}/1": 1}
    assert [f.path for f in files.expand([f"{root}/*"])] == [f"{root}/1", f"{root}/2"]
    assert [f.path for f in files.expand([f"{root}/**"])] == files.list_tree(root)
    with pytest.raises(FileNotFoundError, match="no such file"):
        files.expand([f"{root}/9"])
    files.move(f"{root}/1", f"{root}/c/1")
    files.move(f"{root}/9", f"{root}/c/9")
    assert files.list_folder(f"{root}/c") == [f"{root}/c/1"]
    files.delete_folder(root)
    assert files.list_tree(root) == []
    assert files.exists(f"{store.root}/ab/4")
    files.delete(f"{root}/1")


def test_one_listing_serves_a_block(store):
    root = f"{store.root}/a"
    for name in "123":
        objects.put(f"{root}/{name}", b"x")
    store.requests.clear()
    with files.listed(root), files.listed(f"{root}/b"):
        assert files.exists(f"{root}/1")
        files.delete(f"{root}/1")
        files.delete(f"{root}/9")
        files.write_bytes(f"{root}/b/4", b"four")
        assert files.list_tree(root) == [f"{root}/2", f"{root}/3", f"{root}/b/4"]
        assert files.list_folder(f"{root}/b") == [f"{root}/b/4"]
        assert files.size_bytes(f"{root}/b/4") == 4
    assert store.requests.total() == 3  # the list, a deletion, a write
    assert files.list_tree(root) == [f"{root}/2", f"{root}/3", f"{root}/b/4"]


def test_what_others_write_is_seen_in_and_after_an_unlisted_block(store):
    root = f"{store.root}/a"
    with files.listed(root):
        assert not files.exists(f"{root}/1")
        with files.unlisted(root):
            objects.put(f"{root}/1", b"x")
            assert files.exists(f"{root}/1")
        store.requests.clear()
        assert files.list_tree(root) == [f"{root}/1"]
        assert files.exists(f"{root}/1")
        assert store.requests.total() == 1  # one more list


def test_missing_objects_and_empty_ones(store):
    with pytest.raises(FileNotFoundError, match="x does not exist"):
        files.read_bytes(f"{store.root}/x")
    assert objects.get_with_version(f"{store.root}/x") is None
    assert files.size_bytes(f"{store.root}/x") is None
    objects.put(f"{store.root}/x", b"")
    assert files.read_bytes(f"{store.root}/x") == b""


@pytest.mark.slow
def test_a_store_that_refuses_a_part_of_all_requests(store):
    store.refused_share = 0.2
    paths = [f"{store.root}/{number}" for number in range(40)]
    for path in paths:
        files.write_bytes(path, path.encode())
    assert [files.read_bytes(path) for path in paths] == [path.encode() for path in paths]
    assert store.refused > 5


def test_only_one_run_creates_or_replaces_a_version(store):
    path = f"{store.root}/x"
    first = objects.put_new(path, b"1")
    assert first is not None
    assert objects.put_new(path, b"2") is None
    assert objects.get_with_version(path) == (b"1", first)
    second = objects.put_over(path, b"3", first)
    assert second is not None
    assert objects.put_over(path, b"4", first) is None
    assert objects.get_with_version(path) == (b"3", second)
