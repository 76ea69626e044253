import dataclasses
import io
import json

import pytest
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.hypothesis import Hypothesis
from wikisum.models.decoding.validation import RougeScorer
from wikisum.models.settings.run import changed
from wikisum.models.training.train import Trainer
from wikisum.pipeline.cli import main
from wikisum.ranker.data.shards import read_group, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.rouge import rouge
from wikisum.ranker.runs.training_log import read_log

CPU = torch.device("cpu")


@pytest.fixture
def settings(run_settings):
    return changed(run_settings, {"validation_summaries": 7})


@pytest.fixture
def readers(topics, settings):
    from wikisum.models.vocabulary.subwords import Subwords

    model = load_model((topics / "vocab" / "wikisum.model").read_bytes(), "topics")
    return [
        SplitReader(
            split_shards(str(topics), split), settings.model, settings.source, Subwords(model)
        )
        for split in ("train", "validation")
    ]


def test_scores_are_means_over_the_first_examples(readers, settings, monkeypatch):
    """Summaries are replaced by the sources' own tokens: their ROUGE is known."""
    _, validation = readers
    rows = read_group(validation.groups[0], ["lead", "lead_ids"]).to_pylist()[:7]
    written = [row["lead_ids"][: 3 + i] for i, row in enumerate(rows)]
    scorer = RougeScorer(validation, settings)
    by_source = {
        tuple(validation.batch(torch.tensor([i]).numpy()).source.id_N.tolist()): i for i in range(7)
    }

    def search(model, source, greedy):
        assert greedy.beam == 1
        ends = source.is_source_BL.sum(1).cumsum(0).tolist()
        starts = [0, *ends[:-1]]
        ids = [tuple(source.id_N[a:b].tolist()) for a, b in zip(starts, ends, strict=True)]
        return [Hypothesis(written[by_source[one]], -1.0, -1.0) for one in ids]

    monkeypatch.setattr("wikisum.models.decoding.validation.beam_search", search)
    found = scorer(torch.nn.Identity(), CPU)
    texts = [validation.vocabulary.decode(ids, "", ()) for ids in written]
    one_by_one = [rouge(t, r["lead"], stem=True) for t, r in zip(texts, rows, strict=True)]
    for name in ("rouge1", "rouge2", "rougeL"):
        mean = sum(score[name]["f1"] for score in one_by_one) / 7
        assert found[f"validation_{name}"] == pytest.approx(mean)
    assert 0 < found["validation_rouge2"] < found["validation_rouge1"] < 1


@pytest.mark.slow
def test_patience_watches_rouge(readers, settings, tmp_path):
    """The loss falls at each validation, ROUGE does not."""
    values = iter([0.1, 0.3, 0.2, 0.25, 0.9])
    settings = changed(
        settings, {"stop_on": "rouge2", "patience": 2, "validate_every": 1, "steps": 8}
    )
    trainer = Trainer(
        tmp_path, settings, *readers, scorer=lambda *_: {"validation_rouge2": next(values)}
    )
    losses = iter([4.0, 3.0, 2.0, 1.0, 0.5])
    trainer.validate = lambda *_: next(losses)
    trainer.fit(io.StringIO())
    assert trainer.step == 4
    rows = [row for row in read_log(tmp_path) if "validation_loss" in row]
    assert [row["validation_rouge2"] for row in rows] == [0.1, 0.3, 0.2, 0.25]


def test_settings_that_do_not_go_together(run_settings, readers, tmp_path):
    with pytest.raises(ValueError, match="--stop-on rouge2 needs --parallel ddp"):
        changed(run_settings, {"stop_on": "rouge2", "parallel": "fsdp"})
    with pytest.raises(ValueError, match="--stop-on must be one of loss, rouge1"):
        changed(run_settings, {"stop_on": "bleu"})
    with pytest.raises(ValueError, match="--stop-on rouge2 needs validation examples"):
        Trainer(tmp_path, changed(run_settings, {"stop_on": "rouge2"}), *readers)


@pytest.mark.slow
def test_the_command_logs_rouge_and_resumes(topics, run_settings, tmp_path):
    shape = dataclasses.asdict(run_settings.model)
    flags = [f"--{name}={shape[name]}" for name in ("width", "feedforward", "heads", "layers")]
    call = ["train", "summarizer", "--preset", "tiny", "--data", str(topics), "--device", "cpu"]
    call += [*flags, "--validate-every", "1", "--batch-tokens", "800", "--stop-on", "rougeL"]
    call += ["--validation-summaries", "3", "--patience", "9"]
    assert main([*call, "--out", str(tmp_path / "whole"), "--steps", "3"]) == 0
    for steps in ("1", "3"):
        assert main([*call, "--out", str(tmp_path / "parts"), "--steps", steps]) == 0
    assert read_log(tmp_path / "parts") == read_log(tmp_path / "whole")
    saved = json.loads((tmp_path / "whole" / "settings.json").read_text())
    assert saved["train"]["stop_on"] == "rougeL"
    assert all("validation_rougeL" in row for row in read_log(tmp_path / "whole")[1::2])
