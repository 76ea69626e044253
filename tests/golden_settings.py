"""The defaults and presets that users rely on, in one file: tests/golden/settings.json.

A default decides the bytes of a dataset, and a preset stands for the model of a paper, so a change
of either must be meant. To accept one, run

    python -m tests.golden_settings

and name it in the changelog.
"""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wikisum.models.network.spec import ModelSpec
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.pipeline.setting import Checked
from wikisum.ranker.learned.settings import PRESETS

FILE = Path(__file__).parent / "golden" / "settings.json"
BOUNDS = ("at_least", "above", "at_most", "is_recorded", "is_later")


def stage_settings(kinds: Iterable[type[Checked]]) -> dict[str, Any]:
    """Return default and bounds of each setting of stages, and whether shards record it."""
    return {
        kind.__name__: {
            field.name: _plain([field.default, *(field.metadata.get(name) for name in BOUNDS)])
            for field in dataclasses.fields(kind)  # type: ignore[arg-type]
            if field.default is not dataclasses.MISSING
        }
        for kind in kinds
    }


def model_settings(spec: ModelSpec) -> dict[str, Any]:
    """Return the default settings of a model, and what each preset changes of them.

    A model without presets has what `--model NAME` starts from instead, as `start`.
    """
    default = _values(RunSettings(spec.settings()))
    runs = spec.presets or {"start": spec.start()}
    presets = {
        name: {key: value for key, value in _values(run).items() if value != default[key]}
        for name, run in runs.items()
    }
    return {"default": default, "bounds": _bounds(spec.settings), **presets}


def run_settings() -> dict[str, Any]:
    """Return the bounds of the settings that all models share."""
    return {
        kind.__name__: _bounds(kind) for kind in (SourceSettings, TrainSettings, DecodingSettings)
    }


def ranker_settings() -> dict[str, Any]:
    """Return the presets of the ranker, and the bounds of its settings."""
    presets = {
        name: _plain([dataclasses.asdict(one) for one in preset])
        for name, preset in PRESETS.items()
    }
    return {"bounds": [_bounds(type(one)) for one in PRESETS["paper"]], **presets}


def stored(name: str) -> Any:
    """Return what the file has of `stages`, `runs`, `ranker` or a model."""
    return json.loads(FILE.read_text())[name]


def _bounds(kind: Any) -> dict[str, Any]:
    found = {f.name: [f.metadata.get(name) for name in BOUNDS] for f in dataclasses.fields(kind)}
    return {
        name: _plain(values) for name, values in found.items() if any(v is not None for v in values)
    }


def _values(run: RunSettings) -> dict[str, Any]:
    groups: dict[str, dict[str, Any]] = _plain(dataclasses.asdict(run))
    return {f"{group}.{name}": v for group, values in groups.items() for name, v in values.items()}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=sorted))


if __name__ == "__main__":
    from tests.pipeline.test_stage_settings import KINDS
    from wikisum.models.table import specs

    found = {"stages": stage_settings(KINDS), "ranker": ranker_settings(), "runs": run_settings()}
    found |= {spec.name: model_settings(spec) for spec in specs()}
    lines = [
        f'"{name}": {{\n'
        + ",\n".join(f'  "{key}": {json.dumps(values)}' for key, values in one.items())
        + "\n}"
        for name, one in found.items()
    ]
    FILE.write_text("{" + ",\n".join(lines) + "}\n")
