"""`wikisum search` over the bundled sample and over pages made here, through the command."""

import functools
import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.builders import LEAD, dump, gzipped, warc_record
from tests.conftest import GOLDEN
from tests.fake_crawl import Faults, served
from wikisum.crawl.urls import canonical_url, host, is_wikipedia
from wikisum.crawl.warc.split_points import records_between
from wikisum.pipeline.cli import main
from wikisum.pipeline.pages import plan as plan_scan
from wikisum.pipeline.pages import read_records as crawl_records
from wikisum.pipeline.records import DROPPED
from wikisum.pipeline.search import merge as search_merge
from wikisum.pipeline.search import pool as search_pool
from wikisum.pipeline.search import stage as search
from wikisum.pipeline.search.pages import sample
from wikisum.pipeline.wanted.search_results import read_search_results

pytestmark = pytest.mark.slow
WARCS = ["--warcs", str(GOLDEN / "sample-*.gz")]


def lines(out: Path) -> list[dict]:
    paths = sorted((out / "search").glob("results-*-of-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def articles(tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("search") / "out"
    dump_file = str(GOLDEN / "sample.xml.bz2")
    assert main(["articles", "--articles", dump_file, "--out", str(out), "--workers", "1"]) == 0
    return out


@pytest.fixture(scope="module")
def searched(articles) -> Path:
    assert main(["search", *WARCS, "--out", str(articles), "--workers", "1"]) == 0
    return articles


def test_pages_of_the_sample_are_found(searched):
    found = {line["title"]: line for line in lines(searched)}
    titles = ds.dataset(searched / "articles").to_table(columns=["title"]).column("title")
    assert set(found) == set(titles.to_pylist())
    assert all(line["query"] == title for title, line in found.items())
    bridge = found["Tavin Bridge"]
    assert bridge["urls"]
    assert bridge["scores"] == sorted(bridge["scores"], reverse=True)
    for line in found.values():
        assert len(line["urls"]) == len(line["scores"]) <= 10
        assert max(Counter(map(host, line["urls"])).values(), default=0) <= 2
        assert not any(map(is_wikipedia, line["urls"]))
        assert len(set(map(canonical_url, line["urls"]))) == len(line["urls"])


def test_records_that_are_no_pages_are_reported(searched):
    rows = ds.dataset(searched / "dropped", schema=DROPPED).to_table().to_pylist()
    reasons = {r["reason"] for r in rows if r["stage"] == "candidates"}
    assert {"http_status_404", "not_html", "truncated_record"} <= reasons


def test_two_workers_write_the_same_bytes(searched, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(searched, out, ignore=shutil.ignore_patterns("search*"))
    assert main(["search", *WARCS, "--out", str(out), "--workers", "2"]) == 0
    (path,) = (out / "search").iterdir()
    assert path.read_bytes() == (searched / "search" / path.name).read_bytes()


def test_what_is_done_is_not_done_again(searched, tmp_path, capfd):
    out = tmp_path / "out"
    shutil.copytree(searched, out)
    assert main(["search", *WARCS, "--out", str(out), "--workers", "1"]) == 0
    output = capfd.readouterr()
    assert output.err.count("already done") == 5
    (path,) = (out / "search").iterdir()
    assert output.out.strip() == str(path)
    before = path.read_bytes()
    (part,) = (out / ".work").glob("candidates-*/part-00001.json")
    part.unlink()  # as if killed after the first part
    (out / ".work" / "candidates.json").unlink()
    path.unlink()
    assert main(["search", *WARCS, "--out", str(out), "--workers", "1"]) == 0
    assert path.read_bytes() == before


def test_little_memory_and_many_files_give_the_same_bytes(searched, tmp_path, monkeypatch):
    monkeypatch.setattr(search_pool, "MAX_HITS", 20)
    monkeypatch.setattr(search, "FAN_IN", 2)
    monkeypatch.setattr(search_merge, "FAN_IN", 2)
    out = tmp_path / "out"
    shutil.copytree(searched, out, ignore=shutil.ignore_patterns("search*"))
    assert main(["search", *WARCS, "--out", str(out), "--workers", "1"]) == 0
    assert (out / ".work" / "merge-1.json").exists()
    (path,) = (out / "search").iterdir()
    assert path.read_bytes() == (searched / "search" / path.name).read_bytes()


def test_crawl_files_in_parts_give_the_same_bytes(searched, tmp_path, monkeypatch):
    monkeypatch.setattr(plan_scan, "MIN_BYTES", 20_000)
    small = functools.partial(records_between, certain_bytes=1_000)
    monkeypatch.setattr(crawl_records, "records_between", small)
    out = tmp_path / "out"
    shutil.copytree(searched, out, ignore=shutil.ignore_patterns("search*", "candidates*"))
    assert main(["search", *WARCS, "--out", str(out), "--workers", "1"]) == 0
    assert len(list((out / ".work").glob("candidates-*/part-*.json"))) == 8
    (path,) = (out / "search").iterdir()
    assert path.read_bytes() == (searched / "search" / path.name).read_bytes()


def test_crawl_files_on_a_server_give_the_same_results(searched, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(searched, out, ignore=shutil.ignore_patterns("search*"))
    root = tmp_path / "root"
    root.mkdir()
    names = sorted(path.name for path in GOLDEN.glob("sample-*.gz"))
    for name in names:
        shutil.copy(GOLDEN / name, root)
    with served(root, Faults(busy=0.1)) as crawl:
        urls = [f"{crawl.url}{name}" for name in names]
        flags = ["--crawl-root", crawl.url, "--first-pause", "0.01", "--workers", "1"]
        assert main(["search", "--warcs", *urls, *flags, "--out", str(out)]) == 0
    (path,) = (out / "search").iterdir()
    assert path.read_bytes() == (searched / "search" / path.name).read_bytes()


def test_results_feed_a_build(searched, tmp_path):
    found = (searched / "search" / "results-00000-of-00001.jsonl").read_bytes()
    results = list(read_search_results(found.splitlines(keepends=True)))
    assert [r.urls for r in results] == [line["urls"] for line in lines(searched)]
    words = ["scan", *WARCS, "--search-results", str(searched / "search" / "*.jsonl")]
    out = tmp_path / "out"
    shutil.copytree(searched, out)
    assert main([*words, "--corpus", "search", "--out", str(out), "--workers", "1"]) == 0
    wanted = ds.dataset(out / "wanted").to_table().to_pylist()
    urls = {(r.title, url) for r in results for url in map(canonical_url, r.urls)}
    assert Counter(w["source"] for w in wanted) == {"search": len(urls)}
    assert ds.dataset(out / "documents").count_rows() > 0


def test_a_build_beside_the_search_is_valid(searched, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(searched, out)
    results = str(out / "search" / "*.jsonl")
    words = ["--articles", str(GOLDEN / "sample.xml.bz2"), *WARCS, "--search-results", results]
    small = ["--vocab-size", "500", "--graphs", "none", "--workers", "1"]
    assert main(["build", *words, *small, "--out", str(out)]) == 0
    assert main(["validate", str(out)]) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert "search/results-00000-of-00001.jsonl" in manifest["files"]
    assert manifest["settings"]["search"]["results"] == 10


def page(url: str, title: str, *paragraphs: str) -> bytes:
    body = "".join(f"<p>{p}</p>" for p in paragraphs)
    return warc_record(url, f"<html><title>{title}</title><body>{body}</body></html>".encode())


@pytest.fixture
def crawl(tmp_path) -> Path:
    """A small crawl: a clone, Wikipedia itself, one host with many pages, one page twice."""
    good = [page(f"https://one.example/{i}", "The Tavin Bridge", LEAD[:90]) for i in range(4)]
    others = [
        page("http://two.example/", "Elsewhere", f"We saw the Tavin Bridge. {LEAD[90:]}"),
        page("https://www.two.example", "Elsewhere", f"We saw the Tavin Bridge. {LEAD[90:]}"),
        page("https://en.wikipedia.org/wiki/Tavin_Bridge", "Tavin Bridge", LEAD),
        page("http://clone.example/", "Tavin Bridge", f"{LEAD} {LEAD[::-1]}", "Tavin " * 3),
        page("http://none.example/", "Bridge of Tavin", "The bridge over the Tavin. " * 3),
        page("http://bad url.example^/", "Tavin Bridge", LEAD),
    ]
    path = tmp_path / "crawl.warc.gz"
    path.write_bytes(gzipped(*good, *others))
    return path


def search_titles(tmp_path: Path, crawl: Path, titles: str, *flags: str) -> list[dict]:
    listed = tmp_path / "titles.txt"
    listed.write_text(titles)
    out = tmp_path / "titles_out"
    command = ["search", "--warcs", str(crawl), "--titles", str(listed), "--out", str(out), *flags]
    assert main([*command, "--workers", "1"]) == 0
    return lines(out)


def test_by_hand(tmp_path, crawl):
    (found,) = search_titles(tmp_path, crawl, "tavin_Bridge\n\n")
    assert found["title"] == "Tavin Bridge"
    assert found["urls"][:2] == ["https://one.example/0", "https://one.example/1"]
    assert "http://clone.example/" in found["urls"]  # a list of titles has no text to compare
    assert sum("two.example" in url for url in found["urls"]) == 1
    assert len(found["urls"]) == 4
    (one,) = search_titles(tmp_path, crawl, "Tavin Bridge", "--results", "3", "--per-host", "1")
    assert len(one["urls"]) == 3


def test_a_copy_of_the_article_is_left_out(tmp_path, crawl):
    (tmp_path / "dump.xml").write_bytes(dump(("Tavin Bridge", f"{LEAD} " + LEAD.upper() * 3)))
    out = str(tmp_path / "out")
    assert main(["articles", "--articles", str(tmp_path / "dump.xml"), "--out", out]) == 0
    (tmp_path / "clone.warc").write_bytes(
        page("http://clone.example/", "Tavin Bridge", f"{LEAD} " + LEAD.upper() * 3)
        + page("http://own.example/", "Tavin Bridge", "A page of its own about the bridge.")
    )
    words = ["search", "--warcs", str(tmp_path / "clone.warc"), "--out", out, "--workers", "1"]
    assert main(words) == 0
    assert lines(tmp_path / "out")[0]["urls"] == ["http://own.example/"]


def test_queries_of_sections(tmp_path, crawl):
    text = f"{LEAD}\n== Building ==\n{LEAD}\n== Color ==\nIt is green."
    (tmp_path / "dump.xml").write_bytes(dump(("Tavin Bridge", text)))
    out = str(tmp_path / "out")
    assert main(["articles", "--articles", str(tmp_path / "dump.xml"), "--out", out]) == 0
    words = ["search", "--warcs", str(crawl), "--out", out, "--workers", "1"]
    assert main([*words, "--queries", "sections", "--clone-threshold", "1"]) == 0
    found = lines(tmp_path / "out")
    assert [f["query"] for f in found] == ["Tavin Bridge Building", "Tavin Bridge Color"]
    assert all(f["title"] == "Tavin Bridge" and f["urls"] for f in found)


def test_titles_without_words_are_reported_and_bad_calls_too(tmp_path, crawl, capsys):
    assert len(search_titles(tmp_path, crawl, "!!!\nTavin Bridge\n")) == 1
    rows = ds.dataset(tmp_path / "titles_out" / "dropped", schema=DROPPED).to_table().to_pylist()
    assert [(r["reason"], r["detail"]) for r in rows if r["stage"] == "queries"] == [
        ("no_words", "nothing to search for in the title '!!!'")
    ]
    words = ["search", "--warcs", str(crawl), "--out", str(tmp_path / "other")]
    assert main(words) == 1
    assert "run `wikisum articles` first" in capsys.readouterr().err
    (tmp_path / "empty.txt").write_text("\n")
    assert main([*words, "--titles", str(tmp_path / "empty.txt")]) == 2
    assert "no title" in capsys.readouterr().err
    assert main([*words, "--titles", str(tmp_path / "empty.txt"), "--queries", "sections"]) == 2
    assert main([*words, "--queries", "words"]) == 2
    assert main([*words, "--results", "0"]) == 2


def test_real_pages_are_found(real_data, tmp_path):
    """Of the pages that mention a title, as another search found them, nearly all are found."""
    text = (real_data / "search-results-dev.jsonl").read_text()
    wanted = {row["title"]: row["urls"] for row in map(json.loads, text.splitlines())}
    crawl = real_data / "pages-dev.warc.gz"
    results = search_titles(tmp_path, crawl, "\n".join(wanted))
    found = {line["title"]: set(map(canonical_url, line["urls"])) for line in results}
    web = {(t, canonical_url(u)) for t, urls in wanted.items() for u in urls if u[:4] == "http"}
    assert len(web) == 35
    assert sum(url in found[title] for title, url in web) >= 30


def test_files_to_count_in_are_spread_evenly():
    assert sample([0, 1, 2, 3, 4, 5], 3) == [0, 2, 4]
    assert sample([0, 1], 64) == [0, 1]
