import hashlib
import json

import pytest

from wikisum import __version__
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.manifest import (
    read_manifest,
    versions,
    write_derived_manifest,
    write_manifest,
)
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.ranker.data.errors import BadFile


def stage(name: str, *paths: str, costs: dict | None = None, **extra: object) -> StageResult:
    files = [ShardFile(path, 3, 40, f"sha of {path}") for path in paths]
    return StageResult(name, "f", files, {"rows": 3}, {"settings": {}, **extra}, 1.26, costs or {})


FIRST = stage("first", "b/2", ".work/x", inputs={"dump": ["d"]}, settings={"limit": 5})
SECOND = stage("second", "a/1", costs={"requests": 2})


def test_a_manifest_lists_stages_and_sorted_files(tmp_path):
    workspace = Workspace(str(tmp_path))
    manifest = write_manifest(workspace, [FIRST, SECOND], ["README.md"])
    assert read_manifest(workspace) == manifest
    assert manifest["settings"] == {"first": {"limit": 5}, "second": {}}
    assert manifest["inputs"] == {"dump": ["d"]}
    assert manifest["counts"] == {"first": {"rows": 3}, "second": {"rows": 3}}
    assert manifest["seconds"] == {"first": 1.3, "second": 1.3}
    assert manifest["costs"] == {"second": {"requests": 2}}
    assert list(manifest["files"]) == ["a/1", "b/2"]
    assert manifest["files"]["a/1"] == {"rows": 3, "bytes": 40, "sha256": "sha of a/1"}
    assert manifest["others"] == ["README.md"]


def test_a_derived_manifest_keeps_the_history_of_its_source(tmp_path):
    workspace = Workspace(str(tmp_path))
    write_manifest(workspace, [FIRST, SECOND], [])
    source = (tmp_path / "manifest.json").read_bytes()
    rank = stage("rank", "examples/1", inputs={"ranker": "r"}, settings={"k": 1})
    carried = [ShardFile("vocab/v", 1, 2, "s")]
    manifest = write_derived_manifest(workspace, source, rank, carried, ["README.md"])
    assert read_manifest(workspace) == manifest
    assert manifest["derived_from"] == hashlib.sha256(source).hexdigest()
    assert manifest["settings"] == {"first": {"limit": 5}, "second": {}, "rank": {"k": 1}}
    assert manifest["inputs"] == {"dump": ["d"], "ranker": "r"}
    assert list(manifest["counts"]) == ["first", "second", "rank"]
    assert manifest["seconds"]["rank"] == 1.3
    assert list(manifest["files"]) == ["examples/1", "vocab/v"]


def test_a_manifest_without_history_can_be_a_source(tmp_path):
    rank = stage("rank", inputs={})
    manifest = write_derived_manifest(Workspace(str(tmp_path)), b"{}", rank, [], [])
    assert manifest["counts"] == {"rank": {"rows": 3}}


def test_an_unfinished_build_has_no_manifest(tmp_path):
    with pytest.raises(FileNotFoundError, match="the build is not finished"):
        read_manifest(Workspace(str(tmp_path)))


def test_versions_are_those_of_what_is_installed():
    found = versions()
    assert found["wikisum"] == __version__
    assert "pyarrow" in found
    assert json.dumps(found)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"", "is not the manifest of a dataset"),
        (b"{}", "missing required field `settings`"),
        (b'{"settings": {}, "counts": {}, "files": {}, "others": [], "x": "\xff"}', "is not the"),
        (b"[]", "Expected `object`, got `array`"),
        (b"[" * 100_000, "is not the manifest of a dataset"),
        (b'{"settings": {}, "counts": {}, "files": {"a": 1}, "others": []}', r"files\[\.\.\.\]"),
        (b'{"settings": {}, "counts": {}, "files": {}, "others": ["../x"]}', "outside .*: ../x"),
        (b'{"settings": {}, "counts": {}, "files": {}, "others": ["/x"]}', "outside .*: /x"),
        (b'{"settings": {}, "counts": {}, "files": {}, "others": ["\\ud800"]}', "is not the mani"),
    ],
)
def test_a_file_that_is_no_manifest_is_named(tmp_path, data, fault):
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(BadFile, match=rf"manifest\.json.*{fault}"):
        read_manifest(Workspace(str(tmp_path)))


@pytest.mark.parametrize("data", [b"{}", b"[]", b"[" * 100_000])
def test_the_command_names_it_in_one_line(tmp_path, data, capsys):
    (tmp_path / "manifest.json").write_bytes(data)
    assert main(["validate", str(tmp_path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "manifest.json is not the manifest of a dataset" in line
