import copy
import io
import json
import shutil
import signal
import time
from dataclasses import replace
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
import torch

from benchmarks.topics import TopicSettings, write_topics
from tests.processes import end, start
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import read_group, row_groups, split_shards
from wikisum.ranker.learned.batches import ParagraphReader
from wikisum.ranker.learned.score import Scorer
from wikisum.ranker.learned.settings import PRESETS
from wikisum.ranker.learned.train import RankerTrainer, train
from wikisum.ranker.recall import recalls_at
from wikisum.ranker.rouge import rouge_tokens
from wikisum.ranker.runs.checkpoints import load_checkpoint
from wikisum.ranker.runs.files import BEST, LAST
from wikisum.ranker.runs.training_log import TrainingLog, read_log
from wikisum.ranker.training.plan import Cursor
from wikisum.ranker.training.updates import updates

MODEL = replace(PRESETS["tiny"][0], embedding_size=16, hidden_size=16, feature_size=16)
FIT = replace(PRESETS["tiny"][1], steps=12, validate_every=4, log_every=2, batch_tokens=2048)
FLAGS = [
    "--preset", "tiny", "--embedding-size", 16, "--hidden-size", 16, "--feature-size", 16,
    "--validate-every", 4, "--log-every", 2, "--batch-tokens", 2048, "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Sixty articles of the learnable set."""
    out = tmp_path_factory.mktemp("topics") / "out"
    write_topics(out, 60, TopicSettings(facts=3, distractors=5), vocab_size=600)
    return str(out)


@pytest.fixture(scope="module")
def whole_run(data, tmp_path_factory):
    """A run of 12 steps that nothing interrupted."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    train(data, out, MODEL, FIT, "cpu", io.StringIO())
    return out


def validations(run):
    return [row for row in read_log(run) if "validation_loss" in row]


def weights(run, name=LAST):
    return load_checkpoint(run / name, "ranker", torch.device("cpu"))["model"]


def assert_same_run(run, other):
    assert read_log(run) == read_log(other)
    for name in (LAST, BEST):
        for key, tensor in weights(other, name).items():
            assert torch.equal(weights(run, name)[key], tensor)


@pytest.mark.slow
def test_a_run_tells_its_read_log(whole_run):
    trained = [row for row in read_log(whole_run) if "loss" in row]
    assert [row["step"] for row in trained] == [2, 4, 6, 8, 10, 12]
    assert trained[-1]["loss"] < trained[0]["loss"]
    assert all(row["gradient_norm"] > 0 for row in trained)
    rows = validations(whole_run)
    assert [row["step"] for row in rows] == [4, 8, 12]
    assert all(0 < row["rougeL_recall_5"] <= row["rougeL_recall_40"] <= 1 for row in rows)
    assert rows[-1]["validation_loss"] == pytest.approx(0.3, abs=0.3)
    settings = json.loads((whole_run / "settings.json").read_text())
    assert settings["model"]["vocab_size"] == 600
    assert list(whole_run.glob("events.out.tfevents.*"))


@pytest.mark.slow
def test_a_step_is_adagrads_on_the_mean_cross_entropy(data, tmp_path):
    fit = replace(FIT, initial_accumulator=0.3)
    reader = ParagraphReader(row_groups(split_shards(data, "train")), fit.lengths)
    settings = replace(MODEL, vocab_size=600, dropout=0.0)
    state = RankerTrainer(tmp_path, settings, fit, reader, None)
    update = next(updates(state.lengths(io.StringIO()), fit, Cursor(), 0, state.processes))
    batch = reader.batch(update.batches[0][1])
    before = copy.deepcopy(state.model).train()
    *inputs, labels = batch
    score = before(*inputs).sigmoid()
    loss = -(labels * score.log() + (1 - labels) * (1 - score).log()).mean()
    gradients = torch.autograd.grad(loss, list(before.parameters()))
    total, count = state.train_step(update, [batch]).figures["loss"]
    assert total.item() / count == pytest.approx(loss.item(), rel=1e-5)
    for old, new, gradient in zip(
        before.parameters(), state.model.parameters(), gradients, strict=True
    ):
        expected = old - 0.15 * gradient / (0.3 + gradient**2).sqrt()
        torch.testing.assert_close(new, expected, rtol=1e-4, atol=1e-6)


def test_texts_are_scored_as_far_as_they_are_read_in_training(whole_run):
    scorer = Scorer.load(whole_run, "cpu")
    ids = [6 + i % 500 for i in range(700)]
    lengths = ((700, 700), (64, 256), (4, 256))
    scores = [scorer.score_ids([(ids[:t], [ids[:p]])]) for t, p in lengths]
    assert scores[0] == scores[1] != scores[2]
    assert scores[1] != scorer.score_ids([(ids[:64], [ids[:9]])])


@pytest.mark.parametrize("split", ["train", "validation"])
def test_a_split_without_articles_is_named(split, data, tmp_path, capsys):
    copy = tmp_path / "data"
    shutil.copytree(data, copy)
    for path in (copy / "examples").glob(f"{split}-*.parquet"):
        pq.write_table(pq.read_table(path).slice(0, 0), path)
    assert main(["train", "ranker", "--data", str(copy), "--out", str(tmp_path / "run")]) == 2
    assert f"the {split} shards in {copy} hold no article" in capsys.readouterr().err


@pytest.mark.slow
def test_the_same_seed_gives_the_same_run_and_another_another(data, whole_run, tmp_path):
    train(data, tmp_path / "same", MODEL, FIT, "cpu", io.StringIO())
    assert_same_run(tmp_path / "same", whole_run)
    train(data, tmp_path / "other", MODEL, replace(FIT, steps=4, seed=1), "cpu", io.StringIO())
    assert read_log(tmp_path / "other")[0] != read_log(whole_run)[0]


@pytest.mark.slow
def test_more_steps_go_on_as_if_never_stopped(data, whole_run, tmp_path):
    for steps in (4, 12, 12):
        train(data, tmp_path, MODEL, replace(FIT, steps=steps), "cpu", io.StringIO())
    assert_same_run(tmp_path, whole_run)


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_in_the_same_read_log(data, whole_run, tmp_path):
    out = tmp_path / "run"
    call = ["train", "ranker", "--data", data, "--out", str(out), *map(str, FLAGS), "--steps"]
    process = start([*call, "100000"])
    deadline = time.monotonic() + 120
    while not read_log(out) and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert end(process, signal.SIGKILL) == -signal.SIGKILL
    done = max([row["step"] for row in read_log(out)])
    last = done + 4 - done % 4
    assert main([*call, str(last)]) == 0
    train(data, tmp_path / "whole", MODEL, replace(FIT, steps=last), "cpu", io.StringIO())
    assert_same_run(out, tmp_path / "whole")
    assert read_log(out)[:2] == read_log(whole_run)[:2]


def test_rows_after_the_checkpoint_and_torn_ones_are_cut_off(tmp_path):
    with TrainingLog(tmp_path, 0) as log:
        for step in (1, 2, 3):
            log.write({"step": step, "loss": 0.5})
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    assert [row["step"] for row in read_log(tmp_path)] == [1, 2, 3]
    with TrainingLog(tmp_path, 2) as log:
        log.write({"step": 3, "loss": 0.25})
    assert [row["loss"] for row in read_log(tmp_path)] == [0.5, 0.5, 0.25]


def test_the_best_model_scores_as_it_did_in_training(data, whole_run):
    """The recall in the log, again: from texts and from ids, all at once and one at a time."""
    (group,) = row_groups(split_shards(data, "validation"))
    rows = read_group(group, ["title", "lead", "paragraphs", "title_ids", "paragraph_ids"])
    rows = rows.to_pylist()
    scorer = Scorer.load(whole_run, "cpu")
    articles = [(row["title"], [p["text"] for p in row["paragraphs"]]) for row in rows]
    ids = [(row["title_ids"], row["paragraph_ids"]) for row in rows]
    together = scorer.score_articles(articles)
    for i, scores in enumerate(together):
        assert scorer.score_articles([articles[i]])[0] == pytest.approx(scores, abs=1e-5)
        assert scorer.score_ids([ids[i]])[0] == pytest.approx(scores, abs=1e-5)
    best = min(validations(whole_run), key=lambda row: row["validation_loss"])
    recalls = []
    for (_, texts), row, scores in zip(articles, rows, together, strict=True):
        order = sorted(range(len(scores)), key=lambda i: -scores[i])
        words = [rouge_tokens(text) for text in texts]
        recalls.append(recalls_at(order, words, rouge_tokens(row["lead"]), [5])[0])
    assert sum(recalls) / len(recalls) == pytest.approx(best["rougeL_recall_5"])
    assert scorer.score_articles([("Nothing", [])]) == [[]]
    assert scorer.score_articles([]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--data", "nowhere"], 2, "there is no directory nowhere"),
        (["--preset", "huge"], 2, "--preset: invalid choice: 'huge'"),
        (["--steps", 0], 2, "--steps must be at least 1, not 0"),
        (["--dropout", 1], 2, "--dropout must be at least 0 and below 1, not 1.0"),
        (["--device", "tpu"], 2, "device must be auto, cpu or cuda"),
        (["--learning-rate", 1e38], 1, "try a smaller --learning-rate"),
    ],
)
def test_wrong_calls_are_one_line(data, tmp_path, capsys, flags, code, message):
    call = ["train", "ranker", "--data", data, "--out", tmp_path / "run", *FLAGS, *flags]
    assert main([*map(str, call)]) == code
    output = capsys.readouterr().err.strip().splitlines()
    assert output[-1].startswith("wikisum train ranker: ")
    assert message in output[-1]


@pytest.mark.slow
def test_a_run_is_not_gone_on_with_under_other_settings(data, whole_run, tmp_path):
    with pytest.raises(ValueError, match=r"trained with --dropout 0\.2, not 0\.3"):
        train(data, whole_run, replace(MODEL, dropout=0.3), FIT, "cpu", io.StringIO())
    other = tmp_path / "other"
    write_topics(other, 60, TopicSettings(facts=2), vocab_size=600)
    with pytest.raises(ValueError, match=r"another vocabulary"):
        train(str(other), whole_run, MODEL, FIT, "cpu", io.StringIO())


def test_a_folder_that_holds_no_run_is_reported(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no run of a ranker: no best\.safetensors"):
        Scorer.load(tmp_path)


@pytest.mark.parametrize(
    ("before", "is_saved"), [([], True), ([1.1, 1.2], True), ([0.9], False), ([1.0], False)]
)
def test_of_equal_validations_the_first_is_kept(before, is_saved, tmp_path):
    rows = [{"validation_loss": loss} for loss in before]
    run = SimpleNamespace(run=tmp_path, settings_json={}, step=5, validations=lambda: rows)
    RankerTrainer.save_best(run, {"validation_loss": 1.0}, {})
    assert (tmp_path / BEST).exists() is is_saved
