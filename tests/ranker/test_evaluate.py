import io
import json

import pyarrow.parquet as pq
import pytest

from benchmarks.topics import TopicSettings, write_topics
from wikisum.pipeline.cli import main
from wikisum.ranker.evaluate import (
    CUTS,
    ROUGES,
    evaluate_ranking,
    markdown,
    score_chunk,
    score_order,
    summary_scores,
)
from wikisum.ranker.rank import METHODS, rank
from wikisum.ranker.recall import RankedArticle
from wikisum.ranker.rouge import rouge, rouge_tokens
from wikisum.ranker.select import extractive_summary, lead_summary

ARTICLE = RankedArticle(
    "Tavin",
    "The mill of Tavin is old.",
    ["Nothing of it.", "A mill of Tavin.", "Old is the mill."],
    [(0, 0), (0, 1), (1, 0)],
)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("topics") / "out"
    write_topics(out, 60, TopicSettings(facts=3, distractors=4), vocab_size=600)
    return str(out)


def test_an_order_by_hand():
    words = [rouge_tokens(p) for p in ARTICLE.paragraphs]
    scored = score_order("mine", [1, 2, 0], 0.0, ARTICLE, words)
    # of "the mill of tavin is old" the best three hold "mill of tavin is"
    assert scored.recalls == [4 / 6] * len(CUTS)
    # six words: "A mill of Tavin. Old is"; five of them in the lead, four bigrams apart
    assert scored.summary == pytest.approx([5 / 6, 2 / 5, 4 / 6])
    # "Tavin A mill of Tavin. Old"
    assert scored.titled == pytest.approx([4 / 6, 2 / 5, 4 / 6])


def test_summaries_are_as_long_as_the_lead_and_stemmed():
    assert len(extractive_summary([1, 2, 0], ARTICLE.paragraphs, 6).split()) == 6
    assert lead_summary(ARTICLE.title, [1], ARTICLE.paragraphs, 3) == "Tavin A mill"
    assert summary_scores("mills", "mill") == [1.0, 0.0, 1.0]


def test_methods_see_the_pages_and_the_stored_order_is_kept():
    stored = ARTICLE._replace(
        paragraphs=[ARTICLE.paragraphs[i] for i in (1, 2, 0)],
        positions=[ARTICLE.positions[i] for i in (1, 2, 0)],
    )
    found = {one.method: one for one in score_chunk([stored], list(METHODS), None)}
    assert set(found) == {"stored", *METHODS, "lead-3", "sumbasic_sentences"}
    words = [rouge_tokens(p) for p in ARTICLE.paragraphs]
    assert found["stored"].summary == score_order("", [1, 2, 0], 0.0, ARTICLE, words).summary
    assert found["identity"].summary == score_order("", [0, 1, 2], 0.0, ARTICLE, words).summary
    for method in METHODS:
        order = rank(method, ARTICLE.title, ARTICLE.paragraphs, lead=ARTICLE.lead)
        assert found[method].recalls == score_order("", order, 0.0, ARTICLE, words).recalls


def test_rows_are_means_in_percent(data):
    rows = evaluate_ranking(data, "test", methods=["tfidf", "oracle"], to=io.StringIO())
    (row,) = (row for row in rows if row["method"] == "tfidf")
    table = pq.read_table(f"{data}/examples/test-00000-of-00001.parquet").to_pylist()
    recalls = []
    for article in table:
        texts = [p["text"] for p in article["paragraphs"]]
        best = rank("tfidf", article["title"], texts)[:5]
        recalls.append(rouge(" ".join(texts[i] for i in best), article["lead"])["rougeL"]["recall"])
    assert row["articles"] == len(table) == 6
    assert row["rougeL_recall"]["5"] == pytest.approx(100 * sum(recalls) / 6, abs=0.01)
    assert set(row["summary_f1"]) == set(ROUGES)
    one = evaluate_ranking(data, "test", methods=["oracle"], limit=1, to=io.StringIO())
    assert {row["articles"] for row in one} == {1}


def test_the_command_writes_a_table_and_figures(data, tmp_path, capsys):
    flags = ["--preset", "tiny", "--hidden-size", "8", "--steps", "2", "--device", "cpu"]
    train = ["train", "ranker", "--data", data, "--out", str(tmp_path / "run"), *flags]
    assert main(train) == 0
    call = ["evaluate", "ranking", "--data", data, "--run", str(tmp_path / "run"),
            "--methods", "tfidf", "--out", str(tmp_path / "new" / "figures.json")]  # fmt: skip
    assert main(call) == 0
    output = capsys.readouterr().out
    rows = json.loads((tmp_path / "new" / "figures.json").read_text())
    assert [row["method"] for row in rows] == [
        "stored", "tfidf", "lstm", "lead-3", "sumbasic_sentences"
    ]  # fmt: skip
    assert output == markdown(rows)
    for line in output.splitlines():
        if line.startswith("| lstm"):
            assert line.count("|") in (7, 8)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--methods", "tfidf,best"], "no ranking method 'best'"),
        (["--limit", "0"], "--limit must be at least 1"),
        (["--split", "dev"], "--split: invalid choice: 'dev'"),
        (["--run", "nowhere"], "nowhere holds no run of a ranker"),
    ],
)
def test_wrong_calls_are_one_line(data, capsys, flags, message):
    assert main(["evaluate", "ranking", "--data", data, *flags]) == 2
    assert message in capsys.readouterr().err
