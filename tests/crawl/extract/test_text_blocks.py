import json
from collections.abc import Sequence

import numpy as np
import pytest

from wikisum.crawl.extract.text_blocks import (
    MODEL_FILE,
    TextModel,
    default_model,
    logits,
    mark_furniture,
    read_model,
)
from wikisum.crawl.extract.text_features import NAMES, text_features
from wikisum.crawl.paragraphs import drop_reasons

STORY = [
    f"The bridge of the village {name} was built of iron in {1850 + i}, and until the line was "
    f"closed trains carried coal and timber over the river to the harbor. It has {i + 3} arches."
    for i, name in enumerate(["Tavin", "Orlo", "Penn", "Marl", "Sund", "Tarn"])
]
MENU = [f"Section {i}" for i in range(40)]
TEASERS = [
    "How do I run for office?",
    "You are no longer onsite at your organization. Please log in.",
    "Watch every live event and get unlimited access to our premium content.",
]
PAGE = ["The bridges - Daily Bridge", *MENU, *STORY, *MENU]
for number, teaser in enumerate(TEASERS):
    PAGE += [teaser, *MENU[number * 10 : number * 10 + 10]]


def test_teasers_among_menus_are_furniture_and_the_story_is_not():
    reasons = drop_reasons(PAGE)
    assert all(reasons[PAGE.index(line)] is None for line in (*STORY, *TEASERS))
    marked = mark_furniture(PAGE, reasons)
    assert [line for line, reason in zip(PAGE, marked, strict=True) if reason is None] == STORY
    assert {PAGE[i] for i, reason in enumerate(marked) if reason == "furniture"} == {*TEASERS}


def test_reasons_of_the_rules_stay():
    reasons = drop_reasons(PAGE)
    marked = mark_furniture(PAGE, reasons)
    assert reasons.count("too_short") == marked.count("too_short") > 100
    assert mark_furniture(PAGE, ["too_short"] * len(PAGE)) == ["too_short"] * len(PAGE)


@pytest.mark.parametrize(("count", "reason"), [(4, None), (5, "furniture")])
def test_pages_of_few_lines_are_left(count, reason):
    always = TextModel(0.0, np.inf, np.zeros(len(NAMES)))
    assert mark_furniture(STORY[:count], [None] * count, always) == [reason] * count


def test_logits_by_hand():
    model = TextModel(0.5, 0.0, np.arange(len(NAMES)) / 10)
    rows: Sequence[Sequence[float]] = text_features(PAGE, [41, 42])
    expected = [0.5 + sum(i / 10 * x for i, x in enumerate(row)) for row in rows]
    assert logits(PAGE, [41, 42], model) == pytest.approx(expected)


def test_every_feature_has_a_weight_and_no_other_has():
    stored = json.loads(MODEL_FILE.read_text())
    assert tuple(stored["weights"]) == NAMES
    assert default_model().weights.tolist() == list(stored["weights"].values())
    del stored["weights"]["share"]
    with pytest.raises(KeyError, match="share"):
        read_model(json.dumps(stored))
