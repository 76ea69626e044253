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


COMMANDS = [
    words
    for file in ("README.md", "Makefile")
    for words in commands_of((ROOT / file).read_text())
    if words[0].islower() and "COMMAND" not in words
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_is_parsed(words):
    cut = words.index("--") if "--" in words else len(words)
    assert _parser().parse_args(words[:cut]).run


def test_commands_were_found():
    assert len(COMMANDS) >= 8
    assert {"build", "train", "summarize", "evaluate"} <= {words[0] for words in COMMANDS}
