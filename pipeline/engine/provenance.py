"""What a stage's files say of where they come from."""

import json
from dataclasses import asdict
from typing import Any

from wikisum import __version__
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.records import FORMAT_VERSION

_PATHS = ("titles", "vocab")  # of this machine, so they are not told


def origin_of(stage: str, own: Any, *before: StageResult) -> dict[str, Any]:
    """The settings of a stage and of those before it, without paths of this machine."""
    plain = {k: v for k, v in asdict(own).items() if k not in _PATHS}
    told: dict[str, Any] = {}
    for result in before:
        told.update(result.extra["origin"])
    return {**told, stage: plain}


def metadata_of(origin: dict[str, Any]) -> dict[str, str]:
    """What a shard says of its origin; nothing here may depend on the machine or the run."""
    return {
        "wikisum.version": __version__,
        "wikisum.format": FORMAT_VERSION,
        "wikisum.settings": json.dumps(origin, sort_keys=True),
    }
