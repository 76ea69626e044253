"""Training with compiled layers.

Every kind of layer is traced and run with dynamic shapes, without the generation of code: that
takes minutes for a whole model, so one part of a layer is also differentiated and generated as C++.
"""

import json
import logging
import shutil

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch._inductor import config as inductor_config

from wikisum.models.network.encoder_decoder import EncoderDecoder
from wikisum.pipeline.cli import main

SHAPE = [
    "--model", "ht", "--width", "16", "--feedforward", "32", "--heads", "2", "--layers", "LG",
    "--decoder-layers", "1", "--dropout", "0", "--attention-dropout", "0",
    "--batch-tokens", "800", "--source-tokens", "200",
    "--lead-tokens", "40", "--loader-workers", "0", "--log-every", "1", "--validate-every", "100",
    "--warmup-steps", "4", "--device", "cpu",
]  # fmt: skip
COMPILE = nn.Module.compile


def words_of(topics, out, *more):
    return ["train", "summarizer", "--data", str(topics), "--out", str(out), *SHAPE, *more]


def losses(run):
    rows = (json.loads(line) for line in (run / "log.jsonl").read_text().splitlines())
    return [row["loss"] for row in rows if "loss" in row]


def first_feedforward(model):
    """The only part of a model that a test compiles by the generation of code."""
    return [model.encoder.layers[0].feedforward]


@pytest.fixture
def compiled_with(monkeypatch):
    """Let training compile with a backend; returns the list of the layers that it compiled."""
    compiled = []

    def use(backend):
        def compile_layer(layer, **options):
            compiled.append(layer)
            COMPILE(layer, backend=backend, **options)

        monkeypatch.setattr(nn.Module, "compile", compile_layer)
        return compiled

    # its records of each compilation, which pytest would collect, take half of the time
    monkeypatch.setattr(logging.getLogger("torch.__trace"), "disabled", True)
    torch.compiler.reset()
    yield use
    torch.compiler.reset()


def check_alike(topics, tmp_path):
    """A compiled run learns like a plain one."""
    assert main(words_of(topics, tmp_path / "plain", "--steps", "3")) == 0
    assert main(words_of(topics, tmp_path / "whole", "--steps", "3", "--compile")) == 0
    assert losses(tmp_path / "whole") == pytest.approx(losses(tmp_path / "plain"), rel=1e-4)


def check_resumed(topics, tmp_path):
    """A compiled run that is resumed is the same to the digit."""
    for steps in ("2", "3"):
        assert main(words_of(topics, tmp_path / "parts", "--steps", steps, "--compile")) == 0
    assert losses(tmp_path / "parts") == losses(tmp_path / "whole")
    one, other = (load_file(tmp_path / out / "last.safetensors") for out in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.longest
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # those of the compiler about itself
def test_compiled_layers_of_each_kind_learn_alike(compiled_with, topics, tmp_path):
    compiled = compiled_with("eager")
    check_alike(topics, tmp_path)
    kinds = {type(layer).__name__ for layer in compiled}
    assert kinds == {"LocalLayer", "GlobalLayer", "DecoderLayer"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_generated_code_learns_alike_and_resumes(compiled_with, topics, tmp_path, monkeypatch):
    monkeypatch.setattr(EncoderDecoder, "layers_to_compile", first_feedforward)
    compiled = compiled_with("inductor")
    check_alike(topics, tmp_path)
    check_resumed(topics, tmp_path)
    assert len(compiled) == 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_without_a_compiler_it_is_one_line(compiled_with, topics, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(EncoderDecoder, "layers_to_compile", first_feedforward)
    compiled = compiled_with("inductor")
    missing = {"cpp.cxx": (str(tmp_path / "nowhere"),), "force_disable_caches": True}
    words = words_of(topics, tmp_path / "run", "--steps", "1", "--compile")
    with inductor_config.patch(missing):
        assert main(words) == 1
    assert len(compiled) == 1
    printed = capsys.readouterr().err
    last = printed.splitlines()[-1]
    assert "--compile" in last
    assert "--no-compile" in last
    assert "Traceback" not in printed
