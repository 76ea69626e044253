import pytest

from wikisum.models.network.settings import EncoderDecoderSettings, LayerSettings


@pytest.mark.parametrize("kind", [LayerSettings, EncoderDecoderSettings])
def test_a_width_divides_into_heads_of_even_width(kind):
    kind(width=24, heads=4)
    kind(width=2, heads=1)
    for width, heads in ((24, 8), (20, 8), (3, 1)):
        with pytest.raises(ValueError, match=f"--width {width} does not divide into {heads} heads"):
            kind(width=width, heads=heads)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dropout": 1.0}, "--dropout"),
        ({"attention_dropout": -0.1}, "--attention-dropout"),
        ({"heads": 0}, "--heads"),
        ({"decoder_layers": 0}, "--decoder-layers"),
    ],
)
def test_bad_settings_are_refused(changes, message):
    with pytest.raises(ValueError, match=f"^{message} must be"):
        EncoderDecoderSettings(**changes)
