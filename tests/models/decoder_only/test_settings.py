import pytest

from wikisum.models.decoder_only.settings import DecoderOnlySettings


def test_one_letter_stands_for_all_layers():
    assert DecoderOnlySettings(layers="LML", feedforwards="S").feedforward_of_layer == "SSS"
    assert DecoderOnlySettings(layers="LML", feedforwards="DED").feedforward_of_layer == "DED"
    assert DecoderOnlySettings(layers="F", feedforwards="E").feedforward_of_layer == "E"


@pytest.mark.parametrize(
    "changes",
    [{"factor": 2}, {"active_experts": 4, "experts": 4}, {"memory": 0, "layers": "XX"},
     {"width": 16, "heads": 8}, {"balance": 0.0}],
)  # fmt: skip
def test_settings_at_the_limit_are_accepted(changes):
    DecoderOnlySettings(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layers": "LQ"}, "--layers is spelled with"),
        ({"layers": "LM", "feedforwards": "DDD"}, "one letter, or one per layer"),
        ({"layers": "XL"}, "X layers have relative positions"),
        ({"compression": "never"}, "--compression must be one of before, after"),
        ({"factor": 1}, "--factor must be at least 2"),
        ({"width": 20, "heads": 8}, "does not divide"),
        ({"active_experts": 9, "experts": 4}, "--active-experts 9 of 4"),
        ({"dropout": 1.0}, "--dropout"),
        ({"lookback": -1}, "--lookback must be at least 0"),
        ({"block": 0}, "--block must be at least 1"),
        ({"layers": ""}, "--layers is spelled with"),
        ({"feedforwards": "Q"}, "--feedforwards is spelled with"),
        ({"width": 24, "heads": 8}, "does not divide"),
        ({"memory": -1}, "--memory must be at least 0"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DecoderOnlySettings(**changes)


def test_the_defaults_are_those_of_t_dmca_in_the_paper():
    settings = DecoderOnlySettings()
    assert (settings.layers, settings.feedforwards) == ("LMLML", "D")
    assert (settings.block, settings.factor, settings.lookback) == (256, 3, 0)
    assert (settings.compression, settings.memory) == ("after", 512)
    assert (settings.width, settings.feedforward, settings.heads) == (512, 2_048, 8)
    assert (settings.dropout, settings.attention_dropout, settings.relu_dropout) == (0.1, 0, 0)
    assert (settings.experts, settings.active_experts, settings.balance) == (128, 2, 0.01)
    assert settings.source_loss
    assert settings.separator_loss
    assert settings.scale_embeddings
    switches = ("pre_norm", "input_norm", "bias", "output_bias")
    assert not any(getattr(settings, name) for name in switches)


def test_settings_cannot_be_changed():
    with pytest.raises(AttributeError):
        DecoderOnlySettings().width = 1
