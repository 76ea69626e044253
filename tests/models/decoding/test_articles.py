"""Whole articles through the commands: train, summarize, evaluate."""

import json

import pyarrow.parquet as pq
import pytest

from wikisum.models.decoding.summarize import load_run
from wikisum.models.decoding.summary_files import read_summaries
from wikisum.models.targets import Heading
from wikisum.pipeline.cli import main

SMALL = [
    "--preset", "tiny", "--width", "16", "--feedforward", "32", "--steps", "4", "--batch-tokens",
    "1500", "--validate-every", "2", "--warmup-steps", "2", "--article-tokens", "60",
    "--device", "cpu",
]  # fmt: skip
TITLES = ["Form", "Parts"]


@pytest.fixture(scope="module")
def run(articles, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "article"
    words = ["train", "summarizer", "--data", articles, "--out", out, "--target", "article"]
    assert main([*map(str, words), *SMALL]) == 0
    return out


@pytest.fixture
def summarize(run, tmp_path):
    def call(*words, out="rows.jsonl"):
        path = tmp_path / out
        common = ["summarize", "--run", run, "--out", path, "--beam", "2", "--device", "cpu"]
        code = main([*map(str, common), *map(str, words)])
        return list(read_summaries(path)) if code == 0 else code

    return call


@pytest.mark.slow
def test_the_length_of_articles_goes_to_the_settings_of_the_run(run):
    settings = json.loads((run / "settings.json").read_text())
    assert settings["source"]["target"] == "article"
    assert settings["decoding"]["max_tokens"] == settings["source"]["article_tokens"] == 60


@pytest.mark.slow
def test_rows_hold_written_and_gold_sections(articles, summarize):
    rows = summarize("--split", "test", "--headings", "own")
    examples = pq.read_table(articles / "examples" / "test-00000-of-00001.parquet").to_pylist()
    for row, example in zip(rows, examples, strict=True):
        assert [s.title for s in row.sections] == TITLES
        assert [s.level for s in row.sections] == [2, 3]
        assert [s._asdict() for s in row.gold_sections] == example["sections"]
        assert row.tokens <= 61
        assert row.settings["headings"] == "own"
        assert row.lead_tokens > len(example["lead_ids"]) + 1


@pytest.mark.slow
def test_parquet_holds_the_same(summarize):
    plain = summarize("--split", "validation", "--headings", "own")
    assert summarize("--split", "validation", "--headings", "own", out="rows.parquet") == plain


@pytest.mark.slow
def test_the_model_chooses_headings_if_none_are_given(summarize):
    rows = summarize("--split", "test", "--max-tokens", "30")
    assert all(row.sections is not None for row in rows)


def test_headings_are_given_on_the_command_line_or_in_a_file(summarize, tmp_path, capsys):
    text, names = tmp_path / "notes.txt", tmp_path / "headings.txt"
    text.write_text("The tower was built in 1890 by two men.\n\nIt has a red roof of old tiles.")
    names.write_text("== Height Ω ==\n=== Parts ===\n")
    for given in ("Height Ω; === Parts ===", names):
        (row,) = summarize("--text", text, "--title", "A tower", "--headings", given)
        assert [(s.title, s.level) for s in row.sections] == [("Height Ω", 2), ("Parts", 3)]
        assert row.gold_sections is None
        assert "== Height Ω ==\n" in capsys.readouterr().out


def test_headings_in_python(run):
    summarizer = load_run(run, device="cpu")
    texts = ["The tower was built in 1890.", "It has a red roof."]
    row = summarizer.summarize("A tower", texts, headings=[Heading("Parts")])
    assert [s.title for s in row.sections] == ["Parts"]
    assert row.text() == f"{row.summary}\n\n== Parts ==\n{row.sections[0].text}"


@pytest.mark.slow
def test_the_lead_alone_can_be_asked_for(summarize):
    rows = summarize("--split", "test", "--target", "lead", "--max-tokens", "20")
    assert all(row.sections is None and row.gold_sections is None for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--split", "test", "--target", "lead", "--headings", "A"], "with --target article"),
        (["--split", "test", "--headings", "A; B", "--max-tokens", "5"], "than --max-tokens 5"),
        (["--split", "test", "--headings", " ; "], "no heading in"),
        (["--text", "-", "--title", "A", "--headings", "own"], "--headings own goes with --split"),
    ],
)  # fmt: skip
def test_headings_that_cannot_be_written(words, message, summarize, capsys):
    assert summarize(*words) == 2
    assert message in capsys.readouterr().err
