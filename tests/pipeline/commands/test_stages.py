import json
from pathlib import Path

import pytest

from wikisum.pipeline.cli import main


@pytest.fixture
def out(flow) -> str:
    """The folder of a finished dataset of two articles."""
    return flow.job.workspace.out


def run(capfd, *words: object) -> str:
    """Run a command that succeeds, with one worker; return what it writes to the terminal."""
    assert main([*map(str, words), "--workers", "1"]) == 0
    return capfd.readouterr().err


@pytest.mark.slow
def test_a_finished_stage_is_not_run_again(flow, out, capfd):
    output = run(capfd, "articles", "--articles", flow.dump[0].path, "--out", out)
    assert "already done" in output
    search = ["--search-results", flow.search_results[0].path]
    warcs = [file.path for file in flow.warcs]
    output = run(capfd, "scan", "--warcs", *warcs, *search, "--out", out)
    assert output.count("already done") >= 2  # wanted pages and their filter


@pytest.mark.slow
def test_examples_without_subwords_and_then_with(out, capfd):
    run(capfd, "examples", "--shards", "1", "--out", out)
    manifest = json.loads(Path(out, "manifest.json").read_text())
    assert manifest["settings"]["tokenize"] == {"vocab_sha256": None}
    assert "vocab" not in manifest["counts"]
    assert main(["validate", out]) == 0
    run(capfd, "tokenize", "--vocab-size", "70", "--out", out)
    manifest = json.loads(Path(out, "manifest.json").read_text())
    assert manifest["settings"]["tokenize"]["vocab_sha256"]
    assert manifest["counts"]["vocab"]["pieces_out"] == 70
    assert main(["validate", out]) == 0


@pytest.mark.slow
def test_the_report_is_written_again(out, capsys):
    Path(out, "report/index.html").unlink()
    assert main(["report", out]) == 0
    assert Path(out, "report/index.html").is_file()
    printed = capsys.readouterr().out
    assert "articles: 2 articles" in printed


def test_faults_are_printed_one_per_line_and_counted(out, capsys):
    assert main(["validate", out]) == 0
    assert capsys.readouterr().out == f"{out}: no faults found\n"
    Path(out, "README.md").unlink()
    assert main(["validate", out]) == 1
    assert capsys.readouterr().out == f"README.md: is missing\n{out}: 1 fault found\n"
    Path(out, "report/index.html").unlink()
    assert main(["validate", out]) == 1
    assert capsys.readouterr().out.endswith(f"{out}: 2 faults found\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["locate"], 2, "--crawl is missing: name a crawl, for example CC-MAIN-2024-10"),
        (["locate", "--crawl", "CC-MAIN-2024-10"], 1, "run `wikisum articles` first"),
        (["locate", "--date", "2024"], 2, "--crawl is missing: name a crawl"),
        (
            ["scan", "--corpus", "search", "--warcs", "tests/golden/sample-wet-*.gz"],
            2,
            "--corpus search needs --search-results",
        ),
        (["locate", "--corpus", "search", "--crawl", "X"], 2, "--corpus search needs --search-res"),
        (["examples", "--graphs", "none", "--entities", "fast"], 2, "--entities has no effect"),
        (
            ["articles", "--articles", "tests/golden/sample.xml.bz2", "--split", "t2t"],
            2,
            "--split t2t goes with the original WikiSum files",
        ),
        (["fetch"], 1, "run `wikisum locate` first"),
        (["scan"], 2, "--warcs is missing: name crawl files"),
        (["scan", "--warcs", "tests/golden/sample-wet-*.gz"], 1, "run `wikisum articles` first"),
        (["examples"], 1, "run `wikisum articles` first"),
        (["tokenize"], 1, "run `wikisum articles` first"),
        (["report"], 1, "run `wikisum tokenize` first"),
    ],
)
def test_what_a_stage_needs_before_it(words, code, message, tmp_path, capsys):
    out = tmp_path / "out"
    assert main([*words, "--out", str(out)]) == code
    assert message in capsys.readouterr().err
    assert not out.exists()
