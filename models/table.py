"""The table of all models, and their settings as JSON.

Adding a model takes one line here; how to write it stands in `models/network/spec.py`.
"""

import dataclasses
from importlib import import_module
from pathlib import Path
from typing import Any

from wikisum.models.network.spec import ModelSpec, SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.vocabulary.pretrained import in_run

# name: the module that defines its SPEC
MODELS = {
    "ht": "wikisum.models.network.hierarchical_transformer",
    "ft": "wikisum.models.network.flat_transformer",
    "pht": "wikisum.models.hierarchical_decoder.parallel",
    "vht": "wikisum.models.hierarchical_decoder.vertical",
    "decoder-only": "wikisum.models.decoder_only.decoder",
    "lstm": "wikisum.models.recurrent.lstm_attention",
    "pointer": "wikisum.models.pointer.spec",
    "hf": "wikisum.models.pretrained.spec",
}

_GROUPS: dict[str, Any] = {
    "source": SourceSettings, "train": TrainSettings, "decoding": DecodingSettings,
}  # fmt: skip


def spec_named(name: str) -> ModelSpec:
    """Return a model's spec. Raises ValueError for an unknown name."""
    if name not in MODELS:
        raise ValueError(f"--model must be one of {', '.join(MODELS)}, not {name!r}")
    return import_module(MODELS[name]).SPEC


def specs() -> list[ModelSpec]:
    """Return the specs of all models, in the order of the table."""
    return [spec_named(name) for name in MODELS]


def spec_of(settings: Any) -> ModelSpec:
    """Return the spec of the model that these settings belong to."""
    return next(spec for spec in specs() if spec.settings is type(settings))


def build(settings: Any, run: Path | None = None) -> SummaryModel:
    """Return a new model with these settings; what the folder of its `run` keeps is read there."""
    return spec_of(settings).build(in_run(settings, run))


def presets() -> dict[str, RunSettings]:
    """Return the presets of all models by name. Raises ValueError if two have the same name."""
    found: dict[str, RunSettings] = {}
    for spec in specs():
        if twice := found.keys() & spec.presets.keys():
            raise ValueError(f"two models have a preset {min(twice)}")
        found |= spec.presets
    return found


def preset(name: str) -> RunSettings:
    """Return a preset. Raises ValueError for an unknown name."""
    found = presets()
    if name not in found:
        raise ValueError(f"--preset must be one of {', '.join(found)}, not {name!r}")
    return found[name]


def to_json(settings: RunSettings) -> dict[str, Any]:
    """Return the settings as nested plain values; `model.model` is the model's name."""
    groups = {name: dataclasses.asdict(getattr(settings, name)) for name in _GROUPS}
    name = spec_of(settings.model).name
    return {"model": {"model": name, **dataclasses.asdict(settings.model)}, **groups}


def from_json(values: dict[str, Any]) -> RunSettings:
    """Return the settings that `to_json` made plain. Raises ValueError for an unknown model."""
    model = dict(values["model"])
    spec = spec_named(model.pop("model"))
    groups = {name: kind(**values[name]) for name, kind in _GROUPS.items() if name in values}
    return RunSettings(spec.settings(**model), **groups)
