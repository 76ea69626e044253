import dataclasses
import json

import pytest
import torch

from wikisum.models import bench
from wikisum.models.bench import (
    EACH_MODEL,
    BenchSettings,
    at_width,
    costs,
    drawn_batch,
    median_seconds,
    table,
    training_flops,
)
from wikisum.models.sources import FLAT, HIERARCHICAL
from wikisum.models.table import MODELS, preset, presets, spec_of
from wikisum.pipeline.cli import main

SMALL = BenchSettings(
    ("tiny", "tiny-ft"), vocab_size=300, source_tokens=120, paragraph_tokens=50, target_tokens=10,
    beam=2, max_examples=2, repeats=1,
)  # fmt: skip


def test_examples_have_the_lengths_of_the_setting():
    batch = drawn_batch(SMALL, HIERARCHICAL, 2)
    # the title and its separator stand before the first paragraph
    assert batch.source.is_token_MT.sum(1).tolist() == [52, 50, 18] * 2
    assert batch.label_slot_Y.numel() == 2 * 11
    assert drawn_batch(SMALL, FLAT, 2).source.is_token_MT.sum(1).tolist() == [120] * 2


@pytest.mark.slow
def test_every_model_has_a_row():
    rows = list(costs(SMALL, torch.device("cpu")))
    assert [row.preset for row in rows] == ["tiny", "tiny-ft"]
    for row in rows:
        assert row.examples == 2
        assert min(row[1:]) > 0


@pytest.mark.longest
@pytest.mark.slow
def test_without_names_each_model_has_a_row():
    """At small width, so that it takes seconds."""
    settings = dataclasses.replace(
        SMALL, presets=EACH_MODEL, width=16, source_tokens=20, paragraph_tokens=10,
        target_tokens=2, max_examples=1,
    )  # fmt: skip
    rows = list(costs(settings, torch.device("cpu")))
    assert [row.preset for row in rows] == list(EACH_MODEL)
    models = {spec_of(preset(name).model).name for name in EACH_MODEL}
    assert models == MODELS.keys() - {"hf"}  # which has no presets
    lines = table(rows).splitlines()
    assert len({len(line) for line in lines}) == 1


@pytest.mark.slow
def test_rates_are_those_of_the_largest_batch(monkeypatch):
    """Three examples of 131 tokens in two seconds."""
    monkeypatch.setattr(bench, "_largest_batch", lambda *_: (3, 2.0, 4096))
    monkeypatch.setattr(bench, "_decoding_seconds", lambda *_: 0.5)
    monkeypatch.setattr(bench, "training_flops", lambda *_: 1e9)
    settings = dataclasses.replace(SMALL, presets=("tiny",))
    (row,) = costs(settings, torch.device("cpu"))
    assert row[2:] == (3, 3 * (120 + 10 + 1) / 2, 3 * 1e9 / 2, 0.5, 4096)


def test_the_first_run_is_not_timed(monkeypatch):
    clock = iter([10, 19, 20, 21, 30, 32, 40, 46])
    for name in ("perf_counter", "process_time"):  # whatever the number of threads
        monkeypatch.setattr(bench.time, name, lambda: next(clock))
    assert median_seconds(lambda: None, 3, torch.device("cpu")) == 2


def test_all_presets_can_be_named():
    assert BenchSettings(("all",)).names == tuple(presets())


def test_a_width_scales_the_inner_widths():
    flat = at_width(preset("t-ed").model, 64)
    assert (flat.width, flat.feedforward) == (64, 256)
    lstm = at_width(preset("seq2seq-att").model, 64)
    assert (lstm.width, lstm.embedding) == (64, 64)


def test_operations_are_those_of_the_products(make_model):
    """Of a model with one encoder and one decoder layer, by hand; 2 per multiplication."""
    model = make_model("ft", decoder_layers=1)
    settings = BenchSettings(
        (), vocab_size=50, source_tokens=9, paragraph_tokens=4, target_tokens=5
    )
    batch = drawn_batch(settings, FLAT, 1)
    W, F, V, N, Y = 16, 32, 50, 9, 6
    encoder = 4 * N * W * W + 2 * N * N * W + 2 * N * W * F
    cross = 2 * Y * W * W + 2 * N * W * W + 2 * Y * N * W
    decoder = 4 * Y * W * W + 2 * Y * Y * W + cross + 2 * Y * W * F
    assert training_flops(model, batch) == 3 * 2 * (encoder + decoder + Y * W * V)


@pytest.mark.slow
@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError("CUDA out of memory"), MemoryError(),
              RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 4096 bytes")],
)  # fmt: skip
def test_the_largest_batch_is_the_last_that_fits(error, monkeypatch):
    def step(model, optimizer, batch):
        if len(batch.target_BS) > fits:
            raise error

    monkeypatch.setattr(bench, "train_step", step)
    settings = dataclasses.replace(SMALL, presets=("tiny",), max_examples=64)
    fits = 4
    assert [row.examples for row in costs(settings, torch.device("cpu"))] == [4]
    fits = 0
    with pytest.raises(ValueError, match="lower --source-tokens"):
        list(costs(settings, torch.device("cpu")))


@pytest.mark.slow
def test_memory_limits_the_largest_batch(monkeypatch):
    """A step on as many examples takes as many GiB."""
    tried = []
    monkeypatch.setattr(bench, "train_step", lambda *step: tried.append(len(step[2].target_BS)))
    monkeypatch.setattr(bench, "peak_memory_bytes", lambda _: tried[-1] * 2**30)
    settings = dataclasses.replace(SMALL, presets=("tiny",), max_examples=64, memory=9.5)
    (row,) = costs(settings, torch.device("cpu"))
    assert (row.examples, row.peak_bytes, max(tried)) == (8, 8 * 2**30, 16)


@pytest.mark.slow
def test_the_command_ends_in_a_json_line(capsys):
    sizes = ["--vocab-size", "300", "--source-tokens", "60", "--target-tokens", "5"]
    assert main(["bench", "--presets", "tiny", *sizes, "--max-examples", "1"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["bench"][0]["examples"] == 1


@pytest.mark.parametrize("words", [["--presets", "huge"], ["--beam", "0"]])
def test_a_wrong_call_is_one_line(words, capsys):
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert words[0] in error
    assert len(error.splitlines()) == 1
