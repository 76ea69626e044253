import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from wikisum.graphs.edges import Edges
from wikisum.graphs.entities import recognizer
from wikisum.models.decoding.hypothesis import Hypothesis
from wikisum.models.decoding.split import job_key, split_rows
from wikisum.models.decoding.summarize import load_run, own_summary, summaries
from wikisum.models.decoding.write_summaries import write_summaries
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.pipeline.cli import main
from wikisum.ranker.runs.checkpoints import load_checkpoint, save_checkpoint

CPU = torch.device("cpu")


@pytest.mark.slow
@pytest.mark.parametrize("model", ["ht", "ft"])
def test_rows_say_all_of_their_examples(model, runs, topics, make_job):
    loaded = load_run(runs / model, "best", CPU)
    job = make_job(loaded, beam=2)
    rows = list(split_rows(loaded, job))
    table = pq.read_table(topics / "examples" / "test-00000-of-00001.parquet").to_pylist()
    assert [row.id for row in rows] == [example["id"] for example in table]
    for row, example in zip(rows, table, strict=True):
        assert (row.title, row.lead) == (example["title"], example["lead"])
        texts = [p["text"] for p in example["paragraphs"]]
        assert [p.text for p in row.paragraphs] == texts[: len(row.paragraphs)]
        assert sum(p.attention for p in row.paragraphs) == pytest.approx(1, abs=1e-4)
        assert row.lead_tokens == len(example["lead_ids"]) + 1
        assert row.log_prob < 0
        assert row.score == pytest.approx(row.log_prob / job.decoding.normalizer(row.tokens))
        assert (row.model, row.run) == (model, loaded.chosen.fingerprint)
        assert row.settings["checkpoint"] == loaded.chosen.name
        assert row.settings["source_tokens"] == 600
        assert row.settings["beam"] == 2


@pytest.mark.slow
def test_a_leads_probability_is_that_of_its_tokens(runs, make_job):
    loaded = load_run(runs / "ht", "best", CPU)
    job = make_job(loaded, beam=1)
    row = next(split_rows(loaded, job))
    batch = job.reader.batch(torch.tensor([0]).numpy())
    logits = loaded.model.logits(
        loaded.model.decode(batch.target_BS, loaded.model.encode(batch.source))
    )
    loss = torch.nn.functional.cross_entropy(logits[0], batch.label_BS[0], reduction="sum")
    assert row.lead_log_prob == pytest.approx(-loss.item(), rel=1e-4)


@pytest.mark.parametrize("model", ["ht", "ft"])
def test_attention_is_that_of_what_was_written(model, runs, make_job, monkeypatch):
    """Summaries of other lengths in the batch change nothing."""
    loaded = load_run(runs / model, "best", CPU)
    job = make_job(loaded)
    written = [[20, 30, 40, 50, 60], [7], [9, 8]]

    def attention_of(rows):
        found = [[Hypothesis(written[row], -1.0, -1.0)] for row in rows]
        place = "wikisum.models.decoding.summarize.beam_search_n_best"
        monkeypatch.setattr(place, lambda *_: found)
        return [
            w.attention for w in summaries(loaded, job.reader.batch(np.array(rows)), job.decoding)
        ]

    for row, together in enumerate(attention_of([0, 1, 2])):
        assert together == pytest.approx(attention_of([row])[0], abs=1e-5)
        assert sum(together) == pytest.approx(1, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s.jsonl", "s.parquet"])
def test_a_killed_run_goes_on_to_the_same_file(name, runs, make_job, tmp_path):
    loaded = load_run(runs / "ht", "best", CPU)
    job = make_job(loaded, beam=1)
    rows = list(split_rows(loaded, job))
    groups = [30, len(rows) - 30]  # as if the split had two row groups
    key = job_key(loaded, job)

    def rows_from(group):
        return iter(rows[sum(groups[:group]) :])

    def killed(group):
        yield from rows[:41]
        raise KeyboardInterrupt

    whole, cut = tmp_path / "whole" / name, tmp_path / "cut" / name
    assert write_summaries(whole, key, groups, rows_from) == len(rows)
    with pytest.raises(KeyboardInterrupt):
        write_summaries(cut, key, groups, killed)
    assert not cut.exists()
    asked = []

    def going_on(group):
        asked.append(group)
        return rows_from(group)

    assert write_summaries(cut, key, groups, going_on) == len(rows)
    assert asked == [1]
    assert cut.read_bytes() == whole.read_bytes()
    assert [p.name for p in cut.parent.iterdir()] == [name]


@pytest.mark.slow
def test_a_row_that_was_cut_off_is_written_again(runs, make_job, tmp_path):
    loaded = load_run(runs / "ht", "best", CPU)
    rows = list(split_rows(loaded, make_job(loaded, beam=1)))[:6]
    asked = []

    def rows_from(group, count=6):
        asked.append(group)
        yield from rows[2 * group : count]
        if count < 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_summaries(tmp_path / "s.jsonl", "key", [2, 2, 2], lambda group: rows_from(group, 4))
    (part,) = tmp_path.iterdir()
    part.write_bytes(part.read_bytes()[:-5])
    write_summaries(tmp_path / "s.jsonl", "key", [2, 2, 2], rows_from)
    assert asked == [0, 1]
    found = [json.loads(line) for line in (tmp_path / "s.jsonl").read_text().splitlines()]
    assert [row["id"] for row in found] == [row.id for row in rows]


def own_example(*texts):
    paragraphs = [{"text": text, "document": 0} for text in texts]
    return {"id": "1", "title": "A Mill", "paragraphs": paragraphs, "documents": [{"url": "a.txt"}]}


def test_own_paragraphs_are_summarized(runs):
    loaded = load_run(runs / "ft", "average", CPU)
    search = DecodingSettings(beam=2, max_tokens=6)
    row = own_summary(loaded, own_example("It is old.", "White."), SourceSettings(), search)
    assert [p.text for p in row.paragraphs] == ["It is old.", "White."]
    assert row.paragraphs[0].document_url == "a.txt"
    assert (row.lead, row.lead_log_prob) == ("", None)
    with pytest.raises(ValueError, match="no paragraph"):
        own_summary(loaded, own_example(), SourceSettings(), search)


def test_own_paragraphs_follow_a_graph_of_their_own(runs):
    loaded = load_run(runs / "graph", "last", CPU)
    example = own_example("It is old.", "White.", "The mill is old.", "It fell.")
    search = DecodingSettings(beam=1, max_tokens=4)

    def row(weight, paragraphs=4):
        edges = Edges([0, 0, 1], [1, 2, 3], [1.0, weight, 1.0])
        return own_summary(loaded, example, SourceSettings(paragraphs), search, edges)

    assert row(0.5).log_prob == row(0.5).log_prob != row(9.0).log_prob
    assert row(9.0, paragraphs=2).log_prob == row(0.5, paragraphs=2).log_prob  # edge is cut off
    with pytest.raises(ValueError, match="similarity graph"):
        own_summary(loaded, example, SourceSettings(), search)


@pytest.mark.slow
def test_the_n_best_begin_with_the_summary(runs, make_job):
    loaded = load_run(runs / "ht", "best", CPU)
    rows = list(split_rows(loaded, make_job(loaded, beam=3, n_best=3)))[:5]
    for row in rows:
        first, *others = row.n_best
        assert first == (row.summary, row.score, row.log_prob, row.tokens)
        assert len(others) == 2
        assert row.score >= others[0].score >= others[1].score


def test_sampling_goes_through(runs, make_job):
    loaded = load_run(runs / "ht", "last", CPU)
    job = make_job(loaded, sample=True, top_k=5)
    batch = job.reader.batch(torch.arange(4).numpy())
    one, other = (summaries(loaded, batch, job.decoding) for _ in range(2))
    assert [s.hypothesis for s in one] == [s.hypothesis for s in other]


class TestCommand:
    @pytest.mark.slow
    def test_a_split_goes_to_a_file(self, runs, tmp_path, capsys):
        out = tmp_path / "test.jsonl"
        words = ["summarize", "--run", str(runs / "ht"), "--split", "test"]
        assert main([*words, "--beam", "1", "--max-tokens", "5", "--out", str(out)]) == 0
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        assert len(rows) == 60
        assert rows[0]["settings"]["beam"] == 1
        assert "60 summaries" in capsys.readouterr().out

    @pytest.mark.slow
    def test_scores_of_the_best_checkpoints_are_averaged(self, runs, tmp_path, capsys):
        out, scores = tmp_path / "test.jsonl", tmp_path / "scores"
        words = ["--beam", "1", "--max-tokens", "5", "--out", str(out)]
        run = ["--run", str(runs / "ht"), "--split", "test"]
        assert main(["summarize", *run, "--checkpoint", "each", *words]) == 0
        files = sorted(map(str, tmp_path.glob("test.step-*.jsonl")))
        assert len(files) == 2
        ask = ["evaluate", "summaries", "--mean", *files, "--samples", "10", "--out", str(scores)]
        assert main(ask) == 0
        systems = json.loads((scores / "evaluation.json").read_text())["systems"]
        values = [system["figures"]["rouge1"]["value"] for system in systems]
        assert systems[2]["name"] == "mean of 2"
        assert values[2] == pytest.approx((values[0] + values[1]) / 2)
        assert main(["evaluate", "summaries", "--mean", files[0]]) == 2

    @pytest.mark.slow
    def test_more_is_read_than_was_trained_on(self, runs, tmp_path):
        run = ["summarize", "--run", str(runs / "ht"), "--split", "test", "--max-tokens", "3"]
        read = []
        for number, more in enumerate(["2", "5"]):
            out = tmp_path / f"{number}.jsonl"
            assert main([*run, "--max-paragraphs", more, "--out", str(out)]) == 0
            rows = [json.loads(line) for line in out.read_text().splitlines()]
            read.append({len(row["paragraphs"]) for row in rows})
        assert read == [{2}, {5}]

    def test_own_documents(self, runs, tmp_path, capsys):
        text = tmp_path / "a.txt"
        text.write_text("It rained over that town for nine long days in 1850.\nx\n")
        page = tmp_path / "b.html"
        page.write_text("<p>The mill was sold to the town for ninety shillings in 1874.</p>")
        words = ["summarize", "--run", str(runs / "ht"), "--title", "The mill", "--max-tokens", "5"]
        out = tmp_path / "own.jsonl"
        assert main([*words, "--text", str(text), str(page), "--out", str(out)]) == 0
        (row,) = map(json.loads, out.read_text().splitlines())
        assert capsys.readouterr().out.strip() == row["summary"].strip()
        assert [p["document_url"] for p in row["paragraphs"]] == [str(page), str(text)]  # by title

    @pytest.mark.parametrize("graph", ["similarity", "discourse"])
    def test_own_documents_for_a_model_with_a_graph(
        self, graph, runs, tmp_path, capsys, monkeypatch
    ):
        text = tmp_path / "a.txt"
        text.write_text("The mill was built of granite.\nThen the mill was sold to the town.\n")
        run = tmp_path / "run"
        shutil.copytree(runs / "graph", run)
        state = load_checkpoint(run / "last.safetensors", "summarizer", CPU)
        state["settings"]["model"]["graph"] = graph
        save_checkpoint(run / "last.safetensors", "summarizer", state)
        words = [
            "--run",
            str(run),
            "--checkpoint",
            "last",
            "--title",
            "A mill",
            "--text",
            str(text),
        ]
        assert main(["summarize", *words, "--max-tokens", "3"]) == 0
        if graph == "discourse":
            text.write_text("Another mill stood by the bridge until it burned down.\n")
            monkeypatch.setattr("wikisum.graphs.entities.MODELS", ("no_such_model", "nor_this"))
            recognizer.cache_clear()
            assert main(["summarize", *words, "--max-tokens", "3"]) == 1
            assert "no spaCy model" in capsys.readouterr().err

    @pytest.mark.slow
    def test_subwords_of_another_vocabulary_are_told_apart(self, runs, topics, tmp_path, capsys):
        data = tmp_path / "data"
        shutil.copytree(topics, data)
        vocab = data / "vocab" / "wikisum.model"
        vocab.write_bytes(vocab.read_bytes() + b"\n")
        words = ["summarize", "--run", str(runs / "ht"), "--split", "test", "--data", str(data)]
        out = tmp_path / "out.jsonl"
        short = ["--max-tokens", "2", "--beam", "1", "--out", str(out)]
        assert main([*words, *short]) == 2
        assert "another vocabulary" in capsys.readouterr().err
        assert not out.exists()
        vocab.unlink()  # shards alone are taken as they are
        assert main([*words, *short]) == 0

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("words", "code", "message"),
        [
            (["--run", "nowhere", "--split", "test"], 2, "nowhere"),
            (["--split", "dev"], 2, "--split: invalid choice"),
            (["--text", "nowhere.txt", "--title", "T"], 2, "nowhere.txt"),
            (["--text", "nowhere.txt"], 2, "--title"),
            (["--text", "EMPTY", "--title", "T", "--data", "x"], 2, "--data goes with --split"),
            (["--split", "test", "--title", "T"], 2, "--title goes with --text"),
            (["--split", "test", "--out", "."], 2, "--out . is a directory"),
            (["--split", "test", "--beam", "0"], 2, "--beam"),
            (["--split", "test", "--text", "x"], 2, "not allowed with"),
            (["--split", "test", "--checkpoint", "first"], 2, "--checkpoint"),
            (["--text", "ftp://example.org/x", "--title", "T"], 2, "ftp://example.org/x"),
            (["--text", "EMPTY", "--title", "T"], 1, "EMPTY"),
        ],
    )
    def test_a_wrong_call_is_one_line(
        self, words, code, message, runs, tmp_path, capsys, monkeypatch
    ):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "EMPTY").write_text("")
        given = [] if "--run" in words else ["--run", str(runs / "ht")]
        assert main(["summarize", *given, *words]) == code
        error = capsys.readouterr().err
        assert message in error
        assert len(error.strip().splitlines()) == 1
