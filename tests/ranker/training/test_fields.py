import dataclasses
from types import SimpleNamespace

import pytest

from wikisum.ranker.training.fields import (
    flag,
    require,
    require_at_least_zero,
    require_positive,
    require_share,
    setting,
)


def test_a_field_has_a_default_a_help_text_and_choices():
    @dataclasses.dataclass
    class Some:
        beam_size: int = setting(5, "hypotheses")
        kind: str = setting("a", "kind", ["a", "b"])

    size, kind = dataclasses.fields(Some)
    assert Some() == Some(5, "a")
    assert dict(size.metadata) == {"help": "hypotheses"}
    assert dict(kind.metadata) == {"help": "kind", "choices": ("a", "b")}


def test_flags_have_hyphens():
    assert flag("batch_tokens_per_step") == "--batch-tokens-per-step"
    assert flag("beam") == "--beam"


def test_a_condition_that_holds_is_silent():
    require(True, "never")
    with pytest.raises(ValueError, match=r"^message$"):
        require(False, "message")


@pytest.mark.parametrize(
    ("check", "good", "bad", "message"),
    [
        (require_positive, [1, 0.001], [0, -1], "must be over 0"),
        (require_at_least_zero, [0, 1], [-1, -0.001], "must not be negative"),
        (require_share, [0, 0.5, 0.999], [1, -0.001], "must be at least 0 and below 1"),
    ],
)
def test_each_check_names_the_first_wrong_field(check, good, bad, message):
    for value in good:
        check(SimpleNamespace(one_thing=value), "one_thing")
    for value in bad:
        settings = SimpleNamespace(fine=good[-1], one_thing=value, other=value)
        with pytest.raises(ValueError, match=f"^--one-thing {message}, not {value}$"):
            check(settings, "fine", "one_thing", "other")
        check(settings, "fine")
