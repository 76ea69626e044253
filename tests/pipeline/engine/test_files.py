import pytest

from wikisum.pipeline.engine.files import AtomicFile, expand


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
