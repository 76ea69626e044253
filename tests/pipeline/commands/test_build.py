import json
from pathlib import Path

import pytest

from tests.builders import dump
from tests.conftest import GOLDEN
from wikisum.pipeline.cli import main


@pytest.mark.slow
def test_a_finished_dataset_is_not_built_again(flow, capfd):
    out = flow.job.workspace.out
    words = ["build", "--articles", flow.dump[0].path, "--search-results"]
    words += [flow.search_results[0].path, "--warcs", *(file.path for file in flow.warcs)]
    words += ["--shards", "1", "--vocab-size", "70", "--workers", "1", "--out", out]
    assert main(words) == 0
    output = capfd.readouterr()
    assert "articles: 2 articles, 2 in examples" in output.out
    assert output.err.count("already done") >= 3
    assert json.loads(Path(out, "manifest.json").read_text())["counts"]["tokenize"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no source of pages: name a crawl (--crawl), crawl files (--warcs) or the web"),
        (["--warcs", "x", "--json"], "--json and --assume go with --estimate"),
        (["--warcs", "x", "--assume", "coverage=1"], "--json and --assume go with --estimate"),
        (["--warcs", "none.warc.gz"], "--warcs: no such file: none.warc.gz"),
        (["--warcs", "tests/golden/sample-wet-*.gz", "--titles", "none.txt"], "--titles: no such"),
    ],
)
def test_wrong_calls_write_nothing(words, message, tmp_path, capsys):
    call = ["build", "--articles", "tests/golden/sample.xml.bz2", "--out", str(tmp_path / "out")]
    assert main([*call, *words]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


CRAWL = ["--crawl", "CC-MAIN-2024-10"]
SERVER = [*CRAWL, "--index", "server", "--index-server"]
WET = ["--warcs", "tests/golden/sample-wet-*.gz"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([*WET, "--memory", "1e-9"], "--memory must be between 0.05 and 1,000,000, not 1e-9"),
        ([*WET, "--memory", "1e300"], "--memory must be between 0.05 and 1,000,000, not 1e300"),
        ([*WET, "--workers", "99999999"], "--workers must be at most 1,024, not 99999999"),
        ([*WET, "--split", "t2t"], "--split t2t goes with the original WikiSum files"),
        ([*WET, "--urls", "setup.py"], "--urls goes with the original WikiSum files"),
        ([*WET, "--titles", "TITLES"], "titles.txt has no titles: write one on each line"),
        ([*WET, "--titles", "LATIN"], "latin.txt is not UTF-8: byte 8 is wrong"),
        ([*WET, "--corpus", "search"], "--corpus search needs --search-results"),
        ([*SERVER, "http://[::1"], "--index-server must be an http or https URL"),
        ([*SERVER, "http://h:99999/x"], "--index-server must be an http or https URL"),
        ([*SERVER, "http://h/{crawl"], "--index-server must be a URL without braces other"),
        ([*SERVER, "http://h/{0}"], "--index-server must be a URL without braces other"),
        ([*CRAWL, "--crawl-root", "http://h:0/"], "--crawl-root must be an http or https URL"),
        ([*CRAWL, "--timeout", "1e300"], "--timeout must be greater than 0 and at most 86400"),
        ([*CRAWL, "--first-pause", "1e300"], "--first-pause must be between 0 and 86400"),
        ([*CRAWL, "--live-delay", "1e300"], "--live-delay must be between 0 and 86400"),
        ([*WET, "--date", "2024"], "--date goes with --crawl"),
        ([*WET, "--captures", "3"], "--captures goes with --crawl"),
        ([*WET, "--index", "columnar"], "--index goes with --crawl"),
        ([*WET, "--retry", "timeout"], "--retry goes with --crawl or --live"),
        (
            [*WET, "--graphs", "none", "--similarity-threshold", "0.3"],
            "--similarity-threshold has no effect with --graphs none",
        ),
        ([*WET, "--language", "xx yy"], "--language must be a language code like en"),
        ([*WET, "--dump-language", "../../etc"], "--dump-language must be a language code"),
        ([*WET, "--dump-language", ""], "--dump-language must be a language code"),
    ],
)
def test_calls_that_would_fail_late_are_refused_at_once(words, message, tmp_path, capsys):
    lists = {"TITLES": tmp_path / "titles.txt", "LATIN": tmp_path / "latin.txt"}
    lists["TITLES"].write_text("\n \n")
    lists["LATIN"].write_bytes("Osterby\nÜ\n".encode("latin-1"))
    call = ["build", "--articles", "tests/golden/sample.xml.bz2", "--out", str(tmp_path / "out")]
    assert main([*call, *(str(lists.get(word, word)) for word in words)]) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert message in said
    assert not (tmp_path / "out").exists()


def test_a_dump_declares_a_language(tmp_path, capsys):
    (tmp_path / "dump.xml").write_bytes(dump(("A", "x")).replace(b'"en"', b'"no language"'))
    call = ["build", "--articles", str(tmp_path / "dump.xml"), "--out", str(tmp_path / "out"), *WET]
    assert main(call) == 2
    (said,) = capsys.readouterr().err.splitlines()
    assert "not 'no language': name it with --dump-language" in said
    assert not (tmp_path / "out").exists()


def test_local_inputs_are_refused_for_dataflow(capsys):
    articles, warcs = str(GOLDEN / "sample.xml.bz2"), str(GOLDEN / "sample-pages-00000.warc.gz")
    words = ["build", "--articles", articles, "--warcs", warcs, "--out", "gs://bucket/out"]
    assert main([*words, "--", "--runner=DataflowRunner"]) == 2
    assert f"{articles}: Dataflow's workers cannot reach" in capsys.readouterr().err
