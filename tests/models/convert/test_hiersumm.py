"""Files in the form of hiersumm, written here, become runs with the same numbers."""

import argparse
import io
import json
from collections import OrderedDict

import numpy as np
import pytest
import sentencepiece
import torch

from tests.models.convert.literal_hiersumm import log_probabilities
from wikisum.models.data.batches import collate
from wikisum.models.decoding.summarize import load_run
from wikisum.pipeline.cli import main
from wikisum.ranker.data.vocab import END, PIECES, UNKNOWN

WIDTH, HEADS, INTER_HEADS, INNER = 16, 4, 2, 24
LAYERS, INTER, DECODER_LAYERS = 3, (2,), 2
THEIRS = ["<unk>", "<s>", "</s>", "<T>", "<S>", "</S>", "<PAD>", "<P>", "<Q>"]
TEXTS = ["the old bridge was painted green , by twelve men .", "trains go over the river ."]


@pytest.fixture(scope="module")
def vocab():
    """A model whose first pieces are those of spm9998_3.model."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 20), model_writer=model, vocab_size=60,
        hard_vocab_limit=False, unk_id=0, bos_id=1, eos_id=2,
        user_defined_symbols=THEIRS[3:], minloglevel=2,
    )  # fmt: skip
    return model.getvalue()


def state_dict(vocab_size):
    """Random weights under the names that their modules give them, buffers included."""
    torch.manual_seed(0)
    found = OrderedDict()

    def linear(name, out, width, bias=True):
        found[f"{name}.weight"] = 0.4 * torch.randn(out, width)
        if bias:
            found[f"{name}.bias"] = 0.4 * torch.randn(out)

    def norm(name, width=WIDTH):
        found[f"{name}.weight"] = 1 + 0.3 * torch.randn(width)
        found[f"{name}.bias"] = 0.3 * torch.randn(width)

    def attention(name, width=WIDTH, final=True):
        for part in ("keys", "values", "query"):
            linear(f"{name}.linear_{part}", width, width)
        if final:
            linear(f"{name}.final_linear", width, width)

    def feed_forward(name):
        linear(f"{name}.w_1", INNER, WIDTH)
        linear(f"{name}.w_2", WIDTH, INNER)
        norm(f"{name}.layer_norm")

    found["encoder.embeddings.weight"] = torch.randn(vocab_size, WIDTH)
    found["encoder.pos_emb.pe"] = torch.zeros(1, 5000, WIDTH // 2)
    for number in range(LAYERS):
        name = f"encoder.transformer_layers.{number}"
        if number in INTER:
            head = WIDTH // INTER_HEADS
            norm(f"{name}.layer_norm1")
            linear(f"{name}.pooling.linear_keys", INTER_HEADS, WIDTH)
            linear(f"{name}.pooling.linear_values", WIDTH, WIDTH)
            norm(f"{name}.layer_norm2", head)
            attention(f"{name}.inter_att", head, final=False)
            linear(f"{name}.linear", WIDTH, WIDTH)
        else:
            attention(f"{name}.self_attn")
            norm(f"{name}.layer_norm")
        feed_forward(f"{name}.feed_forward")
    norm("encoder.layer_norm")
    found["decoder.embeddings.weight"] = found["encoder.embeddings.weight"]
    found["decoder.pos_emb.pe"] = torch.zeros(1, 5000, WIDTH)
    for number in range(DECODER_LAYERS):
        name = f"decoder.transformer_layers.{number}"
        found[f"{name}.mask"] = torch.ones(1, 50, 50, dtype=torch.uint8).triu(1)
        attention(f"{name}.self_attn")
        attention(f"{name}.context_attn")
        feed_forward(f"{name}.feed_forward")
        norm(f"{name}.layer_norm_1")
        norm(f"{name}.layer_norm_2")
    norm("decoder.layer_norm")
    found["generator.0.weight"] = found["encoder.embeddings.weight"]
    found["generator.0.bias"] = torch.randn(vocab_size)
    return found


@pytest.fixture
def make_file(tmp_path, vocab):
    """A checkpoint and its vocabulary; `edit` changes the dictionary before it is written."""
    (tmp_path / "spm.model").write_bytes(vocab)

    def make(edit=lambda checkpoint: None, **form):
        size = sentencepiece.SentencePieceProcessor(model_proto=vocab).get_piece_size()
        weights = state_dict(size)
        adam = torch.optim.Adam([weights["generator.0.bias"].clone().requires_grad_()], lr=3.0)
        options = argparse.Namespace(
            hier=True, heads=HEADS, inter_heads=INTER_HEADS, inter_layers=[*INTER],
            enc_layers=LAYERS, dec_layers=DECODER_LAYERS, enc_dropout=0.1, trunc_src_nblock=24,
            gpu_ranks=[0], optim="adam",
        )  # fmt: skip
        checkpoint = {"model": weights, "opt": options, "optim": adam.state_dict()}
        edit(checkpoint)
        path = tmp_path / "model_step_300000.pt"
        torch.save(checkpoint, path, **form)
        return path

    return make


@pytest.fixture
def convert(tmp_path):
    def call(path, *more, vocab=tmp_path / "spm.model"):
        words = ["convert-checkpoint", path, "--vocab", vocab, "--out", tmp_path / "run", *more]
        return main(list(map(str, words)))

    return call


def older_names(checkpoint):
    """Names of layer normalization in older versions of their code."""
    checkpoint["model"] = OrderedDict(
        (name.replace("layer_norm.weight", "layer_norm.a_2")
             .replace("layer_norm.bias", "layer_norm.b_2"), tensor)
        for name, tensor in checkpoint["model"].items()
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "form"),
    [
        (lambda checkpoint: None, {}),
        (lambda checkpoint: None, {"_use_new_zipfile_serialization": False}),
        (older_names, {}),
    ],
)
@torch.no_grad()
def test_converted_weights_give_the_same_numbers(edit, form, make_file, convert, tmp_path, vocab):
    assert convert(make_file(edit, **form)) == 0
    loaded = load_run(tmp_path / "run", "last", "cpu")
    old = sentencepiece.SentencePieceProcessor(model_proto=vocab)
    new = loaded.vocabulary.processor
    pieces = [new.id_to_piece(i) for i in range(new.get_piece_size())]
    new_of_old = np.array([pieces.index(old.id_to_piece(i)) for i in range(len(pieces))])
    rng = np.random.default_rng(0)
    size = len(pieces)
    source = [rng.integers(9, size, n) for n in (5, 3, 4)]
    target = rng.integers(9, size, 6)
    weights = state_dict(size)
    begin, end = old.piece_to_id("<S>"), old.piece_to_id("</S>")
    logs = log_probabilities(
        weights, [torch.tensor(ids) for ids in source], torch.tensor([begin, *target]),
        HEADS, INTER_HEADS,
    )  # fmt: skip
    expected = logs[range(7), [*target, end]]
    batch = collate([[new_of_old[ids] for ids in source]], [new_of_old[target]], [0])
    found = loaded.model.log_probabilities(batch, loaded.model.encode(batch.source))
    torch.testing.assert_close(found, expected, rtol=2e-6, atol=2e-6)
    loaded.model.encoder.position_order = "paragraph"
    other = loaded.model.log_probabilities(batch, loaded.model.encode(batch.source))
    assert not torch.allclose(other, expected, atol=1e-2)


def test_settings_come_from_the_file(make_file, convert, tmp_path):
    assert convert(make_file()) == 0
    settings = json.loads((tmp_path / "run" / "settings.json").read_text())
    assert settings["model"]["position_order"] == "token"
    assert settings["model"]["layers"] == "LLG"
    assert settings["model"]["pooling_heads"] == INTER_HEADS
    assert settings["model"]["decoder_layers"] == DECODER_LAYERS
    assert settings["source"]["max_paragraphs"] == 24
    assert (settings["decoding"]["min_tokens"], settings["decoding"]["max_tokens"]) == (20, 400)


def test_the_vocabulary_encodes_as_before(make_file, convert, tmp_path, vocab):
    assert convert(make_file()) == 0
    old = sentencepiece.SentencePieceProcessor(model_proto=vocab)
    new = load_run(tmp_path / "run", "last", "cpu").vocabulary.processor
    first = [new.id_to_piece(i) for i in range(9)]
    assert first == ["<PAD>", "<unk>", "<S>", "</S>", "<T>", "<P>", "<s>", "</s>", "<Q>"]
    assert len(PIECES) == 6
    assert new.unk_id() == UNKNOWN
    for text in TEXTS:
        assert new.encode(text, out_type=str) == old.encode(text, out_type=str)
        assert new.decode(new.encode(text)) == text
        assert [new.get_score(i) for i in new.encode(text)] == [
            old.get_score(i) for i in old.encode(text)
        ]
    sentence = new.encode("trains go")
    assert new.decode([*sentence, first.index("<Q>"), *sentence, END]) == "trains go trains go"
    assert not {0, 2, 3, 4, 5, 8} & set(new.encode("a <P> b <Q> <PAD>"))


@pytest.mark.slow
def test_a_converted_run_summarizes_and_starts_another(
    make_file, convert, tmp_path, topics, capsys
):
    assert convert(make_file()) == 0
    text = tmp_path / "text.txt"
    text.write_text("The old bridge was painted green by twelve men.")
    run = ["--run", str(tmp_path / "run"), "--max-tokens", "5", "--min-tokens", "1"]
    assert main(["summarize", *run, "--title", "Bridge", "--text", str(text)]) == 0
    capsys.readouterr()
    assert main(["summarize", *run, "--split", "test"]) == 2
    assert "names no dataset: choose one with --data" in capsys.readouterr().err


def test_a_run_is_not_overwritten(make_file, convert, capsys):
    path = make_file()
    assert convert(path) == 0
    assert convert(path) == 2
    assert "holds a run already" in capsys.readouterr().err


class Foreign:
    """A class that a file must not bring in."""


def untied(checkpoint):
    checkpoint["model"]["generator.0.weight"] = checkpoint["model"]["generator.0.weight"] + 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda c: c.update(opt=Foreign()), "holds an object of"),
        (lambda c: c.pop("opt"), "has no `model` and `opt`"),
        (lambda c: setattr(c["opt"], "hier", False), "is not a hierarchical model"),
        (lambda c: delattr(c["opt"], "heads"), "its options have no heads"),
        (lambda c: c["model"].pop("decoder.layer_norm.bias"), "no weights decoder.layer_norm.bias"),
        (lambda c: c["model"].update(more=torch.ones(1)), "has the weights more, which no model"),
        (untied, "do not share one embedding table"),
        (lambda c: c["model"].update({"encoder.layer_norm.bias": torch.ones(3)}),
         "encoder_norm.bias has the shape (3,), not (16,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_one_line(edit, message, make_file, convert, capsys, tmp_path):
    assert convert(make_file(edit)) == 1
    error = capsys.readouterr().err
    assert "model_step_300000.pt: " in error
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", [b"", b"no checkpoint at all", b"PK\x03\x04 not a zip"])
def test_other_files_are_one_line(content, make_file, convert, tmp_path, capsys):
    make_file().write_bytes(content)
    assert convert(tmp_path / "model_step_300000.pt") == 1
    assert "is not a checkpoint of torch" in capsys.readouterr().err


def test_another_vocabulary_is_refused(make_file, convert, tmp_path, topics, capsys):
    path = make_file()
    assert convert(path, vocab=topics / "vocab" / "wikisum.model") == 2
    assert "has no piece <PAD>" in capsys.readouterr().err
    assert convert(path, vocab=path) == 2
    assert "is not a SentencePiece model" in capsys.readouterr().err
