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


def test_notes_captions_and_share_bars_have_reasons():
    notes = [f"{n} See the book of the engineer on iron, and the map of {n}." for n in (7, 8, 9)]
    caption = "Figure 2. The bridge of Tavin before it was closed in 1950."
    bar = "The line was closed in 1950. Facebook Twitter Pinterest and more of them."
    page = [*STORY, *notes, caption, bar]
    never = TextModel(-np.inf, np.zeros(1), np.zeros((1, len(NAMES))), np.zeros(1), 0.0)
    marked = mark_furniture(page, [None] * len(page), never)
    assert marked == [None] * len(STORY) + ["footnote"] * 3 + ["caption", "furniture"]


def test_entries_of_a_calendar_are_furniture():
    entries = [f"{day} {STORY[0]}" for day in ("8/14", "8/15", "11/18")]
    lines = [*STORY, *entries]
    assert mark_furniture(lines, [None] * len(lines))[-3:] == ["furniture"] * 3
    assert mark_furniture(lines[:-1], [None] * 8)[-2:] == [None] * 2


def test_a_menu_before_the_text_of_a_page_of_one_line_is_no_reason():
    merged = f"{'Home News Sport Travel Books ' * 13}{' '.join(STORY)}"
    assert mark_furniture([merged], [None]) == [None]
    menu = "Home News Sport Travel Books " * 5
    assert mark_furniture([menu.strip()], [None]) == ["furniture"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("Home » Sights » Bridge of Tavin, which is of iron.", "furniture"),
        ("Facebook Twitter Pinterest and more of them.", "furniture"),
        (f"Home » Sights » Bridge {' '.join(STORY)} Facebook Twitter Pinterest", None),
    ],
)
def test_rules_hold_for_pages_of_few_lines_but_not_for_merged_lines(line, reason):
    assert mark_furniture([STORY[0], line], [None, None]) == [None, reason]


@pytest.mark.parametrize(("count", "reason"), [(4, None), (5, "furniture")])
def test_the_network_leaves_pages_of_few_lines(count, reason):
    always = TextModel(np.inf, np.zeros(1), np.zeros((1, len(NAMES))), np.zeros(1), 0.0)
    assert mark_furniture(STORY[:count], [None] * count, always) == [reason] * count


def test_logits_by_hand():
    weights = np.array([np.arange(len(NAMES)), -np.arange(len(NAMES))]) / 10
    model = TextModel(0.0, np.array([0.5, 9.0]), weights, np.array([2.0, -3.0]), 0.25)
    rows: Sequence[Sequence[float]] = text_features(PAGE, [41, 42])
    sums = [sum(i / 10 * x for i, x in enumerate(row)) for row in rows]
    expected = [2 * max(0.0, 0.5 + s) - 3 * max(0.0, 9 - s) + 0.25 for s in sums]
    assert logits(PAGE, [41, 42], model) == pytest.approx(expected)


def test_every_feature_has_weights_and_no_other_has():
    stored = json.loads(MODEL_FILE.read_text())
    assert tuple(stored["weights"]) == NAMES
    assert default_model().weights.T.tolist() == list(stored["weights"].values())
    del stored["weights"]["share"]
    with pytest.raises(KeyError, match="share"):
        read_model(json.dumps(stored))
