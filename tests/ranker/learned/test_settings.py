import dataclasses

import pytest

from tests.golden_settings import ranker_settings, stored
from wikisum.ranker.learned.settings import PRESETS, FitSettings, RankerSettings, TokenLimits

SETTINGS = (RankerSettings, FitSettings)
RATES = [(FitSettings, "learning_rate"), (FitSettings, "initial_accumulator")]
COUNTS = [
    (kind, f.name)
    for kind in SETTINGS
    for f in dataclasses.fields(kind)
    if f.type in (int, "int") and f.name not in ("seed", "patience", "loader_workers")
] + RATES


@pytest.mark.parametrize(("kind", "name"), COUNTS)
def test_a_count_must_be_positive_and_the_message_names_its_flag(kind, name):
    flag = "--" + name.replace("_", "-")
    bound = "greater than 0" if (kind, name) in RATES else "at least 1"
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"^{flag} must be {bound}, not {value}$"):
            kind(**{name: value})
    assert getattr(kind(**{name: 1}), name) == 1


def test_presets_have_the_settings_that_were_published():
    assert ranker_settings() == stored("ranker")


@pytest.mark.parametrize("value", [-0.1, 1, 1.5])
def test_dropout_outside_its_range_is_refused(value):
    message = f"^--dropout must be at least 0 and below 1, not {value}$"
    with pytest.raises(ValueError, match=message):
        RankerSettings(dropout=value)


def test_limits_themselves_are_allowed():
    assert RankerSettings(dropout=0).dropout == 0
    assert FitSettings(seed=0).seed == 0
    with pytest.raises(ValueError, match=r"^--seed must be at least 0, not -1$"):
        FitSettings(seed=-1)


def test_token_limits_come_from_their_fields():
    fit = FitSettings(max_title_tokens=3, max_paragraph_tokens=5, batch_tokens=7)
    assert fit.lengths == TokenLimits(title=3, paragraph=5, batch=7)


def test_the_paper_preset_has_the_papers_values():
    """Liu & Lapata 2019: Adagrad with rate 0.15 and accumulator 0.1, dropout 0.2."""
    model, fit = PRESETS["paper"]
    assert (model.dropout, model.bidirectional, model.vocab_size) == (0.2, False, 32_000)
    assert (model.embedding_size, model.hidden_size, model.feature_size) == (256, 256, 256)
    assert (fit.learning_rate, fit.initial_accumulator) == (0.15, 0.1)
    assert (fit.steps, fit.seed) == (20_000, 0)
    assert (fit.validate_every, fit.validation_articles) == (500, 512)
    assert fit.lengths == TokenLimits(64, 256, 32_768)


def test_the_tiny_preset_only_shrinks_the_paper_preset():
    (paper, paper_fit), (model, fit) = PRESETS["paper"], PRESETS["tiny"]
    assert (model.embedding_size, model.hidden_size, model.feature_size) == (64, 64, 64)
    assert model.dropout == paper.dropout
    assert fit.learning_rate == paper_fit.learning_rate
    assert (fit.steps, fit.validate_every, fit.validation_articles) == (5000, 250, 256)
    assert fit.lengths == TokenLimits(64, 256, 2048)


@pytest.mark.parametrize("kind", SETTINGS)
def test_every_flag_has_a_help_text(kind):
    fields = [f for f in dataclasses.fields(kind) if f.name != "vocab_size"]
    assert all(f.metadata["help"] for f in fields)
