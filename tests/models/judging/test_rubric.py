import pytest

from wikisum.models.judging.rubric import read_rubric

RUBRIC = """
title = "Coverage"
instruction = "Read and rate."
shows_lead = true

[[scale]]
key = "coverage"
label = "Coverage"
text = "Does it say all?"
low = 0
options = ["nothing", "some", "all"]
"""


def test_a_rubric_is_a_protocol(tmp_path):
    path = tmp_path / "rubric.toml"
    path.write_text(RUBRIC)
    protocol = read_rubric(path)
    assert (protocol.name, protocol.kind, protocol.title) == ("rubric", "rating", "Coverage")
    assert (protocol.shows_lead, protocol.shows_sources) == (True, True)
    (scale,) = protocol.scales
    assert [tuple(option) for option in scale.options] == [
        ("0", "nothing", "0", ""), ("1", "some", "1", ""), ("2", "all", "2", "")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('title = "Coverage"', ""), "missing required field `title`"),
        (("[[scale]]", "[[scales]]"), "unknown field `scales`"),
        (('"coverage"', '"the coverage"'), "matching regex"),
        (("low = 0", "low = -1"), r">= 0 - at `\$\.scale\[0\]\.low`"),
        (("low = 0", "low = 8"), "the values do not all have one digit"),
        (('["nothing", "some", "all"]', '["all"]'), r"length >= 2 - at `\$\.scale\[0\]\.options`"),
        (
            ("shows_lead = true", "shows_lead = 1"),
            r"`bool`, got `int` - at `\$\.shows_lead`",
        ),
        (('title = "Coverage"', "title = "), "line 2"),
        (('label = "Coverage"', ""), "missing required field `label`"),
    ],
)
def test_a_fault_is_named(tmp_path, change, message):
    path = tmp_path / "rubric.toml"
    path.write_text(RUBRIC.replace(*change))
    with pytest.raises(ValueError, match=message) as caught:
        read_rubric(path)
    assert str(path) in str(caught.value)


def test_keys_are_different(tmp_path):
    path = tmp_path / "rubric.toml"
    path.write_text(RUBRIC + RUBRIC[RUBRIC.index("[[scale]]") :])
    with pytest.raises(ValueError, match="two scales have the same key"):
        read_rubric(path)
