import json

import pytest

from wikisum.ranker.runs.atomic import atomic_write, write_json


def test_a_failed_write_leaves_the_older_file(tmp_path):
    path = tmp_path / "file"
    atomic_write(path, lambda file: file.write(b"old"))

    def fail(file):
        file.write(b"ne")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        atomic_write(path, fail)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_json_is_readable(tmp_path):
    write_json(tmp_path / "file", {"a": [1]})
    text = (tmp_path / "file").read_text()
    assert json.loads(text) == {"a": [1]}
    assert text.count("\n") > 1
