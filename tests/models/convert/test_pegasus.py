"""An exported run, read by transformers, computes what it computed here."""

import dataclasses
import json

import numpy as np
import pytest
import torch
import transformers

from wikisum.models.convert.pegasus import check_exportable, pegasus
from wikisum.models.data.batches import collate
from wikisum.models.network.flat_transformer import FlatSettings
from wikisum.models.settings.run import RunSettings, SourceSettings
from wikisum.models.table import build, preset, to_json
from wikisum.models.training.checkpoints import prepare_run
from wikisum.pipeline.cli import main
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.runs.checkpoints import save_checkpoint

SHAPE = FlatSettings(
    vocab_size=90, width=16, feedforward=24, heads=2, encoder_layers=2, decoder_layers=3,
    pre_norm=True,
)  # fmt: skip
VARIANTS = {
    "ft": {},
    "t-ed": {"bias": False, "output_bias": False},
    "own output table": {"tie_output": False, "scale_embeddings": False},
}


def make(**changes):
    settings = RunSettings(dataclasses.replace(SHAPE, **changes), SourceSettings(source_tokens=40))
    torch.manual_seed(0)
    model = build(settings.model).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter += 0.3 * torch.randn_like(parameter)
            if "norm" in name or "output" in name:  # small variances: the epsilon counts
                parameter *= 0.05
    return settings, model


def make_batch():
    rng = np.random.default_rng(0)
    sources = [[rng.integers(6, 90, n)] for n in (30, 7, 19)]
    return collate(sources, [rng.integers(6, 90, n) for n in (5, 12, 3)], range(3))


def their_logits(network, batch):
    counts = batch.source.is_source_BL.sum(1)
    ids = torch.zeros(batch.source.is_source_BL.shape, dtype=torch.long)
    ids[batch.source.is_source_BL] = batch.source.id_N
    assert counts.sum() == len(batch.source.id_N)
    found = network(
        input_ids=ids, attention_mask=batch.source.is_source_BL.long(),
        decoder_input_ids=batch.target_BS,
    )  # fmt: skip
    return found.logits.flatten(0, 1)[batch.label_slot_Y]


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
@torch.no_grad()
def test_logits_agree(name, tmp_path):
    settings, model = make(**VARIANTS[name])
    batch = make_batch()
    ours = model.logits(
        model.decode(batch.target_BS, model.encode(batch.source), batch.label_slot_Y)
    )
    network = pegasus(settings, model.state_dict())
    torch.testing.assert_close(their_logits(network, batch), ours, rtol=1e-5, atol=1e-5)
    network.save_pretrained(tmp_path)
    read = transformers.AutoModelForSeq2SeqLM.from_pretrained(tmp_path, local_files_only=True)
    torch.testing.assert_close(their_logits(read.eval(), batch), ours, rtol=1e-5, atol=1e-5)


def test_a_run_is_exported_by_the_command(topics, tmp_path, capsys):
    vocab = (topics / "vocab" / "wikisum.model").read_bytes()
    size = load_model(vocab, "topics").get_piece_size()
    settings, model = make(vocab_size=size)
    run, out = tmp_path / "run", tmp_path / "out"
    prepare_run(run, settings, vocab, str(topics))

    state = {"settings": to_json(settings), "model": model.state_dict(), "step": 3}
    save_checkpoint(run / "last.safetensors", "summarizer", state)
    assert main(["export", str(run), "--to", "transformers", "--out", str(out)]) == 0
    assert "AutoModelForSeq2SeqLM" in capsys.readouterr().out
    tokenizer = transformers.AutoTokenizer.from_pretrained(out, local_files_only=True)
    network = transformers.AutoModelForSeq2SeqLM.from_pretrained(out, local_files_only=True)
    ids = tokenizer("Tavin<T>The bridge.<P>", return_tensors="pt")
    assert network.generate(**ids, max_new_tokens=5).shape[1] <= 6
    assert json.loads((out / "config.json").read_text())["model_type"] == "pegasus"
    assert main(["export", str(run), "--to", "transformers", "--out", str(out)]) != 0


@pytest.mark.parametrize(
    "name", ["tiny", "tiny-t-d", "tiny-seq2seq-att", "tiny-pht", "tiny-pointer"]
)
def test_models_without_an_equal_are_refused(name):
    with pytest.raises(ValueError, match="not a flat transformer"):
        check_exportable(preset(name).model, name)
    with pytest.raises(ValueError, match="after each sublayer"):
        check_exportable(dataclasses.replace(SHAPE, pre_norm=False), "ft")
