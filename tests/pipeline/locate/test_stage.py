"""`locate` and `fetch` against a crawl served on this machine: indexes, choices, retries."""

import hashlib
import json
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests.builders import LEAD, dump, gzipped, warc_record
from tests.fake_crawl import (
    CRAWL,
    FakeCrawl,
    Faults,
    cdx_server,
    lay_out,
    served,
    write_table,
    write_zipnum,
)
from tests.processes import end, start
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import CAPTURE, DROPPED

pytestmark = pytest.mark.slow
OTHER = "CC-MAIN-2023-50"
URLS = [f"http://site{i % 7}.example/page-{i}" for i in range(60)]
QUICK = ["--first-pause", "0.001", "--timeout", "0.5", "--workers", "1"]


def page(text: str) -> bytes:
    sentences = f"The bridge over the river {text} was painted green by twelve men in a summer. "
    return f"<html><body><p>{sentences * 3}</p></body></html>".encode()


def write_warc(path: Path, pages: dict[str, bytes], **headers: str) -> Path:
    """A WARC file of these pages, with a record of another kind before each."""
    records = []
    for url, body in pages.items():
        records += [warc_record(url, b"", kind="request"), warc_record(url, body, **headers)]
    path.write_bytes(gzipped(*records))
    return path


def locate(articles: Path, out: Path, url: object, *flags: object) -> int:
    search = ["--search-results", str(articles / "search.jsonl")]
    crawls = [] if "--crawl" in flags else ["--crawl", CRAWL]
    words = ["locate", *search, *crawls, "--crawl-root", str(url), "--out", str(out), *QUICK]
    return main([*words, *map(str, flags)])


def fetch(out: Path, url: object, *flags: object) -> int:
    words = ["fetch", "--crawl-root", str(url), "--out", str(out), *QUICK]
    return main([*words, *map(str, flags)])


@pytest.fixture(scope="module")
def articles(tmp_path_factory) -> Path:
    """A dataset of one article, and the search results that make it want the URLs."""
    folder = tmp_path_factory.mktemp("articles")
    (folder / "dump.xml").write_bytes(dump(("Tavin Bridge", f"{LEAD}\n== Building ==\n{LEAD}")))
    row = {"title": "Tavin Bridge", "urls": URLS}
    (folder / "search.jsonl").write_text(json.dumps(row) + "\n")
    words = ["articles", "--articles", str(folder / "dump.xml"), "--out", str(folder / "out")]
    assert main(words) == 0
    write_zipnum(folder / "root", [], "EMPTY")  # so that the wanted pages are known
    assert locate(folder, folder / "out", folder / "root", "--crawl", "EMPTY") == 0
    return folder


@pytest.fixture
def out(articles, tmp_path) -> Path:
    shutil.copytree(articles / "out", tmp_path / "out", copy_function=shutil.copy2)
    return tmp_path / "out"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[Path]:
    """Three WARC files that hold the pages."""
    folder = tmp_path_factory.mktemp("warcs")
    return [
        write_warc(folder / f"{n}.warc.gz", {u: page(u) for u in URLS[20 * n : 20 * n + 20]})
        for n in range(3)
    ]


def both(articles: Path, out: Path, crawl: FakeCrawl, *flags: object) -> None:
    assert locate(articles, out, crawl.url, *flags) == 0
    retry = flags[flags.index("--retry") :][:2] if "--retry" in flags else ()
    assert fetch(out, crawl.url, *retry) == 0


def rows(out: Path, folder: str) -> list[dict]:
    schema = {"dropped": DROPPED, "captures": CAPTURE}.get(folder)
    return ds.dataset(out / folder, schema=schema).to_table().to_pylist()


def reasons(out: Path, stage: str) -> dict[str, str]:
    return {r["url"]: r["reason"] for r in rows(out, "dropped") if r["stage"] == stage}


def digests(out: Path, *folders: str) -> dict[str, str]:
    paths = [p for folder in folders for p in (out / folder).glob("*.parquet")]
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def test_all_indexes_find_the_same(articles, files, tmp_path):
    lines = lay_out(tmp_path / "root", files, block_lines=7)
    found = []
    for index in ("zipnum", "columnar", "server"):
        out = tmp_path / index
        shutil.copytree(articles / "out", out, copy_function=shutil.copy2)
        with served(tmp_path / "root") as crawl:
            crawl.answers[f"{CRAWL}-index"] = cdx_server(lines)
            server = ["--index-server", f"{crawl.url}{{crawl}}-index"] if index == "server" else []
            assert locate(articles, out, crawl.url, "--index", index, *server) == 0
        found.append(sorted(map(json.dumps, rows(out, "captures"))))
    assert len(found[0]) == len(URLS)
    assert found[0] == found[1] == found[2]


def test_only_what_is_needed_of_a_table_is_read(articles, files, out, tmp_path):
    lines = lay_out(tmp_path / "root", files)
    filler = []
    for i in range(20_000):
        host = hashlib.sha256(b"%d" % i).hexdigest()
        result = {**lines[0].fields, "url": f"http://{host}.example/"}
        filler.append(lines[0]._replace(surt=f"example,site0)/page-0{i:05d}", fields=result))
    write_table(tmp_path / "root", lines + filler, group_rows=1_000)
    tables = list((tmp_path / "root").rglob("*.parquet"))
    with served(tmp_path / "root") as crawl:
        assert locate(articles, out, crawl.url, "--index", "columnar") == 0
    read = [a.range for a in crawl.asked if a.path.endswith(".parquet") and a.range != "bytes=0-0"]
    spans = [tuple(map(int, r.removeprefix("bytes=").split("-"))) for r in read]
    assert len(rows(out, "captures")) == len(URLS)
    assert sum(b - a + 1 for a, b in spans) < sum(p.stat().st_size for p in tables) / 2


def test_documents_are_those_of_a_scan(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
    fetched = rows(out, "documents")
    scan = ["scan", "--warcs", *map(str, files), "--out", str(out), "--workers", "1"]
    assert main([*scan, "--search-results", str(articles / "search.jsonl")]) == 0
    documents = sorted(rows(out, "documents"), key=lambda r: (r["url"], r["warc_file"]))
    assert len(fetched) == 60
    assert documents[::2] == documents[1::2]  # each page once fetched, once scanned


def test_a_rerun_asks_for_nothing(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
        before = len(crawl.asked)
        both(articles, out, crawl, "--retry", "http_503")
        assert len(crawl.asked) == before
    with served(tmp_path / "root") as crawl:  # at another place
        both(articles, out, crawl)
        assert crawl.asked == []


def test_what_failed_is_retried_and_ends_in_the_same_bytes(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files, block_lines=7)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
    whole = digests(out, "captures", "documents", "dropped")
    effort = Counter(a.path for a in crawl.asked)
    again = tmp_path / "again"
    shutil.copytree(articles / "out", again, copy_function=shutil.copy2)
    with served(tmp_path / "root") as crawl:
        crawl.broken = {"1.warc.gz": 503, "cdx-00001.gz": 503}
        both(articles, again, crawl, "--attempts", "2")
        assert set(reasons(again, "locate").values()) == {"http_503"}
        assert set(reasons(again, "fetch").values()) <= {"http_503"}
        asked = len(crawl.asked)
        both(articles, again, crawl, "--retry", "timeout")
        assert len(crawl.asked) == asked  # nothing failed so
        crawl.broken = {"1.warc.gz": 503}
        both(articles, again, crawl, "--retry", "http_503,timeout", "--attempts", "1")
        assert reasons(again, "locate") == {}
        asked = len(crawl.asked)
        crawl.broken = {}
        both(articles, again, crawl, "--retry", "http_503")
        assert {a.path for a in crawl.asked[asked:]} == {"1.warc.gz"}
    assert digests(again, "captures", "documents", "dropped") == whole
    assert effort["1.warc.gz"] >= 1
    assert not (again / ".work" / "previous").exists() or not any(
        (again / ".work/previous").iterdir()
    )


def test_more_captures_keep_what_was_fetched(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files[:2])
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
        lay_out(tmp_path / "root", files[2:], OTHER)
        asked = len(crawl.asked)
        both(articles, out, crawl, "--crawl", CRAWL, "--crawl", OTHER)
        fetched = {a.path for a in crawl.asked[asked:] if a.path.endswith("warc.gz")}
    assert fetched == {"2.warc.gz"}
    assert len(rows(out, "documents")) == 60


def test_crawls_are_tried_in_order_and_misses_are_reported(articles, out, tmp_path):
    root = tmp_path / "root"
    first = write_warc(tmp_path / "first.warc.gz", {URLS[0]: page("one"), URLS[1]: page("one")})
    lay_out(root, [first])
    data = bytearray((root / "first.warc.gz").read_bytes())
    data[-60:-40] = bytes(20)  # the record of URLS[1] is damaged
    (root / "first.warc.gz").write_bytes(data)
    second = write_warc(tmp_path / "second.warc.gz", {u: page("two") for u in URLS[:3]})
    lay_out(root, [second], OTHER)
    with served(root) as crawl:
        both(articles, out, crawl, "--crawl", CRAWL, "--crawl", OTHER)
    assert {r["url"]: r["warc_file"] for r in rows(out, "documents")} == {
        URLS[0]: "first.warc.gz",
        URLS[1]: "second.warc.gz",
        URLS[2]: "second.warc.gz",
    }
    assert reasons(out, "fetch") == {URLS[1]: "bad_record"}
    details = {r["detail"] for r in rows(out, "dropped") if r["stage"] == "locate"}
    assert details == {f"{CRAWL}: not_in_crawl, {OTHER}: not_in_crawl"}


def test_redirects_are_followed_once(articles, out, tmp_path):
    root = tmp_path / "root"
    target, further = "http://new.example/here", "http://new.example/there"
    moved = {URLS[0]: target, URLS[1]: further, further: target, URLS[2]: URLS[2] + "/"}
    paths = [write_warc(tmp_path / "new.warc.gz", {target: page("new")})]
    for number, (url, location) in enumerate(moved.items()):
        path = tmp_path / f"moved-{number}.warc.gz"
        headers = {"status": "301 Moved", "http_Location": location}
        paths.append(write_warc(path, {url: b""}, **headers))
    lay_out(root, paths)
    with served(root) as crawl:
        both(articles, out, crawl)
    assert [(r["url"], r["source_url"]) for r in rows(out, "documents")] == [(URLS[0], target)]
    missing = reasons(out, "locate")
    assert {missing[u] for u in URLS[1:3]} == {"http_status_301"}


def test_case_in_a_path_is_told_apart(articles, out, tmp_path):
    path = write_warc(tmp_path / "a.warc.gz", {URLS[0].upper().replace("HTTP", "http"): page("a")})
    lay_out(tmp_path / "root", [path])
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
    assert rows(out, "captures") == []
    assert reasons(out, "locate")[URLS[0]] == "not_in_crawl"


def test_an_index_that_is_wrong(articles, out, tmp_path):
    wrong = [
        ({"digest": "A" * 32}, "wrong_digest"),
        ({"length": "100"}, "truncated_record"),
        ({"length": "999999"}, "past_end"),
        ({"offset": "99999999"}, "past_end"),
        ({"filename": "gone.warc.gz"}, "http_404"),
        ({"length": "99999999"}, "page_too_large"),
        ({"offset": "700"}, "bad_record"),
        ({"url": "https://site0.example/page-0/"}, None),
        ({}, None),
    ]
    wanted = sorted(URLS)[: len(wrong)]
    path = write_warc(tmp_path / "a.warc.gz", {u: page(u) for u in wanted})
    lines = lay_out(tmp_path / "root", [path])
    by_url = {line.fields["url"]: line for line in lines}
    changed = [
        by_url[url]._replace(
            fields={**by_url[url].fields, **changes, "url": changes.get("url", url)}
        )
        for url, (changes, _) in zip(wanted, wrong, strict=True)
    ]
    write_zipnum(tmp_path / "root", changed)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
    found = reasons(out, "fetch")
    expected = {u: r for u, (_, r) in zip(wanted, wrong, strict=True) if r}
    assert found == expected
    assert max(crawl.requests.values()) <= 2


def test_a_server_that_knows_no_ranges(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files)
    with served(tmp_path / "root", Faults(whole=1.0)) as crawl:
        both(articles, out, crawl)
    assert len(rows(out, "documents")) == 60


def test_the_next_root_is_asked_where_one_is_silent(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files)
    with (
        served(tmp_path / "root", Faults(stalled=1.0)) as silent,
        served(tmp_path / "root") as crawl,
    ):
        roots = ("--crawl-root", silent.url, crawl.url)
        assert locate(articles, out, crawl.url, *roots) == 0
        assert fetch(out, crawl.url, *roots) == 0
    assert len(rows(out, "documents")) == 60
    assert len(silent.asked) <= 4


def test_killed_it_goes_on_and_ends_in_the_same_bytes(articles, out, tmp_path):
    files = [
        write_warc(tmp_path / f"{n}.warc.gz", {u: page(u) for u in URLS[n::12]}) for n in range(12)
    ]
    lay_out(tmp_path / "root", files)
    again = tmp_path / "again"
    shutil.copytree(out, again, copy_function=shutil.copy2)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
        assert locate(articles, again, crawl.url) == 0
        asked = len(crawl.asked)
        words = ["fetch", "--crawl-root", crawl.url, "--out", str(again), *QUICK, "--rate", "5"]
        process = start(words)
        deadline = time.monotonic() + 120
        while not list(again.glob(".work/fetch-*/part-*.json")) and process.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert end(process, signal.SIGKILL) == -signal.SIGKILL
        assert len(crawl.asked) < asked + 12
        assert fetch(again, crawl.url) == 0
        assert len(crawl.asked) <= asked + 12 + 4  # what was under way is asked for again
    assert digests(again, "documents", "dropped") == digests(out, "documents", "dropped")


def test_a_folder_is_a_root_too(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files)
    assert locate(articles, out, tmp_path / "root") == 0
    assert fetch(out, tmp_path / "root") == 0
    assert len(rows(out, "documents")) == 60


def test_a_block_that_is_damaged_is_no_miss(articles, files, out, tmp_path):
    lay_out(tmp_path / "root", files, block_lines=7)
    path = next((tmp_path / "root").rglob("cdx-00000.gz"))
    data = bytearray(path.read_bytes())
    data[20:30] = bytes(10)
    path.write_bytes(data)
    with served(tmp_path / "root") as crawl:
        both(articles, out, crawl)
    found = Counter(reasons(out, "locate").values())
    assert set(found) == {"bad_index"}
    assert 7 <= found["bad_index"] <= 8


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--crawl", "no crawl"], 2, "--crawl must be a name like CC-MAIN-2024-10"),
        (["--crawl", CRAWL, "--crawl", CRAWL], 2, "names a crawl twice"),
        (["--date", "yesterday"], 2, "--date must be a date like 2024"),
        (["--index", "magic"], 2, "--index must be one of"),
        (["--rate", "-1"], 2, "--rate must be at least 0, not -1"),
        (["--attempts", "0"], 2, "--attempts must be at least 1"),
        (["--retry", "503 "], 2, "--retry has an unknown reason '503 '"),
        (["--crawl", "CC-MAIN-1999-01"], 1, "cluster.idx returned 404"),
        (["--contact", "é"], 2, "--contact must be a mail or web address in ASCII"),
    ],
)
def test_a_wrong_call_is_one_line(articles, out, tmp_path, capfd, flags, code, message):
    with served(tmp_path) as crawl:
        assert locate(articles, out, crawl.url, *flags) == code
    output = capfd.readouterr().err.strip().splitlines()
    assert message in output[-1]


def test_fetch_comes_after_locate(out, capfd):
    (out / ".work" / "locate.json").unlink()
    assert fetch(out, "http://127.0.0.1:9/") == 1
    assert "run `wikisum locate` first" in capfd.readouterr().err


@pytest.mark.parametrize("kind", ["pages", "texts"])
def test_real_pages_come_through_faults_as_they_are_scanned(kind, real_data, tmp_path):
    dump, warc, search = {
        "pages": ("enwiki-dev.xml.bz2", "pages-dev.warc.gz", "search-results-dev.jsonl"),
        "texts": ("wikigen-dev.xml.bz2", "wikigen-dev.warc.wet.gz", "wikigen-search-dev.jsonl"),
    }[kind]
    out = tmp_path / "out"
    slice_ = ["--limit", "40"] if kind == "texts" else []
    words = ["--out", str(out), "--workers", "1"]
    assert main(["articles", "--articles", str(real_data / dump), *slice_, *words]) == 0
    lay_out(tmp_path / "root", [real_data / warc], block_lines=30, files=5)
    faults = Faults(busy=0.3, reset=0.1, short=0.05, stalled=0.01, stall_seconds=1)
    flags = ["--search-results", str(real_data / search), *words]
    quick = ["--first-pause", "0.001", "--timeout", "0.5"]
    with served(tmp_path / "root", faults) as crawl:
        crawl.wrong_ranges = 1
        remote = ["--crawl-root", crawl.url, *quick]
        assert main(["locate", "--crawl", CRAWL, *flags, *remote]) == 0
        assert main(["fetch", *remote, *words]) == 0
    assert max(crawl.requests.values()) <= 10
    assert {"busy", "reset", "wrong_range", None} <= {a.fault for a in crawl.asked}
    fetched = sorted(rows(out, "documents"), key=lambda r: r["offset"])
    shutil.rmtree(out / "documents")
    assert main(["scan", "--warcs", str(real_data / warc), *flags]) == 0
    scanned = [r for r in rows(out, "documents") if r["warc_file"] == warc]
    assert len(fetched) > 15
    assert fetched == sorted(scanned, key=lambda r: r["offset"])
    pages = {u for u in (r["url"] for r in rows(out, "captures"))}
    warc_requests = sum(a.path == warc and a.fault is None for a in crawl.asked)
    assert warc_requests <= len(pages)
