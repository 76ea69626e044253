import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.text_features import NAMES, text_features

LINES = [
    "The iron bridge",
    "Home",
    "The bridge was built of iron in 1881, and trains crossed the river (twice a day).",
    "Menu",
    "It was closed in 1960! The river still has “piers” of the bridge.",
    *["Contact"] * 10,
    "Sign up for your newsletter…",
]
KEPT = [2, 4, 15]


def columns(lines: list[str] = LINES, kept: list[int] = KEPT) -> dict[str, list[float]]:
    rows = text_features(lines, kept)
    assert rows.shape == (len(kept), len(NAMES))
    return {name: list(rows[:, i]) for i, name in enumerate(NAMES)}


def test_features_of_the_paragraphs_themselves():
    found = columns()
    assert found["sentences"] == [0.1, 0.2, 0.1]
    assert found["stop"] == [1, 1, 1]
    assert found["ellipsis"] == [0, 0, 1]
    assert found["exclamations"] == pytest.approx([0, 1 / 3, 0])
    assert found["imperative"] == [0, 0, 1]
    assert found["parentheses"] == [1, 0, 0]
    assert found["quotes"] == [0, 0.5, 0]
    assert found["second_person"] == pytest.approx([0, 0, 1])  # one word of five


def test_features_of_the_places():
    found = columns()
    assert found["is_first"] == [1, 0, 0]
    assert found["is_last"] == [0, 0, 1]
    assert found["in_longest"] == [1, 1, 0]  # ten lines lie between the second and the third
    assert found["log_run_count"] == pytest.approx(list(np.log1p([2, 2, 1]) / 5))
    assert found["to_longest"] == pytest.approx([0, 0, -np.log(12) / 5])
    chars = np.array([len(LINES[i]) for i in KEPT])
    assert found["share"] == pytest.approx(list(chars / chars.sum()))
    assert found["page_prose"][0] == pytest.approx(chars.sum() / sum(map(len, LINES)))


def test_shares_of_prose_and_short_lines_beside_a_paragraph():
    found = columns()
    assert found["prose_before_2"] == pytest.approx([0, len(LINES[2]) / (len(LINES[2]) + 4), 0])
    assert found["short_after_2"] == [0.5, 1, 0]
    assert found["short_before_1"] == [1, 1, 1]


def test_words_shared_with_the_title_and_with_other_paragraphs():
    found = columns()
    assert found["title_words"] == pytest.approx([1 / 6, 1 / 5, 0])
    assert found["shared_words"] == pytest.approx([2 / 6, 2 / 5, 0])  # bridge and river


def test_a_repeated_paragraph():
    assert columns([*LINES, LINES[2]])["repeated"] == [1, 0, 0]


@given(st.lists(st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip), min_size=1))
def test_any_lines_have_finite_features(lines):
    assert np.isfinite(text_features(lines, range(len(lines)))).all()
