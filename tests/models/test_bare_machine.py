"""Training machines have torch, safetensors, pyarrow, numpy, scikit-learn, sentencepiece alone."""

import os
import subprocess
import sys

import pytest

BARE = """
import sys
from importlib.machinery import PathFinder

ABSENT = {
    "apache_beam", "brotli", "bs4", "cchardet", "fastwarc", "google", "httpcore2", "httpx", "idna",
    "jinja2", "lxml", "matplotlib", "mwparserfromhell", "nltk", "pandas", "protego", "resiliparse",
    "selectolax", "spacy", "tensorboard", "trafilatura", "warcio", "zstandard",
}


class Finder(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in ABSENT:
            return super().find_spec(name, path, target)


sys.meta_path = [Finder if finder is PathFinder else finder for finder in sys.meta_path]
from wikisum.pipeline.cli import main

sys.exit(main(sys.argv[1:]))
"""


def bare(*words):
    return subprocess.run(
        [sys.executable, "-c", BARE, *map(str, words)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.slow
def test_train_and_summarize_need_nothing_else(topics, tmp_path):
    run, data = tmp_path / "run", str(topics)
    sizes = ["--width", 16, "--feedforward", 32, "--steps", 1, "--batch-tokens", 500]
    train = bare("train", "summarizer", "--preset", "tiny", "--data", data, "--out", run, *sizes)
    assert train.returncode == 0, train.stderr
    out = tmp_path / "out.jsonl"
    words = ["--split", "test", "--beam", 1, "--max-tokens", 3, "--out", out]
    written = bare("summarize", "--run", run, *words)
    assert written.returncode == 0, written.stderr
    ranker = bare("train", "ranker", "--preset", "tiny", "--data", data, "--steps", 1,
                  "--out", tmp_path / "ranker")  # fmt: skip
    assert ranker.returncode == 0, ranker.stderr
    own = bare("summarize", "--run", run, "--title", "A", "--text", __file__)
    assert own.returncode == 1
    assert "which is not installed" in own.stderr
    assert own.stderr.count("\n") == 1
