import pyarrow.parquet as pq
import pytest

from wikisum.models.evaluation.baselines import BASELINES, baseline_summaries
from wikisum.pipeline.records import EXAMPLE, Example, Paragraph, SourceDocument, to_table
from wikisum.ranker.rank import METHODS, rank
from wikisum.ranker.select import extractive_summary

TEXTS = [
    "The bridge carries trains over the river Tavin. It is painted green every ten years.",
    "Josiah Penrose drew the bridge in a week. He had drawn two before it.",
    "The river Tavin floods in spring. Nine men drowned in it in 1840.",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> str:
    """A dataset with three examples of the test split."""
    pages = [
        SourceDocument(f"http://{n}.example/", "citation", n, "a.warc", 0, "", "", 0.0)
        for n in range(3)
    ]
    paragraphs = [Paragraph(text, n, 0, 1.0 - n, 0.0) for n, text in enumerate(TEXTS)]
    lead = "Bridge {} is an iron bridge over the river Tavin. It opened in 1881."
    examples = [
        Example(f"{n:016x}", f"Bridge {n}", "", lead.format(n), [], pages, paragraphs)
        for n in range(3)
    ]
    folder = tmp_path_factory.mktemp("data") / "examples"
    folder.mkdir()
    pq.write_table(to_table(examples, EXAMPLE), folder / "test-00000-of-00001.parquet")
    return str(folder.parent)


def test_the_lead_baseline_is_title_and_paragraphs_in_their_order(data):
    (first, *rest) = baseline_summaries("first-words", data, "test")
    assert [found.title for found in rest] == ["Bridge 1", "Bridge 2"]
    words = f"Bridge 0 {TEXTS[0]}".split()
    assert first.summary.split() == words[: len(first.lead.split())]
    assert first.model == "first-words"
    assert first.settings is None
    assert [p.document_url for p in first.paragraphs] == [f"http://{n}.example/" for n in range(3)]


def test_lead3_is_three_whole_sentences(data):
    (first, *_) = baseline_summaries("lead3", data, "test")
    assert first.summary == f"{TEXTS[0]} Josiah Penrose drew the bridge in a week."


def test_a_method_puts_paragraphs_into_its_own_order(data):
    (first, *_) = baseline_summaries("random", data, "test")
    order = rank("random", first.title, TEXTS)
    assert order != [0, 1, 2]
    assert first.summary == extractive_summary(order, TEXTS, len(first.lead.split()))


def test_a_baseline_takes_from_the_first_paragraphs_alone(data):
    (oracle, *_) = baseline_summaries("oracle", data, "test", max_paragraphs=2)
    assert oracle.summary.startswith("The bridge carries trains over the river")
    assert [p.text for p in oracle.paragraphs] == TEXTS[:2]
    assert oracle.settings == {"max_paragraphs": 2}


def test_some_examples_alone(data):
    (found,) = baseline_summaries("first-words", data, "test", ids={f"{1:016x}"})
    assert found.title == "Bridge 1"


def test_unknown_names_and_splits(data):
    with pytest.raises(ValueError, match="no baseline 'leed': one of first-words, "):
        list(baseline_summaries("leed", data, "test"))
    with pytest.raises(FileNotFoundError):
        list(baseline_summaries("first-words", data, "train"))
    assert ("first-words", "lead3", *METHODS) == BASELINES
