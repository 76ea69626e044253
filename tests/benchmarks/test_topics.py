import pyarrow.parquet as pq
import pytest

from benchmarks.topics import TopicSettings, make_example, texts_of, write_topics
from wikisum.pipeline.records import EXAMPLE, example_from_row
from wikisum.pipeline.validate.rows import row_faults
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.rank import rank
from wikisum.ranker.rouge import rouge, rouge2_recall


@pytest.fixture(scope="module")
def examples():
    return [make_example(i, TopicSettings()) for i in range(60)]


def is_relevant(example):
    """Which paragraphs tell a fact of the lead."""
    facts = [s.rstrip(".").removeprefix(example.title).removeprefix("It") for s in
             example.lead.split(". ")]  # fmt: skip
    return [any(f"{fact}." in p.text for fact in facts) for p in example.paragraphs]


def test_a_shard_holds_sound_examples(tmp_path):
    write_topics(tmp_path / "out", 30, TopicSettings(), vocab_size=400)
    model = (tmp_path / "out" / "vocab" / "wikisum.model").read_bytes()
    processor = load_model(model, "vocab")
    rows = []
    for split, count in (("train", 24), ("validation", 3), ("test", 3)):
        table = pq.read_table(tmp_path / f"out/examples/{split}-00000-of-00001.parquet")
        assert table.schema.equals(EXAMPLE)
        assert len(table) == count
        rows += table.to_pylist()
    for row in rows:
        assert list(row_faults(row, processor.get_piece_size(), 0.8)) == []
        example = example_from_row(row)
        assert processor.encode(texts_of(example)) == [
            example.title_ids, example.lead_ids, *example.paragraph_ids
        ]  # fmt: skip
        assert [p.rouge2_recall for p in example.paragraphs] == pytest.approx(
            rouge2_recall([p.text for p in example.paragraphs], example.lead)
        )
    with pytest.raises(FileExistsError, match="is there already"):
        write_topics(tmp_path / "out", 30, TopicSettings())
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_each_fact_stands_in_one_paragraph_and_titles_differ(examples):
    for example in examples:
        assert sum(is_relevant(example)) == 4
        assert len(example.paragraphs) == 20
        assert len({p.text for p in example.paragraphs}) == 20
    assert len({e.title for e in examples}) == len(examples)


@pytest.mark.parametrize(("place", "first"), [("early", True), ("late", False)])
def test_the_facts_stand_where_they_are_put(place, first):
    found = is_relevant(make_example(3, TopicSettings(place=place)))
    assert found == sorted(found, reverse=first)


def test_an_article_depends_on_its_number_and_the_seed_alone(examples):
    assert make_example(7, TopicSettings()) == examples[7]
    assert make_example(7, TopicSettings(seed=1)).title != examples[7].title


def test_the_title_does_not_tell_what_is_relevant_but_the_labels_do(examples):
    recall = dict.fromkeys(("tfidf", "oracle", "random"), 0.0)
    for example in examples:
        texts = [p.text for p in example.paragraphs]
        for method in recall:
            best = rank(method, example.title, texts, lead=example.lead)[:5]
            found = rouge(" ".join(texts[i] for i in best), example.lead)["rougeL"]["recall"]
            recall[method] += found / len(examples)
    assert recall["oracle"] > recall["tfidf"] + 0.2
    assert recall["random"] > recall["tfidf"]


@pytest.mark.parametrize(
    ("settings", "flag"),
    [({"facts": 0}, "--facts"), ({"distractors": -1}, "--distract"), ({"place": "x"}, "--place")],
)
def test_wrong_settings_are_refused(settings, flag):
    with pytest.raises(ValueError, match=flag):
        TopicSettings(**settings)
