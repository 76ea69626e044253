from types import SimpleNamespace

import pytest

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import AtomicFile, expand, whole_path


def test_a_file_has_its_name_only_when_whole(tmp_path):
    with AtomicFile(str(tmp_path / "f")) as file:
        file.write(b"half")
        assert not (tmp_path / "f").exists()
    assert (tmp_path / "f").read_bytes() == b"half"
    with pytest.raises(KeyError), AtomicFile(str(tmp_path / "g")) as file:
        raise KeyError
    assert [p.name for p in tmp_path.iterdir()] == ["f"]


def test_inputs_are_named_by_what_their_paths_do_not_share(tmp_path):
    for name in ("a/x.gz", "b/x.gz"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(b"1")
    found = expand([f"{tmp_path}/*/x.gz", f"{tmp_path}/a/x.gz"])
    assert [f.name for f in found] == ["a/x.gz", "b/x.gz"]
    assert [f.name for f in expand([f"{tmp_path}/a/x.gz"])] == ["x.gz"]
    with pytest.raises(FileNotFoundError, match="nothing"):
        expand([f"{tmp_path}/nothing*"])
    with pytest.raises(IsADirectoryError):
        expand([str(tmp_path)])


def test_whole_paths_begin_at_the_root_or_at_a_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert whole_path("a.xml") == str(tmp_path / "a.xml")
    assert whole_path("s3://bucket/a.xml") == "s3://bucket/a.xml"


@pytest.mark.parametrize("names", [[], ["hdfs://b/x/1", "hdfs://b/x/y/2"]])
def test_a_folder_on_a_store_is_deleted_with_its_files(names, monkeypatch):
    matches = {"hdfs://b/x/**": [SimpleNamespace(path=name) for name in names]}
    deleted = []
    monkeypatch.setattr(files, "_match", matches.__getitem__)
    monkeypatch.setattr(files.FileSystems, "delete", deleted.append)
    files.delete_folder("hdfs://b/x")
    assert deleted == ([names] if names else [])  # a store refuses an empty list
