import argparse
import subprocess
import sys

import pytest

from wikisum import __version__
from wikisum.pipeline.cli import _parser, main


def all_parsers(parser, name="wikisum"):
    yield name, parser
    for command, child in parser.commands.items():
        yield from all_parsers(child, f"{name} {command}")


PARSERS = dict(all_parsers(_parser()))
LEAVES = {name: parser for name, parser in PARSERS.items() if not parser.commands}
for leaf in LEAVES.values():
    leaf.load()


def test_the_help_says_what_it_is_and_lists_every_command(capsys):
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "Rebuild the WikiSum dataset" in text
    for name in PARSERS["wikisum"].commands:
        assert f"\n  {name} " in text


def test_the_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"wikisum {__version__}\n"


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_is_described(name):
    parser = LEAVES[name]
    assert parser.description.partition("\n")[0].endswith(".")
    assert "\n    " not in parser.description
    assert not parser.description.endswith("\n")
    for action in parser._actions:
        assert action.help, f"{name} {action.option_strings}"


def test_flags_of_the_same_name_have_the_same_metavar():
    found = {}
    for name, parser in LEAVES.items():
        for action in parser._actions:
            for flag in action.option_strings:
                shown = action.metavar or tuple(action.choices or ())
                found.setdefault(flag, {}).setdefault(shown, []).append(name)
    # names with other values: --model of `rank` is a run, --out is a file or a folder, --memory of
    # a model counts tokens
    differing = {flag for flag, metavars in found.items() if len(metavars) > 1}
    assert differing <= {
        "--memory", "--model", "--out", "--preset", "--split", "--precision", "--text", "--title",
    }  # fmt: skip


def test_choices_are_in_the_usage():
    usage = PARSERS["wikisum build"].format_usage()
    for flag in ("--split", "--extractor", "--index", "--corpus", "--clone-rule", "--text-rule"):
        assert f"{flag} {{" in usage


def test_wrong_calls_end_with_2(capsys):
    assert main([]) == 2
    assert main(["evaluate"]) == 2
    assert main(["validate", "--help", "--x"]) == 2
    assert "did you mean" in (main(["buidl"]), capsys.readouterr().err)[1]


def test_a_missing_package_is_reported_with_its_extra(monkeypatch, capsys):
    def run(args, beam_flags):
        raise ModuleNotFoundError("no torch", name="torch")

    class Stub(argparse.ArgumentParser):
        def parse_args(self, words):
            return argparse.Namespace(run=run, prog="wikisum x")

    monkeypatch.setattr("wikisum.pipeline.cli._parser", Stub)
    assert main([]) == 1
    assert "pip install 'wikisum[train]'" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "summaries", "none.jsonl"], "there is no file or folder none.jsonl"),
        (["evaluate", "summaries", "/"], "/: is a directory"),
        (["rank", "none", "--method", "tfidf", "--out", "OUT"], "no shards (*.parquet) in none"),
        (["train", "ranker", "--data", "none", "--out", "OUT"], "there is no directory none"),
        (["train", "summarizer", "--data", "none", "--out", "OUT"], "there is no directory none"),
        (["evaluate", "ranking", "none"], "there is no directory none"),
        (["validate", "none"], "no manifest.json in none"),
        (["report", "none"], "none has no finished tokenize"),
    ],
)
def test_missing_inputs_are_named_in_words_and_nothing_is_created(words, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main([str(out) if word == "OUT" else word for word in words]) in (1, 2)
    error = capsys.readouterr().err
    assert message in error
    assert "Errno" not in error
    assert not out.exists()


@pytest.mark.slow
def test_a_new_process_writes_one_line_of_error(tmp_path):
    """Not what the packages that it loads have to say."""
    words = [sys.executable, "-m", "wikisum", "validate", str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode in (1, 2)
    assert done.stderr.count("\n") == 1
    assert "no manifest.json" in done.stderr
