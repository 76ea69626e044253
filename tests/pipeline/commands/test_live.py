from pathlib import Path

import pytest

from tests.servers import NOT_FOUND, Answer, Server, page
from wikisum.pipeline.cli import main

CONTACT = ["--contact", "you@host.example"]
QUICK = ["--delay", "0", "--attempts", "1", "--timeout", "2"]


def test_listed_urls_are_fetched_into_files_that_are_named(tmp_path, capfd):
    answers = {"/good": page("The bridge was painted green."), "/robots.txt": Answer(200, b"")}
    with Server(lambda path: answers.get(path, NOT_FOUND)).running() as server:
        urls = tmp_path / "urls.txt"
        urls.write_text(f"{server.url}/good\n{server.url}/gone\n")
        out = tmp_path / "out"
        words = ["live", "--urls", str(urls), *CONTACT, *QUICK, "--out", str(out)]
        assert main(words) == 0
        refused = capfd.readouterr()
        assert "to fetch pages at private addresses too: --allow-private" in refused.err
        assert main([*words, "--allow-private", "--retry", "private_address"]) == 0
    output = capfd.readouterr()
    assert Path(output.out.splitlines()[0]).name == "live-00000.warc.gz"
    assert all(Path(line).is_file() for line in output.out.splitlines())
    assert "private addresses too" not in output.err


@pytest.mark.slow
def test_without_a_list_the_wanted_pages_are_needed(flow, tmp_path, capfd):
    assert main(["live", *CONTACT, "--out", str(tmp_path / "new")]) == 1
    assert "has no finished wanted" in capfd.readouterr().err
    # both wanted pages have documents, so nothing is asked for
    assert main(["live", *CONTACT, *QUICK, "--out", flow.job.workspace.out]) == 0
    assert flow.job.workspace.finished("live").counts.get("urls_in", 0) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "required: --contact"),
        ([*CONTACT, "--urls", "none.txt"], "--urls: no such file: none.txt"),
        ([*CONTACT, "--", "--streaming"], "this command takes no Beam flags: --streaming"),
    ],
)
def test_wrong_calls_write_nothing(words, message, tmp_path, capsys):
    assert main(["live", "--out", str(tmp_path / "out"), *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
