import json

import pytest

from wikisum.models.decoding.summary_files import BadSummaries
from wikisum.models.evaluation.systems import file_systems
from wikisum.models.judging.material import read_examples, sample_ids
from wikisum.models.judging.questions import Question


def test_examples_are_sampled_among_those_that_all_systems_have(files):
    paths = files(20)
    paths[1].write_text("".join(paths[1].read_text().splitlines(keepends=True)[5:]))
    systems = file_systems(paths)
    ids = sample_ids(systems, 6, seed=1)
    assert len(set(ids)) == 6
    assert set(ids) <= {f"e{n}" for n in range(5, 20)}
    assert ids == sample_ids(systems, 6, seed=1) != sample_ids(systems, 6, seed=2)
    assert len(sample_ids(systems, 100, seed=1)) == 15
    assert sample_ids(systems, 6, 1, among=["e0", "e7"]) == ["e7"]


def test_an_example_has_the_texts_of_all_systems(files):
    question = Question("Why?", "Because.")
    example, other = read_examples(
        file_systems(files()), ["e3", "e0"], with_gold=True, questions={"e3": [question]}
    )
    assert example.summaries == (
        "Text 0 of example 3.", "Text 1 of example 3.", "Text 2 of example 3.", example.lead
    )  # fmt: skip
    assert example.paragraphs == ("Source 0 of example 3.", "Source 1 of example 3.")
    assert (example.questions, other.questions) == ((question,), ())
    assert other.id == "e0"


def test_control_characters_do_not_reach_judges(files):
    paths = files(1, 1)
    row = json.loads(paths[0].read_text())
    texts = {name: f"{row[name]}\x1b[31m\u202e" for name in ("title", "lead", "summary")}
    paths[0].write_text(json.dumps({**row, **texts, "paragraphs": [{"text": "a\x00b"}]}))
    (example,) = read_examples(file_systems(paths), ["e0"])
    assert example.title == "Title 0[31m"
    assert example.summaries == ("Text 0 of example 0.[31m",)
    assert example.paragraphs == ("ab",)


def test_nothing_in_common(files):
    paths = files(2)
    systems = file_systems(paths)
    with pytest.raises(ValueError, match="no example in common that has questions"):
        sample_ids(systems, 2, 0, among=["other"])
    paths[0].write_text(paths[0].read_text().replace('"e', '"f'))
    with pytest.raises(ValueError, match=r"no example in common$"):
        sample_ids(systems, 2, 0)


def test_an_id_that_comes_twice(files):
    paths = files(2)
    paths[2].write_text(paths[2].read_text() * 2)
    with pytest.raises(BadSummaries, match=r"gammanet.jsonl: two summaries have the id e0"):
        sample_ids(file_systems(paths), 2, 0)
