"""Training with compiled layers; each test compiles, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

SHAPE = [
    "--model", "ht", "--width", "16", "--feedforward", "32", "--heads", "2", "--layers", "LG",
    "--decoder-layers", "1", "--dropout", "0", "--batch-tokens", "800", "--source-tokens", "200",
    "--lead-tokens", "40", "--loader-workers", "0", "--log-every", "1", "--validate-every", "100",
    "--warmup-steps", "4",
]  # fmt: skip


def train(topics, out, *words, **environment):
    command = [
        sys.executable,
        "-m",
        "wikisum",
        "train",
        "summarizer",
        "--data",
        topics,
    ]
    return subprocess.run(
        [*map(str, command), "--out", str(out), *SHAPE, *words],
        env={**os.environ, "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def losses(run):
    rows = (json.loads(line) for line in (run / "log.jsonl").read_text().splitlines())
    return [row["loss"] for row in rows if "loss" in row]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="no C++ compiler")
def test_compiled_layers_learn_alike_and_go_on_to_the_digit(topics, tmp_path):
    for out, words in (("plain", []), ("whole", ["--compile"])):
        assert train(topics, tmp_path / out, "--steps", "6", *words).returncode == 0
    for steps in ("3", "6"):
        done = train(topics, tmp_path / "parts", "--steps", steps, "--compile")
        assert done.returncode == 0, done.stderr
    plain, whole, parts = (losses(tmp_path / out) for out in ("plain", "whole", "parts"))
    assert whole == pytest.approx(plain, rel=1e-4)
    assert parts == whole
    one, other = (load_file(tmp_path / out / "last.safetensors") for out in ("whole", "parts"))
    assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
def test_without_a_compiler_it_is_one_line(topics, tmp_path):
    missing = {"CXX": str(tmp_path / "nowhere"), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    done = train(topics, tmp_path / "run", "--steps", "2", "--compile", **missing)
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert "--compile" in last
    assert "--no-compile" in last
    assert "Traceback" not in done.stderr
