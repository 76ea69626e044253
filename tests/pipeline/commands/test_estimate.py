"""`build --estimate` through the command, and its samples."""

import json

import pytest

from tests.builders import dump
from tests.conftest import GOLDEN
from wikisum.pipeline.cli import main

SAMPLE = [
    "build", "--articles", str(GOLDEN / "sample.xml.bz2"), "--warcs", str(GOLDEN / "sample-*.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"), "--estimate",
]  # fmt: skip


def plain(capsys, *words: object) -> dict:
    assert main([*SAMPLE, "--json", *map(str, words)]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_states_what_the_sample_is_and_writes_nothing(capsys, tmp_path):
    found = plain(capsys, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    volumes = found["volumes"]
    assert volumes["articles"] == 17
    assert 0 < volumes["documents"] <= volumes["found"] <= volumes["wanted"]
    assert found["crawl_sample"]["read_bytes"] == sum(
        p.stat().st_size for p in GOLDEN.glob("sample-*.gz")
    )
    assert found["total"]["read_bytes"] == found["crawl_sample"]["read_bytes"] + (
        (GOLDEN / "sample.xml.bz2").stat().st_size
    )
    assert found["dollars"]["total"] > 0


def test_the_table(capsys, tmp_path):
    assert main([*SAMPLE, "--out", str(tmp_path / "out"), "--workers", "2"]) == 0
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith("articles  17, estimated from 17")
    (row,) = (line for line in output if line.startswith("total"))
    assert "kB" in row
    assert any(line.startswith("time: ") and "on 2 cores" in line for line in output)
    assert any("coverage 0.4" in line for line in output)
    assert max(map(len, output)) <= 100


@pytest.mark.slow
def test_slices_and_other_figures(capsys, tmp_path):
    titles = tmp_path / "titles.txt"
    titles.write_text("Osterby\nTavin Bridge\n\n")
    out = ["--out", tmp_path / "out"]
    assert plain(capsys, *out, "--titles", titles)["volumes"]["articles"] == 2
    assert plain(capsys, *out, "--limit", 5)["volumes"]["articles"] == 5
    output = plain(capsys, *out, "--assume", "coverage=0.9", "cpu_hour=2")
    assert (output["assumptions"]["coverage"], output["prices"]["cpu_hour"]) == (0.9, 2)


def test_a_crawl_on_a_server_is_not_asked(capsys, tmp_path):
    words = [SAMPLE[0], *SAMPLE[1:3], *SAMPLE[5:], "--crawl", "CC-MAIN-2024-10"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out
    assert "by the assumed coverage" in output
    assert "at 2 requests per second" in output


@pytest.mark.slow
def test_what_the_web_would_be_asked_for(capsys, tmp_path):
    words = [*SAMPLE, "--live", "--contact", "me@host.example", "--live-delay", "2"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().out.splitlines()
    assert next(line for line in output if line.startswith("web ")).endswith(
        "are assumed to be there still"
    )
    assert any("to fetch from the web, one page per host at a time" in line for line in output)
    assert not any("requests per second" in line for line in output)
    assert main([*words, "--json", "--out", str(tmp_path / "out")]) == 0
    plain = json.loads(capsys.readouterr().out)
    volumes = plain["volumes"]
    assert volumes["asked_live"] == pytest.approx(volumes["wanted"] - volumes["found"])
    assert plain["live_seconds"] > 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--assume", "color=1"], "no figure is called 'color'"),
        (["--assume", "coverage=much"], "is not a number"),
        (["--assume", "coverage=7"], "is out of range"),
    ],
)
def test_wrong_figures(words, message, capsys, tmp_path):
    assert main([*SAMPLE, "--out", str(tmp_path / "out"), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_dump_without_articles_is_reported(capsys, tmp_path):
    empty = tmp_path / "empty.xml"
    empty.write_bytes(dump())
    words = ["build", "--articles", str(empty), *SAMPLE[3:], "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert f"no article was found in {empty}" in capsys.readouterr().err


def test_its_flags_go_with_it(capsys, tmp_path):
    assert main([*SAMPLE[:-1], "--json", "--out", str(tmp_path / "out")]) == 2
    assert "go with --estimate" in capsys.readouterr().err


@pytest.mark.slow
def test_a_machine_that_is_too_small_is_named(capsys, tmp_path):
    words = [*SAMPLE, "--out", str(tmp_path / "out"), "--assume", "process_bytes=1e15"]
    assert main([*words, "--workers", "1"]) == 2
    output = capsys.readouterr()
    assert output.out.startswith("articles  17")
    (line,) = (line for line in output.err.splitlines() if "does not fit" in line)
    assert "does not fit this machine: the build needs 1000000." in line
    assert line.endswith("lower --workers or --memory")
    assert main([*words, "--", "--runner=DataflowRunner"]) == 0
