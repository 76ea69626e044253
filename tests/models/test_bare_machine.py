"""Training machines have torch, safetensors, pyarrow, numpy, scikit-learn, sentencepiece alone."""

import json
import os
import subprocess
import sys

import pytest

BARE = """
import json
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

for words in json.loads(sys.argv[1]):
    if main(words):
        sys.exit(words[0])
"""


def bare(*commands):
    """Run commands in one process until one fails; its name ends the output."""
    words = [list(map(str, command)) for command in commands]
    return subprocess.run(
        [sys.executable, "-c", BARE, json.dumps(words)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.slow
def test_train_and_summarize_need_nothing_else(topics, tmp_path):
    run, out = tmp_path / "run", tmp_path / "out.jsonl"
    sizes = ["--width", 16, "--feedforward", 32, "--steps", 1, "--batch-tokens", 500]
    short = ["--beam", 1, "--max-tokens", 3]
    tiny = ["--preset", "tiny", "--data", topics]
    done = bare(
        ["train", "ranker", *tiny, "--steps", 1, "--out", tmp_path / "ranker"],
        ["train", "summarizer", *tiny, "--out", run, *sizes],
        ["summarize", "--run", run, "--split", "test", *short, "--out", out],
        ["summarize", "--run", run, "--title", "A", "--text", __file__],
    )
    assert done.returncode == 1  # by the last command, which reads a page
    assert out.exists(), done.stderr
    *_, message, failed = done.stderr.splitlines()
    assert "which is not installed" in message
    assert failed == "summarize"
