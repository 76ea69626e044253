"""Provenance, written into the metadata of every shard."""

import json
from typing import Any

from wikisum import __version__
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.records import FORMAT_VERSION
from wikisum.pipeline.setting import recorded

_PATHS = ("titles", "vocab")  # of this machine, so they are left out


def origin_of(stage: str, settings: Any, *before: StageResult) -> dict[str, Any]:
    """The settings of a stage and of those before it, without paths of this machine."""
    plain = {k: v for k, v in recorded(settings).items() if k not in _PATHS}
    origin: dict[str, Any] = {}
    for result in before:
        origin.update(result.extra["origin"])
    return {**origin, stage: plain}


def metadata_of(origin: dict[str, Any]) -> dict[str, str]:
    """The metadata of a shard. Nothing in it may depend on the machine or the run."""
    return {
        "wikisum.version": __version__,
        "wikisum.format": FORMAT_VERSION,
        "wikisum.settings": json.dumps(origin, sort_keys=True),
    }
