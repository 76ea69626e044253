import math

import pytest

from wikisum.models.settings.decoding import PENALTIES, DecodingSettings

OVER_ZERO = {"beam": 1, "max_tokens": 1, "temperature": 0.1}
NOT_NEGATIVE = {"alpha": 0.0, "block_ngram": 0, "top_k": 0}


def test_length_penalties_by_hand():
    assert DecodingSettings(alpha=0.4).normalizer(7) == pytest.approx(2**0.4)
    assert DecodingSettings(alpha=2.0).normalizer(13) == pytest.approx(9)
    assert DecodingSettings(alpha=0.9).normalizer(1) == 1
    assert DecodingSettings(alpha=0.0).normalizer(99) == 1
    assert DecodingSettings(penalty="average").normalizer(7) == 7
    assert DecodingSettings(penalty="none").normalizer(7) == 1


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_divisor_is_a_float(penalty):
    assert isinstance(DecodingSettings(penalty=penalty).normalizer(3), float)


def test_the_defaults_are_those_of_the_paper():
    """Liu & Lapata 2019: beam 5, length penalty 0.4 (Wu et al. 2016); nothing is drawn."""
    plain = DecodingSettings()
    assert (plain.beam, plain.alpha, plain.penalty) == (5, 0.4, "wu")
    assert (plain.min_tokens, plain.max_tokens) == (0, 256)
    assert (plain.block_ngram, plain.block_recent) == (0, False)
    assert (plain.sample, plain.temperature, plain.top_k, plain.top_p) == (False, 1.0, 0, 1.0)
    assert plain.seed == 0


@pytest.mark.parametrize(("name", "least"), OVER_ZERO.items())
def test_what_must_be_over_zero(name, least):
    assert getattr(DecodingSettings(**{name: least}), name) == least
    flag = "--" + name.replace("_", "-")
    bound = "at least 1" if least == 1 else "greater than 0"
    with pytest.raises(ValueError, match=f"^{flag} must be {bound}, not 0$"):
        DecodingSettings(**{name: 0})


@pytest.mark.parametrize(("name", "least"), NOT_NEGATIVE.items())
def test_what_must_not_be_negative(name, least):
    assert getattr(DecodingSettings(**{name: least}), name) == least
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=f"^{flag} must be at least 0, not -1$"):
        DecodingSettings(**{name: -1})


@pytest.mark.parametrize(("least", "most"), [(0, 3), (3, 3), (1, 2)])
def test_lengths_in_order_are_allowed(least, most):
    settings = DecodingSettings(min_tokens=least, max_tokens=most)
    assert (settings.min_tokens, settings.max_tokens) == (least, most)


@pytest.mark.parametrize("least", [-1, 4])
def test_lengths_out_of_order_are_refused(least):
    message = rf"^--min-tokens must be between 0 and --max-tokens \(3\), not {least}$"
    with pytest.raises(ValueError, match=message):
        DecodingSettings(min_tokens=least, max_tokens=3)


@pytest.mark.parametrize("share", [0, -0.5, 1.01])
def test_a_share_outside_its_range_is_refused(share):
    with pytest.raises(
        ValueError, match=f"^--top-p must be greater than 0 and at most 1, not {share}$"
    ):
        DecodingSettings(top_p=share)


def test_a_share_may_be_as_small_as_it_likes():
    assert DecodingSettings(top_p=math.ulp(0)).top_p > 0


def test_an_unknown_penalty_is_refused_with_the_choices():
    with pytest.raises(ValueError, match=r"^--penalty must be one of wu, average, none, not 'x'$"):
        DecodingSettings(penalty="x")


def test_the_n_best_must_be_in_the_beam():
    assert DecodingSettings(beam=3, n_best=3).n_best == 3
    with pytest.raises(ValueError, match=r"^--n-best 4 must not be over --beam \(3\)$"):
        DecodingSettings(beam=3, n_best=4)
    with pytest.raises(ValueError, match="--n-best goes with search, not with --sample"):
        DecodingSettings(n_best=2, sample=True)
