import re

import pytest

from wikisum.models.judging.questions import Question
from wikisum.models.judging.study import links

ASKED = {"e1": [Question("Who?", "A")], "e2": [Question("Who?", "B"), Question("Why?", "C")]}


def test_equal_settings_give_the_same_study_with_other_links(make_study):
    one, two, three = make_study(), make_study(name="again"), make_study(name="other", seed=1)
    assert one.store.examples() == two.store.examples() != three.store.examples()
    assert [one.store.screens(j) for j in (1, 2, 3)] == [two.store.screens(j) for j in (1, 2, 3)]
    tokens = [judge.token for s in (one, two) for judge in s.store.judges()]
    assert len(set(tokens)) == 6
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)
    assert links(one, "https://example.org/")[0] == f"judge 1: https://example.org/{tokens[0]}/"


def test_questions_have_markers_and_each_judge_one_summary_per_example(make_study):
    study = make_study(
        "questions", questions=ASKED, judges=3, judges_per_item=None, markers=2, examples=9
    )
    assert [judge.role for judge in study.store.judges()] == ["judge"] * 3 + ["marker"] * 2
    ids = [example.id for example in study.store.examples()]
    assert sorted(ids) == ["e1", "e2"]
    for judge in (1, 2, 3):
        assert sorted(s.example for s in study.store.screens(judge)) == [0, 1]
    marking = [(ids[s.example], s.question) for s in study.store.screens(5)]
    assert sorted(marking) == [("e1", 0), ("e2", 0), ("e2", 1)]
    assert study.store.screens(4) == study.store.screens(5)


def test_the_protocol_says_how_many_are_shown_and_judge_it(make_study):
    shown = {}
    for name in ("duc", "preference", "best-worst"):
        study = make_study(name, judges=7, judges_per_item=None, name=name)
        screens = [s for j in range(1, 8) for s in study.store.screens(j)]
        shown[name] = ({len(s.systems) for s in screens}, len(screens))
    assert shown == {"duc": ({1}, 4 * 3 * 3), "preference": ({2}, 4 * 3 * 3),
                     "best-worst": ({3}, 4 * 5)}  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "settings", "message"),
    [
        ("questions", {}, "needs --questions"),
        ("duc", {"questions": ASKED}, "--questions does not belong to the protocol duc"),
        ("duc", {"systems_per_screen": 2}, "belongs to the protocol best-worst"),
        ("best-worst", {"systems": 2}, "needs at least 3 systems"),
        ("preference", {"systems": 1}, "2 systems are shown at once, not 1"),
        ("duc", {"judges_per_item": 4}, "--judges-per-item 4"),
        ("questions", {"questions": ASKED, "judges_per_item": 2}, "need --judges 6, not 3"),
    ],
)
def test_what_does_not_fit_leaves_no_folder(make_study, tmp_path, protocol, settings, message):
    with pytest.raises(ValueError, match=message):
        make_study(protocol, **settings)
    assert not list(tmp_path.glob("*study*"))


def test_an_older_study_is_not_overwritten(make_study):
    study = make_study()
    before = (study.folder / "study.json").read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        make_study("pht")
    assert (study.folder / "study.json").read_bytes() == before
