"""`wikisum rank`, through the command, on a few invented topics."""

import hashlib
import json
import shutil
import signal
import time
from dataclasses import replace

import pyarrow.parquet as pq
import pytest

from benchmarks.topics import TopicSettings, write_topics
from tests.processes import end, start
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.rerank.stage import _card_section
from wikisum.ranker.learned.score import Scorer

pytestmark = pytest.mark.slow
TINY = [
    "--preset", "tiny", "--embedding-size", "8", "--hidden-size", "8", "--feature-size", "8",
    "--steps", "4", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """200 articles, the training shard of which is parted in three."""
    out = tmp_path_factory.mktemp("topics") / "out"
    write_topics(out, 200, TopicSettings(facts=3, distractors=4), vocab_size=600)
    (whole,) = out.glob("examples/train-*")
    table = pq.read_table(whole)
    whole.unlink()
    for i in range(3):
        part = table.slice(i * 70, 70)
        pq.write_table(part, out / f"examples/train-{i:05d}-of-00003.parquet", row_group_size=30)
    return out


@pytest.fixture(scope="module")
def run(data, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "ranker"
    assert main(["train", "ranker", "--data", str(data), "--out", str(out), *TINY]) == 0
    return out


def rank(data, out, *words):
    return main(["rank", "--data", str(data), "--out", str(out), *map(str, words)])


def rows(out):
    return {
        row["id"]: row
        for path in sorted((out / "examples").glob("*.parquet"))
        for row in pq.read_table(path).to_pylist()
    }


def digests(out):
    paths = [*out.glob("examples/*"), *out.glob("vocab/*")]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


@pytest.fixture(scope="module")
def ranked(data, run, tmp_path_factory):
    """Ranked by the learned ranker, with one worker."""
    out = tmp_path_factory.mktemp("ranked") / "out"
    flags = ["--model", run, "--max-paragraphs", 3, "--device", "cpu", "--workers", 1]
    assert rank(data, out, *flags) == 0
    return out


def test_a_method_ranks_and_cuts_and_the_result_is_valid(data, tmp_path, capsys):
    assert rank(data, tmp_path / "o", "--method", "oracle", "--max-paragraphs", 4) == 0
    assert main(["validate", str(tmp_path / "o")]) == 0
    before, after = rows(data), rows(tmp_path / "o")
    assert before.keys() == after.keys()
    for key, row in after.items():
        labels = [p["rouge2_recall"] for p in before[key]["paragraphs"]]
        found = [p["rouge2_recall"] for p in row["paragraphs"]]
        assert found == sorted(labels, reverse=True)[:4]
        assert row["documents"] == before[key]["documents"]
        ids_of = {
            p["text"]: ids
            for p, ids in zip(before[key]["paragraphs"], before[key]["paragraph_ids"], strict=True)
        }
        assert row["paragraph_ids"] == [ids_of[p["text"]] for p in row["paragraphs"]]
    metadata = pq.ParquetFile(next((tmp_path / "o").glob("examples/test-*"))).schema_arrow.metadata
    assert json.loads(metadata[b"wikisum.settings"])["rank"]["method"] == "oracle"


def test_a_second_run_finds_all_done(data, run, ranked, capfd):
    flags = ["--model", run, "--max-paragraphs", 3, "--device", "cpu", "--workers", 1]
    before = digests(ranked)
    assert rank(data, ranked, *flags) == 0
    output = capfd.readouterr()
    assert "rank      already done" in output.err
    assert "200 examples, 600 of 1,400 paragraphs kept" in output.out
    assert digests(ranked) == before


def test_the_learned_ranker_orders_by_its_scores(data, run, ranked):
    scorer = Scorer.load(run, "cpu")
    before = rows(data)
    for key, row in list(rows(ranked).items())[::20]:
        texts = [p["text"] for p in before[key]["paragraphs"]]
        (scores,) = scorer.score_articles([(row["title"], texts)])
        found = [p["score"] for p in row["paragraphs"]]
        assert found == pytest.approx(sorted(scores, reverse=True)[:3], abs=1e-5)
    assert main(["validate", str(ranked)]) == 0
    settings = json.loads((ranked / "manifest.json").read_text())["settings"]["rank"]
    assert settings["method"] == "lstm"
    assert len(settings["model"]) == 16
    assert (ranked / "vocab" / "wikisum.model").read_bytes() == (run / "vocab.model").read_bytes()


def test_two_workers_write_the_same_bytes(data, run, ranked, tmp_path):
    flags = ["--model", run, "--max-paragraphs", 3, "--device", "cpu", "--workers", 2]
    assert rank(data, tmp_path / "o", *flags) == 0
    assert digests(tmp_path / "o") == digests(ranked)


def test_the_model_is_loaded_once_for_all_shards_and_texts_do_as_well_as_ids(
    data, run, ranked, tmp_path, monkeypatch
):
    other = tmp_path / "data"
    shutil.copytree(data / "examples", other / "examples")  # no vocabulary: texts are encoded
    loaded = []
    load = Scorer.load.__func__

    def counted(cls, folder, *options, **named):
        loaded.append(folder)
        return load(cls, folder, *options, **named)

    monkeypatch.setattr(Scorer, "load", classmethod(counted))
    flags = ["--model", run, "--max-paragraphs", 3, "--device", "cpu", "--workers", 1]
    assert rank(other / "examples", tmp_path / "o", *flags) == 0
    assert len(loaded) == 2  # to check the call, and by the worker
    for key, row in rows(tmp_path / "o").items():
        assert [p["text"] for p in row["paragraphs"]] == [
            p["text"] for p in rows(ranked)[key]["paragraphs"]
        ]
    assert main(["validate", str(tmp_path / "o")]) == 0


@pytest.mark.longest
def test_killed_at_any_moment_it_ends_in_the_same_bytes(data, run, ranked, tmp_path):
    out = tmp_path / "o"
    flags = ["--model", run, "--max-paragraphs", 3, "--device", "cpu", "--workers", 1]
    for moment in (".work/ranker/best.safetensors", "examples/*"):
        process = start(["rank", "--data", data, "--out", out, *flags])
        deadline = time.monotonic() + 120
        while not list(out.glob(moment)) and process.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert end(process, signal.SIGKILL) == -signal.SIGKILL
        for shard in out.glob("examples/*.parquet"):
            pq.ParquetFile(shard)
    assert rank(data, out, *flags) == 0
    assert digests(out) == digests(ranked)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--method", "best"], "no ranking method 'best'"),
        (
            ["--method", "tfidf", "--max-paragraphs", 0],
            "--max-paragraphs must be at least 1",
        ),
        (["--model", "nowhere"], "nowhere holds no run of a ranker: no best.safetensors"),
        ([], "one of the arguments --method --model is required"),
        (["--method", "tfidf", "--model", "x"], "not allowed with argument"),
    ],
)
def test_wrong_calls_are_one_line(data, tmp_path, capsys, flags, message):
    assert rank(data, tmp_path / "o", *flags) == 2
    output = capsys.readouterr().err.strip()
    assert message in output
    assert len(output.splitlines()) == 1


def test_a_dataset_is_not_ranked_into_itself(data, capsys, tmp_path):
    assert rank(data, data, "--method", "tfidf") == 2
    assert "--out is the dataset itself" in capsys.readouterr().err
    assert rank(tmp_path, tmp_path / "o", "--method", "tfidf") == 2
    assert "no shards" in capsys.readouterr().err


def test_the_card_counts_paragraphs_and_an_empty_dataset_has_none():
    settings = {"method": "bm25", "max_paragraphs": 9}
    result = StageResult("rank", "hash", [], {}, {"settings": settings}, 0.0)
    assert "the best 9 an example, 0 of\n0 in all" in _card_section(result)
    counts = {"paragraphs_in": 5_000, "paragraphs_out": 1_200}
    assert "1,200 of\n5,000 in all" in _card_section(replace(result, counts=counts))
