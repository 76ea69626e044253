"""The commands that README and Makefile show are ones that the program takes."""

import re
import shlex
from pathlib import Path

import pytest

from wikisum.pipeline.cli import _parser

ROOT = Path(__file__).parent.parent


def commands_of(text):
    """The `wikisum` commands of indented lines, continued ones joined."""
    joined = text.replace("\\\n", " ")
    for line in re.findall(r"^(?: {4}|\t)(?:\$\(BIN\)/)?wikisum (.+)$", joined, re.MULTILINE):
        yield shlex.split(re.sub(r"\s#.*", "", line))


README = (ROOT / "README.md").read_text()
COMMANDS = [w for file in ("README.md", "Makefile") for w in commands_of((ROOT / file).read_text())]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_parsed(words):
    cut = words.index("--") if "--" in words else len(words)
    assert _parser().parse_args(words[:cut]).run


def test_commands_were_found():
    assert len(COMMANDS) >= 12
    assert {"build", "train", "summarize", "evaluate"} <= {words[0] for words in COMMANDS}


def test_make_has_the_targets_that_are_shown():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in ("README.md", "CONTRIBUTING.md"):
        shown = re.findall(r"^ {4}make (\w+)", (ROOT / page).read_text(), re.MULTILINE)
        assert shown
        assert set(shown) <= targets


def test_the_readme_is_short():
    assert README.count("\n") <= 130
    for image in re.findall(r"!\[\w+\]\((.+?)\)", README):
        assert (ROOT / image).stat().st_size < 200_000
