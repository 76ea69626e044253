import argparse
from dataclasses import dataclass
from pathlib import Path

import pytest

from wikisum.pipeline.cli import main
from wikisum.pipeline.commands.command import Parser
from wikisum.pipeline.commands.flags import (
    add_settings,
    amount,
    count,
    given,
    memory_gib,
    names,
    run_path,
    settings_of,
    worker_count,
)
from wikisum.ranker.setting import setting


@dataclass(frozen=True)
class Oven:
    degrees: float = setting(180.0, "temperature", flag="temperature", at_least=0, at_most=300)
    minutes: int = setting(60, "time to bake", metavar="MINUTES", at_least=1)
    fan: bool = setting(False, "run the fan")
    mode: str = setting("grill", "how heat is made", choices=("grill", "steam"))
    shelves: tuple[str, ...] = setting((), "shelves to use")
    guests: tuple[str, ...] = setting((), "who eats", flag="guest", append=True)
    color: str = "white"


@dataclass(frozen=True)
class Plain:
    size: int = 3
    other: str = "x"


def parser(**options):
    found = Parser(prog="bake")
    add_settings(found, Oven, **options)
    return found


def oven(*words, **options):
    return settings_of(parser(**options).parse_args(words), Oven())


def test_flags_have_the_types_of_their_fields():
    found = oven("--temperature", "200", "--minutes", "5", "--fan", "--mode", "steam",
                 "--shelves", "a", "b", "--guest", "x", "--guest", "y")  # fmt: skip
    assert found == Oven(200.0, 5, True, "steam", ("a", "b"), ("x", "y"))
    assert isinstance(found.degrees, float)


def test_what_the_call_does_not_give_stays():
    args = parser().parse_args(["--no-fan"])
    assert given(args, Oven) == {"fan": False}
    assert settings_of(args, Oven(minutes=7, fan=True)) == Oven(minutes=7, fan=False)


def test_the_help_shows_defaults_choices_and_metavars():
    text = parser().format_help()
    assert "--temperature X" in text
    assert "temperature (default: 180)" in text
    assert "--minutes MINUTES" in text
    assert "--mode {grill,steam}" in text
    assert "(default: False)" not in text
    assert "color" not in text
    assert "(default" not in parser(show_defaults=False).format_help()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--minutes", "0"], "--minutes must be at least 1, not 0"),
        (["--minutes", "x"], "--minutes must be a whole number, not 'x'"),
        (["--temperature", "301"], "--temperature must be between 0 and 300, not 301.0"),
        (["--temperature", "hot"], "--temperature must be a number, not 'hot'"),
        (["--mode", "boil"], "--mode must be one of grill, steam, not 'boil'"),
    ],
)
def test_a_wrong_value_names_its_flag(words, message, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(words)
    assert message in capsys.readouterr().err


def test_fields_are_chosen_and_flags_get_a_prefix(capsys):
    assert oven("--my-minutes", "5", only=["minutes"], prefix="my-") == Oven(minutes=5)
    with pytest.raises(SystemExit):
        oven("--my-minutes", "0", only=["minutes"], prefix="my-")
    assert "--my-minutes must be at least 1" in capsys.readouterr().err


def test_texts_describe_settings_that_know_no_flags():
    found = argparse.ArgumentParser()
    add_settings(found, Plain, texts={"size": "how big, in %"})
    assert "how big, in % (default: 3)" in found.format_help()
    assert "--other" not in found.format_help()
    assert settings_of(found.parse_args(["--size", "4"]), Plain()) == Plain(4)


@pytest.mark.parametrize(
    ("text", "run"), [("s3://b/run/", "s3://b/run"), ("runs/one/", Path("runs/one"))]
)
def test_the_folder_of_a_run_has_no_slash_at_its_end(text, run):
    assert run_path(text) == run


def test_words_of_plain_flags():
    assert (count("3"), names("a,,b")) == (3, ("a", "b"))
    for wrong in ("0", "-1", "x"):
        with pytest.raises(argparse.ArgumentTypeError):
            count(wrong)
    assert amount("0.5") == 0.5
    for wrong in ("0", "-1", "inf", "nan", "x"):
        with pytest.raises(argparse.ArgumentTypeError):
            amount(wrong)
    assert (worker_count("1024"), memory_gib("0.05")) == (1024, 0.05)
    for wrong in ("0", "1025", "99999999"):
        with pytest.raises(argparse.ArgumentTypeError):
            worker_count(wrong)
    for wrong in ("1e-9", "0.049", "1e300"):
        with pytest.raises(argparse.ArgumentTypeError):
            memory_gib(wrong)


@pytest.mark.parametrize(
    "words",
    [
        ["train", "summarizer", "--data", "x", "--out", "y", "--init-from", "s3://bucket/run"],
        ["evaluate", "ranking", "--data", "x", "--out", "s3://bucket/x.json"],
        ["export", "x", "--to", "hf", "--out", "s3://bucket/hub"],
        ["build", "--articles", "x", "--live", "--contact", "a@b.c", "--out", "s3://bucket/out"],
        ["live", "--contact", "a@b.c", "--out", "s3://bucket/out"],
        ["summarize", "--run", "s3://bucket/run", "--title", "x", "--text", "s3://bucket/x.txt"],
        ["summarize", "--run", "x", "--split", "test", "--out", "s3://bucket/x.jsonl"],
        ["score", "--run", "x", "--split", "test", "--out", "s3://bucket/x.jsonl"],
        ["evaluate", "summaries", "s3://bucket/x.jsonl", "--data", "x", "--out", "y"],
    ],
)
def test_a_remote_path_is_refused_at_once_where_only_local_ones_work(words, capsys):
    assert main(words) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "://bucket/" in said
    assert "local" in said
