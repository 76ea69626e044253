import dataclasses

import pytest

from tests.golden_settings import run_settings, stored
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import (
    RunSettings,
    SourceSettings,
    TrainSettings,
    changed,
    with_target_length,
)
from wikisum.ranker.setting import setting


@dataclasses.dataclass(frozen=True)
class ModelSettings:
    """A model with a field of each type."""

    width: int = setting(8, "width")
    share: float = setting(0.5, "share")
    form: str = setting("a", "form")
    is_wide: bool = setting(False, "wide")
    heads: int | None = setting(None, "heads")


RUN = RunSettings(ModelSettings())
RATES = ("peak_learning_rate", "epsilon")
OVER_ZERO = [
    (TrainSettings, name)
    for name in (
        "steps", "batch_tokens", "peak_learning_rate", "warmup_steps", "epsilon",
        "validate_every", "log_every", "keep_best", "update_batches",
    )
] + [
    (SourceSettings, name)
    for name in (
        "max_paragraphs", "paragraph_tokens", "source_tokens", "lead_tokens", "article_tokens",
    )
]  # fmt: skip
NOT_NEGATIVE = ["clip", "loader_workers", "seed", "patience"]


@pytest.mark.parametrize(("kind", "name"), OVER_ZERO)
def test_what_must_be_over_zero(kind, name):
    flag = "--" + name.replace("_", "-")
    bound = "greater than 0" if name in RATES else "at least 1"
    for value in (0, -1):
        with pytest.raises(ValueError, match=f"^{flag} must be {bound}, not {value}$"):
            kind(**{name: value})
    assert getattr(kind(**{name: 1}), name) == 1


@pytest.mark.parametrize("name", NOT_NEGATIVE)
def test_what_must_not_be_negative(name):
    assert getattr(TrainSettings(**{name: 0}), name) == 0
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=f"^{flag} must be at least 0, not -1$"):
        TrainSettings(**{name: -1})


@pytest.mark.parametrize("name", ["beta1", "beta2", "label_smoothing"])
def test_shares_are_below_one(name):
    assert getattr(TrainSettings(**{name: 0}), name) == 0
    for value in (1, -0.1):
        with pytest.raises(ValueError, match="must be at least 0 and below 1"):
            TrainSettings(**{name: value})


@pytest.mark.parametrize("name", ["precision", "schedule", "optimizer"])
def test_choices_are_those_of_the_help_text(name):
    (field,) = (f for f in dataclasses.fields(TrainSettings) if f.name == name)
    for choice in field.metadata["choices"]:
        assert getattr(TrainSettings(**{name: choice}), name) == choice
    choices = ", ".join(field.metadata["choices"])
    with pytest.raises(ValueError, match=f"^--{name} must be one of {choices}, not 'x'$"):
        TrainSettings(**{name: "x"})


def test_weight_decay_needs_adamw():
    assert TrainSettings(weight_decay=0.1, optimizer="adamw").weight_decay == 0.1
    with pytest.raises(ValueError, match=r"^--weight-decay needs --optimizer adamw$"):
        TrainSettings(weight_decay=0.1)
    with pytest.raises(ValueError, match="--weight-decay must be at least 0"):
        TrainSettings(weight_decay=-0.1, optimizer="adamw")


def test_the_defaults_are_those_of_the_paper():
    """Liu & Lapata 2019 and its released code; see docs/models.md."""
    source, train = SourceSettings(), TrainSettings()
    assert dataclasses.astuple(source) == (24, 100, 1_600, 400, "lead", 2_192)
    assert (train.steps, train.batch_tokens, train.update_batches) == (500_000, 10_500, None)
    assert (train.peak_learning_rate, train.warmup_steps) == (2.096e-3, 8_000)
    assert (train.schedule, train.optimizer, train.weight_decay) == ("inverse_sqrt", "adam", 0)
    assert (train.beta1, train.beta2, train.epsilon, train.clip) == (0.9, 0.998, 1e-9, 0)
    assert (train.label_smoothing, train.validate_every, train.patience) == (0.1, 5_000, 0)
    assert (train.log_every, train.keep_best, train.precision) == (100, 5, "auto")
    assert (train.compile, train.loader_workers, train.seed) == (False, 2, 0)


def test_each_group_is_changed_by_the_names_of_its_fields():
    found = changed(RUN, {"width": 9, "max_paragraphs": 3, "steps": 7})
    assert found == RunSettings(
        ModelSettings(width=9), SourceSettings(max_paragraphs=3), TrainSettings(steps=7)
    )
    assert changed(RUN, {}) == RUN
    assert found.decoding == DecodingSettings()


def test_decoding_is_not_changed_here():
    with pytest.raises(ValueError, match=r"^no such setting: beam, widht$"):
        changed(RUN, {"widht": 3, "beam": 2, "width": 3})


def test_the_given_values_stay_as_they_are():
    values = {"width": 9, "steps": 7}
    changed(RUN, values)
    assert values == {"width": 9, "steps": 7}


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [("width", 1.5, "int"), ("width", True, "int"), ("width", None, "int"), ("share", "1", "float"),
     ("share", False, "float"), ("form", 1, "str"), ("is_wide", 1, "bool"), ("heads", "2", "int")],
)  # fmt: skip
def test_a_value_of_another_type_is_refused(name, value, kind):
    with pytest.raises(ValueError, match=f"^{name} must be of type {kind}, not {value!r}$"):
        changed(RUN, {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("width", 3), ("share", 0.25), ("form", "b"), ("is_wide", True), ("heads", 2),
     ("heads", None), ("update_batches", None)],
)  # fmt: skip
def test_a_value_of_the_right_type_is_taken(name, value):
    found = changed(RUN, {name: value})
    group = found.model if hasattr(found.model, name) else found.train
    assert getattr(group, name) == value
    assert type(getattr(group, name)) is type(value)


def test_a_whole_number_becomes_a_float_where_one_is_wanted():
    found = changed(RUN, {"share": 1}).model.share
    assert (found, type(found)) == (1.0, float)


def test_decoding_has_a_seed_of_its_own():
    found = changed(RUN, {"seed": 3, "decoding": {"seed": 5, "max_tokens": 70}})
    assert (found.train.seed, found.decoding.seed, found.decoding.max_tokens) == (3, 5, 70)
    with pytest.raises(ValueError, match="no such setting: beams"):
        changed(RUN, {"decoding": {"beams": 3}})


def test_targets_are_leads_or_articles():
    with pytest.raises(ValueError, match=r"^--target must be one of lead, article, not 'book'$"):
        SourceSettings(target="book")
    assert SourceSettings(lead_tokens=7).target_tokens == 7
    assert SourceSettings(target="article", article_tokens=9).target_tokens == 9


def test_a_summary_of_a_whole_article_may_be_as_long_as_the_longest_target():
    article = dataclasses.replace(RUN, source=SourceSettings(target="article", article_tokens=9))
    assert with_target_length(article).decoding == dataclasses.replace(RUN.decoding, max_tokens=9)
    assert with_target_length(RUN) == RUN


def test_bounds_are_those_that_users_know():
    assert run_settings() == stored("runs")


@pytest.mark.parametrize("kind", [SourceSettings, TrainSettings, DecodingSettings, RunSettings])
def test_settings_cannot_be_changed(kind):
    settings = RUN if kind is RunSettings else kind()
    with pytest.raises(AttributeError):
        setattr(settings, dataclasses.fields(kind)[0].name, None)
