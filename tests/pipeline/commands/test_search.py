from pathlib import Path

import pytest

from tests.conftest import GOLDEN
from wikisum.pipeline.cli import main


@pytest.mark.slow
def test_results_are_named_and_follow_the_language_of_the_articles(flow, capfd):
    warcs = [file.path for file in flow.warcs]
    assert main(["search", "--warcs", *warcs, "--out", flow.job.workspace.out]) == 0
    printed = capfd.readouterr().out
    assert printed == f"{flow.job.workspace.out}/search/results-00000-of-00001.jsonl\n"
    result = flow.job.workspace.finished("search")
    assert result.extra["settings"]["language"] == "en"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--titles", "titles.txt", "--queries", "sections"], 2, "--queries sections needs articl"),
        (["--titles", "titles.txt"], 2, "--titles: no such file"),
        (["--titles", "empty.txt"], 2, "empty.txt has no titles: write one on each line"),
        (["--language", "xx yy"], 2, "--language must be a language code like en"),
        ([], 1, "run `wikisum articles` first"),
        (["--queries", "words"], 2, "--queries must be one of"),
        (["--results", "0"], 2, "--results must be between 1 and 1000"),
    ],
)
def test_wrong_calls_write_nothing(words, code, message, tmp_path, monkeypatch, capsys):
    sample = str(GOLDEN / "sample-wet-*.gz")
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text("\n")
    assert main(["search", "--warcs", sample, *words, "--out", str(tmp_path / "out")]) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
