"""`build --crawl` against a crawl served on this machine, through the command."""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pyarrow.dataset as ds
import pytest

from tests.conftest import GOLDEN
from tests.fake_crawl import CRAWL, Asked, Faults, lay_out, served
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import CAPTURE, DROPPED

ARTICLES = ["--articles", str(GOLDEN / "sample.xml.bz2")]
SEARCH = ["--search-results", str(GOLDEN / "search.jsonl")]
VOCAB = ["--vocab-size", "500"]


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """The sample's pages, laid out as a crawl."""
    folder = tmp_path_factory.mktemp("crawl")
    lay_out(folder, sorted(GOLDEN.glob("sample-*.gz")))
    return folder


@pytest.fixture
def scanned(sample_build) -> Path:
    """The dataset out of the same files on disk."""
    return sample_build


def rows(out: Path, folder: str) -> list[dict]:
    schema = {"dropped": DROPPED, "captures": CAPTURE}.get(folder)
    return ds.dataset(out / folder, schema=schema).to_table().to_pylist()


def examples(out: Path) -> dict[str, dict]:
    return {row["id"]: row for row in rows(out, "examples")}


def build(url: str, out: Path, *flags: object) -> int:
    words = ["build", *ARTICLES, *SEARCH, *VOCAB, "--crawl", CRAWL, "--crawl-root", url]
    return main([*words, "--out", str(out), *map(str, flags)])


class Crawled(NamedTuple):
    """A dataset, and the requests that its build made."""

    out: Path
    requests: list[Asked]


@pytest.fixture(scope="module")
def crawled(root, tmp_path_factory) -> Crawled:
    """The sample's pages, fetched from the crawl by one worker."""
    out = tmp_path_factory.mktemp("crawled") / "out"
    with served(root) as crawl:
        assert build(crawl.url, out, "--contact", "mail@host.example", "--workers", 1) == 0
    return Crawled(out, crawl.asked)


def test_a_crawl_gives_the_same_examples_as_its_files(crawled, scanned):
    assert examples(crawled.out) == examples(scanned)
    assert main(["validate", str(crawled.out)]) == 0
    assert {a.agent.split()[1] for a in crawled.requests} == {"(+mail@host.example)"}


def test_every_wanted_url_is_located_or_dropped_with_its_reason(crawled):
    out = crawled.out
    located = Counter(r["url"] for r in rows(out, "captures") if r["choice"] == 0)
    missing = {r["url"]: r["reason"] for r in rows(out, "dropped") if r["stage"] == "locate"}
    wanted = {r["url"] for r in rows(out, "wanted")}
    own = {r["url"] for r in rows(out, "dropped") if r["reason"] == "wikipedia_itself"}
    assert set(located.values()) == {1}
    assert located.keys() | missing.keys() == wanted - own
    assert not located.keys() & missing.keys()
    assert set(missing.values()) == {
        "not_in_crawl", "http_status_404", "http_status_410", "not_html", "truncated_record",
        "revisit",
    }  # fmt: skip


def test_neighbors_share_a_request_and_no_block_is_read_twice(crawled):
    paths = [a.path for a in crawled.requests]
    fetched = sum(path.endswith((".warc.gz", ".wet.gz")) for path in paths)
    assert fetched == 3  # one a file, for 48 captures


@pytest.mark.longest
@pytest.mark.slow
def test_two_workers_fetch_the_same_pages(root, crawled, tmp_path):
    out = tmp_path / "out"
    with served(root) as crawl:
        remote = ["--crawl-root", crawl.url, "--out", str(out), "--workers", "2"]
        assert main(["articles", *ARTICLES, "--workers", "1", "--out", str(out)]) == 0
        assert main(["locate", *SEARCH, "--crawl", CRAWL, *remote]) == 0
        assert main(["fetch", *remote]) == 0
    for folder in ("captures", "documents"):
        assert sorted(map(repr, rows(out, folder))) == sorted(map(repr, rows(crawled.out, folder)))


def test_faults_change_nothing(root, scanned, tmp_path):
    faults = Faults(busy=0.3, reset=0.1, short=0.05, stalled=0.02, wrong_range=0.05, whole=0.05,
                    stall_seconds=2.0)  # fmt: skip
    with served(root, faults) as crawl:
        flags = ("--first-pause", 0.01, "--timeout", 0.5, "--workers", 1)
        assert build(crawl.url, tmp_path / "out", *flags) == 0
    assert examples(tmp_path / "out") == examples(scanned)
    assert main(["validate", str(tmp_path / "out")]) == 0
    assert {a.fault for a in crawl.asked} >= {"busy", "reset", None}
    assert max(crawl.requests.values()) <= 10 + 10  # look-ups and redirects each read cluster.idx


def test_whole_files_of_a_crawl_are_scanned_from_its_server(root, scanned, tmp_path):
    names = sorted(path.name for path in root.glob("*.gz"))
    (root / "all.paths").write_text("\n".join([*names, "gone.warc.gz"]))
    flags = ["--crawl-root", "", "--first-pause", "0.01", "--workers", "1"]
    with served(root, Faults(busy=0.1)) as crawl:
        words = ["--warcs", f"{crawl.url}all.paths", *flags, "--out", str(tmp_path / "out")]
        words[words.index("--crawl-root") + 1] = crawl.url
        assert main(["build", *ARTICLES, *SEARCH, *VOCAB, *words]) == 0
    assert examples(tmp_path / "out") == examples(scanned)
    (gone,) = (r for r in rows(tmp_path / "out", "dropped") if r["reason"] == "http_404")
    assert (gone["file"], gone["stage"]) == ("gone.warc.gz", "scan")
    assert main(["validate", str(tmp_path / "out")]) == 0


def test_a_server_that_does_not_answer_ends_the_scan_in_a_line(root, tmp_path, capfd):
    assert main(["articles", *ARTICLES, "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    with served(root, Faults(busy=1.0)) as crawl:
        flags = ["--crawl-root", crawl.url, "--attempts", "2", "--first-pause", "0.01"]
        url = f"{crawl.url}sample-pages-00000.warc.gz"
        words = ["scan", "--warcs", url, *flags, "--workers", "1", "--out", str(tmp_path / "out")]
        assert main(words) == 1
    assert "returned 503" in capfd.readouterr().err.strip().splitlines()[-1]


def test_files_of_another_kind_are_reported(tmp_path, capfd):
    """Malformed search results and crawl files are named once each, not only dropped."""
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("a line of text\n" * 3)
    same = ["--workers", "1", "--out", str(tmp_path / "out")]
    assert main(["articles", *ARTICLES, *same]) == 0
    assert main(["scan", "--warcs", str(wrong), "--search-results", str(wrong), *same]) == 0
    output = capfd.readouterr().err
    assert "3 malformed lines in the search results (see dropped/)" in output
    assert "1 file is not WARC, ARC or WET (see dropped/)" in output
