import re
from pathlib import Path

import pytest
import torch

from wikisum.models.bench import parameter_count
from wikisum.models.settings.run import changed
from wikisum.models.table import build, from_json, preset, presets, spec_named, to_json


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "count"),
    [("ht-readme", 15_343_952), ("ht-paper", None), ("ft-paper", None), ("t-ed", None)],
)
def test_presets_make_models_and_the_released_one_has_its_size(name, count):
    model = build(preset(name).model)
    assert count is None or parameter_count(model) == count


@pytest.mark.slow
def test_the_documentation_states_the_parameters_of_every_preset():
    page = (Path(__file__).parents[2] / "docs" / "models.md").read_text()
    stated = dict(re.findall(r"^\| `([\w-]+)` \|.*\| ([\d,]+) \|$", page, re.MULTILINE))
    large = {name for name in presets() if not name.startswith("tiny")}
    assert stated.keys() == large
    with torch.device("meta"):
        for name, count in stated.items():
            assert f"{parameter_count(build(preset(name).model)):,}" == count, name
    assert set(re.findall(r"`(tiny[\w-]*)`", page)) >= presets().keys() - large


def test_summaries_may_be_as_long_as_the_leads_of_training():
    # the PHT paper writes at most 200 subwords, with its baselines too
    shorter = {"ht-pht", "ft-pht", "t-d-pht", "t-dmca-pht", "transformer-xl"}
    for name, settings in presets().items():
        is_long = settings.decoding.max_tokens >= settings.source.lead_tokens
        assert is_long == (name not in shorter), name


def test_settings_survive_json():
    for settings in presets().values():
        assert from_json(to_json(settings)) == settings


def test_settings_are_changed_by_name():
    settings = changed(preset("tiny"), {"dropout": 0.3, "steps": 5, "pooling_heads": None})
    assert (settings.model.dropout, settings.train.steps) == (0.3, 5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"droput": 0.1}, "droput"),
        ({"dropout": "much"}, "dropout must be of type float"),
        ({"steps": True}, "steps must be of type int"),
        ({"steps": 0}, "--steps"),
        ({"layers": "LX"}, "--layers"),
        ({"heads": 7}, "--width"),
        ({"graph": "similarity", "layers": "L"}, "--graph"),
        ({"graph": "discourse", "graph_head": 9}, "--graph-head"),
        ({"precision": "fp8"}, "--precision"),
    ],
)
def test_a_wrong_setting_is_named(values, message):
    with pytest.raises(ValueError, match=message):
        changed(preset("tiny"), values)


def test_unknown_names_are_reported():
    with pytest.raises(ValueError, match=r"--preset must be one of .*tiny.*, not 'huge'"):
        preset("huge")
    with pytest.raises(ValueError, match=r"--model must be one of ht, ft.*, not 'rnn'"):
        spec_named("rnn")
