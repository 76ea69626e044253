"""The papers' comparisons: their figures by hand, their learnable sets, and a run of each kind."""

import json
import sys

import numpy as np
import pytest

from benchmarks.reproduction import growing, structure
from benchmarks.reproduction.__main__ import main, tables
from benchmarks.reproduction.compare import compared, markdown, parts_of
from benchmarks.reproduction.news import f1
from benchmarks.reproduction.windows import sentences


def test_figures_by_hand():
    """Two systems, two seeds, three examples: means over examples, then over seeds."""
    worse = [parts_of(np.array([[0.0], [0.1], [0.2]])), parts_of(np.array([[0.2], [0.3], [0.4]]))]
    better = [parts_of(np.array([[0.8], [0.9], [1.0]]))] * 2
    one, two = compared({"worse": worse, "better": better}, ["rougeL"], "better")
    assert one["figures"]["rougeL"]["value"] == pytest.approx(0.2)
    assert one["figures"]["rougeL"]["by_seed"] == pytest.approx([0.1, 0.3])
    low, high = one["figures"]["rougeL"]["interval"]
    assert 0.1 - 1e-9 <= low < 0.2 < high <= 0.3 + 1e-9
    # of the 8 assignments of 3 differences, 2 are as far apart as what was seen
    assert one["figures"]["rougeL"]["p"] == pytest.approx(0.25, abs=0.04)
    assert two["figures"]["rougeL"]["p"] is None


def test_a_ratio_is_of_sums_not_a_mean_of_ratios():
    """An example of 9 labels weighs nine times as much as one of 1 label."""
    parts = np.array([[[9.0], [9.0]], [[0.0], [1.0]]])
    (row,) = compared({"one": [parts]}, ["log_perplexity"], "one")
    assert row["figures"]["log_perplexity"]["value"] == pytest.approx(0.9)


def test_a_metric_without_figures_is_left_out():
    parts = np.concatenate([parts_of(np.full((3, 1), 0.5)), np.zeros((3, 2, 1))], 2)
    (row,) = compared({"one": [parts]}, ["rouge1", "attention_cosine"], "one")
    assert list(row["figures"]) == ["rouge1"]


def test_rows_as_markdown():
    figure = {"value": 0.5, "interval": (0.4, 0.6), "by_seed": [0.45, 0.55], "p": 0.01}
    rows = [
        {"system": "FT", "figures": {"rougeL": figure}, "training CPU s": 3.0},
        {"system": "HT", "figures": {}, "parameters": 12345},
    ]
    assert markdown(rows).splitlines() == [
        "| system | rougeL | training CPU s | parameters |",
        "| --- | --- | --- | --- |",
        "| FT | 50.0 [40.0, 60.0] (45.0, 55.0), p 0.0100 | 3.00 | - |",
        "| HT | - | - | 12,345 |",
    ]


def test_the_growing_input_holds_each_fact_once():
    """All facts stand in the whole source, and a limit keeps its first tokens."""
    whole = growing.draw(np.random.default_rng(3), 4, growing.TOKENS)
    part = growing.draw(np.random.default_rng(3), 4, growing.TOKENS // 4)
    for example in range(4):
        facts = whole.label_BS[example][: growing.FACTS]
        tokens = whole.source.id_N.view(4, -1)[example]
        assert np.isin(facts, tokens).all()
        read = part.source.id_N.view(4, -1)[example]
        assert read.tolist() == tokens[: growing.TOKENS // 4].tolist()
        assert np.isin(facts, read).sum() == growing.FACTS // 4
        assert len({(int(fact) - growing.FIRST_ID) // growing.VALUES for fact in facts}) == 12


def test_news_are_scored_word_by_word():
    assert f1([("the cat sat .", "the cat sat ."), ("a b", "c d")]).tolist() == [[1] * 3, [0] * 3]


def test_sentences_of_a_lead():
    assert sentences("A is b. It has c.") == ["A is b", "It has c"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["growing", "pht"])
def test_a_comparison_writes_its_rows_and_trains_nothing_twice(name, tmp_path, monkeypatch):
    words = [name, "--out", tmp_path, "--seeds", 0, "--articles", 60, "--steps", 2]
    monkeypatch.setattr(sys, "argv", ["reproduction", *map(str, words)])
    monkeypatch.setattr(growing, "TEST", 16)
    monkeypatch.setattr(structure, "PHT_SYSTEMS", {"FT": ("tiny-ft",), "PHT": ("tiny-pht",)})
    assert main() == 0
    rows = [json.loads(line) for line in (tmp_path / f"{name}.jsonl").read_text().splitlines()]
    assert rows
    assert all(row["system"] for row in rows)
    runs = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/last.safetensors")}
    assert main() == 0
    assert runs == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*/last.safetensors")}
    printed = "\n".join(tables(tmp_path))
    assert f"## {name}" in printed
    assert all(row["system"] in printed for row in rows)


def test_news_needs_data(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["reproduction", "news", "--out", str(tmp_path)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert "news needs --data" in capsys.readouterr().err
