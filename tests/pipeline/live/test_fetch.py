"""`wikisum live`, through the command, against a server on this machine; kills and limits."""

import gzip
import json
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.builders import LEAD, dump, gzipped, warc_record
from tests.processes import end, start
from tests.servers import NOT_FOUND, Answer, Names, Network, Server, page, redirect
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.live import archive as web_archive
from wikisum.pipeline.live import client as web_client
from wikisum.pipeline.live import fetch as live
from wikisum.pipeline.live.fetcher import LivePage
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.records import DROPPED

CONTACT = ["--contact", "you@host.example"]
FLAGS = [*CONTACT, "--allow-private", "--delay", "0", "--timeout", "20"]
ANSWERS = {
    "/robots.txt": Answer(200, b"User-agent: *\nDisallow: /closed"),
    "/good": page(LEAD),
    "/packed": Answer(200, gzip.compress(page(LEAD).body), {"Content-Encoding": "gzip",
                                                             "Content-Type": "text/html"}),
    "/moved": redirect("/elsewhere?x=1", 301),
    "/elsewhere?x=1": page(f"Elsewhere. {LEAD}"),
    "/text": Answer(200, LEAD.encode(), {"Content-Type": "text/plain"}),
    "/pdf": Answer(200, b"%PDF-1.7", {"Content-Type": "application/pdf"}),
    "/broken": Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"),
}  # fmt: skip
GOOD = ("good", "packed", "moved", "text")
BAD = {
    "gone": "http_status_404", "closed/x": "robots_disallowed", "pdf": "not_html",
    "broken": "broken_answer",
}  # fmt: skip


@pytest.fixture
def server():
    with Server(lambda path: ANSWERS.get(path, NOT_FOUND)).running() as running:
        yield running


def fetch(tmp_path: Path, urls: list[str], *flags: str) -> int:
    listed = tmp_path / "urls.txt"
    listed.write_text("\n".join(urls))
    out = str(tmp_path / "out")
    return main(["live", "--urls", str(listed), "--out", out, *FLAGS, *flags])


def dropped(out: Path) -> dict[str | None, str]:
    path = out / "dropped" / "dropped-live.parquet"
    return {row["url"]: row["reason"] for row in pq.read_table(path).to_pylist()}


def pages(out: Path) -> list[str]:
    found = []
    for path in sorted((out / "live").glob("live-*.warc.gz")):
        with path.open("rb") as raw:
            found += [item.url for item in read_captures(raw) if isinstance(item, PageRecord)]
    return found


def test_every_page_ends_in_the_archive_or_with_its_reason(tmp_path, server, capfd):
    urls = [f"{server.url}/{path}" for path in (*GOOD, *BAD)]
    assert fetch(tmp_path, [*urls, urls[0], "mailto:me@example.org", "", "http://no.invalid/"]) == 0
    out = tmp_path / "out"
    assert dropped(out) == {
        **{f"{server.url}/{path}": reason for path, reason in BAD.items()},
        "http://no.invalid/": "dns_failed",
        None: "not_http",
    }
    assert set(pages(out)) == {f"{server.url}/{p}" for p in (*GOOD, "elsewhere?x=1")}
    assert Counter(server.paths).most_common(1)[0][1] == 1
    output = capfd.readouterr()
    assert output.out == f"{out}/live/live-00000.warc.gz\n"
    assert "4 fetched" in output.err
    log = pq.read_table(out / "live" / "log-00000.parquet").to_pylist()
    moved = next(row for row in log if row["url"].endswith("/moved"))
    assert moved["final_url"] == f"{server.url}/elsewhere?x=1"


def test_a_rerun_asks_for_nothing_but_what_is_new_or_to_be_retried(tmp_path, server):
    urls = [f"{server.url}/{path}" for path in (*GOOD, *BAD)]
    fetch(tmp_path, urls)
    before = server.paths
    assert fetch(tmp_path, urls) == 0
    assert server.paths == before
    assert fetch(tmp_path, [*urls, f"{server.url}/new"]) == 0
    assert server.paths[len(before) :] == ["/robots.txt", "/new"]
    ANSWERS["/gone"] = page(LEAD)
    try:
        assert fetch(tmp_path, urls, "--retry", "http_status_404,timeout") == 0
    finally:
        del ANSWERS["/gone"]
    assert server.paths[len(before) + 2 :] == ["/robots.txt", "/gone"]
    out = tmp_path / "out"
    assert f"{server.url}/gone" in pages(out)
    assert f"{server.url}/gone" not in dropped(out)
    assert dropped(out)[f"{server.url}/new"] == "http_status_404"
    names = {p.name for p in (out / "live").iterdir()}
    assert names == {f"live-0000{i}.warc.gz" for i in range(3)} | {
        f"log-0000{i}.parquet" for i in range(3)
    }


@pytest.mark.slow
def test_missing_pages_of_a_build_are_fetched_and_scanned(tmp_path, server):
    """articles -> scan -> live -> scan: what the crawl has not, the web has."""
    cited = [f"{server.url}/good", f"{server.url}/moved", f"{server.url}/gone", "http://a.example/"]
    marks = " ".join(f"<ref>[{url} x]</ref>" for url in [*cited, "https://en.wikipedia.org/wiki/X"])
    text = f"{LEAD}{marks}".replace("<", "&lt;")
    (tmp_path / "dump.xml").write_bytes(dump(("Tavin Bridge", text)))
    crawl = tmp_path / "crawl.warc.gz"
    crawl.write_bytes(gzipped(warc_record("http://a.example/", page(LEAD).body)))
    out = tmp_path / "out"
    common = ["--out", str(out), "--workers", "1"]
    assert main(["articles", "--articles", str(tmp_path / "dump.xml"), *common]) == 0
    assert main(["scan", "--warcs", str(crawl), *common]) == 0
    assert main(["live", "--out", str(out), *FLAGS]) == 0
    assert sorted(server.paths) == ["/elsewhere?x=1", "/gone", "/good", "/moved", "/robots.txt"]
    fetched = str(out / "live" / "*.warc.gz")
    assert main(["scan", "--warcs", str(crawl), fetched, *common]) == 0
    documents = ds.dataset(out / "documents").to_table().to_pylist()
    assert {d["url"] for d in documents} == {"http://a.example/", *cited[:2]}
    moved = next(d for d in documents if d["url"].endswith("/moved"))
    assert any("Elsewhere" in p for p in moved["paragraphs"])
    rows = ds.dataset(out / "dropped", schema=DROPPED).to_table().to_pylist()
    reasons = {(r["stage"], r["reason"]) for r in rows if r["url"] == f"{server.url}/gone"}
    assert reasons == {("live", "http_status_404"), ("scan", "http_status_404")}
    assert main(["live", "--out", str(out), *FLAGS]) == 0
    assert len(server.paths) == 5


@pytest.mark.slow
def test_without_the_flag_no_private_address_is_asked(tmp_path, server, capsys):
    hosts = ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "localhost"]
    urls = [f"http://{host}:{server.port}/good" for host in hosts]
    urls += [f"http://[::ffff:127.0.0.1]:{server.port}/good", f"http://[::1]:{server.port}/"]
    listed = tmp_path / "urls.txt"
    listed.write_text("\n".join(urls))
    assert main(["live", *CONTACT, "--urls", str(listed), "--out", str(tmp_path / "out")]) == 0
    assert "--allow-private --retry private_address" in capsys.readouterr().err
    rows = pq.read_table(tmp_path / "out" / "dropped" / "dropped-live.parquet").to_pylist()
    assert Counter(r["reason"] for r in rows) == {"private_address": 6, "bad_url": 2}
    assert server.requests == []
    assert pages(tmp_path / "out") == []


def test_limits_leave_the_rest_for_the_next_run(tmp_path, server):
    urls = [f"{server.url}/{i}" for i in range(8)]
    assert fetch(tmp_path, urls, "--max-seconds", "0.45", "--delay", "0.2") == 0
    first = len(server.paths)
    assert 2 <= first <= 5
    left = Counter(dropped(tmp_path / "out").values())
    assert left["time_limit"] == 8 - (first - 1)
    assert fetch(tmp_path, urls, "--max-bytes", "30") == 0
    assert dropped(tmp_path / "out")[urls[7]] == "size_limit"
    assert fetch(tmp_path, urls) == 0
    assert set(dropped(tmp_path / "out").values()) == {"http_status_404"}
    assert Counter(server.paths)["/0"] == 1
    assert {Counter(server.paths)[f"/{i}"] for i in range(8)} == {1}


@pytest.mark.longest
@pytest.mark.slow
def test_a_killed_run_loses_nothing_and_asks_for_nothing_twice(tmp_path):
    """Killed while one page hangs: what was had stands, and only the rest is asked for."""
    slow = page(LEAD)._replace(wait_seconds=30)

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return NOT_FOUND
        return slow if path == "/4" and server.paths.count("/4") == 1 else page(f"{path} {LEAD}")

    with Server(answers).running() as server:
        listed = tmp_path / "urls.txt"
        listed.write_text("\n".join(f"{server.url}/{i}" for i in range(8)))
        words = ["live", "--urls", str(listed), "--out", str(tmp_path / "out"), *FLAGS]
        words += ["--timeout", "60"]
        process = start(words)
        until = time.monotonic() + 120
        while "/4" not in server.paths and time.monotonic() < until:
            time.sleep(0.02)
        assert end(process, signal.SIGKILL) == -signal.SIGKILL
        folder = tmp_path / "out" / "live"
        assert [p.name for p in folder.iterdir()] == [".live-00000.warc.gz.part"]
        assert main(words) == 0
        assert Counter(server.paths) == {"/robots.txt": 2, "/4": 2} | {
            f"/{i}": 1 for i in range(8) if i != 4
        }
        assert pages(tmp_path / "out") == [f"{server.url}/{i}" for i in range(8)]
        assert dropped(tmp_path / "out") == {}
        assert len(list(folder.glob("log-*.parquet"))) == 2


@pytest.mark.slow
def test_a_segment_without_its_log_gets_one(tmp_path, server):
    fetch(tmp_path, [f"{server.url}/good", f"{server.url}/gone"])
    log = tmp_path / "out" / "live" / "log-00000.parquet"
    before = log.read_bytes()
    log.unlink()  # as if killed between the two
    fetch(tmp_path, [f"{server.url}/good", f"{server.url}/gone"])
    assert log.read_bytes() == before
    assert len(server.paths) == 3
    (tmp_path / "out" / "live" / "live-00000.warc.gz").unlink()
    fetch(tmp_path, [f"{server.url}/good", f"{server.url}/gone"])
    assert len(server.paths) == 6
    assert pages(tmp_path / "out") == [f"{server.url}/good"]


def test_a_full_disk_is_reported_in_one_line(tmp_path, server, monkeypatch, capfd):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", "live-00000.warc.gz")

    monkeypatch.setattr(web_archive.Segment, "write", full)
    assert fetch(tmp_path, [f"{server.url}/{i}" for i in range(3)]) == 1
    assert "no space left on device" in capfd.readouterr().err.splitlines()[-1]


@pytest.mark.slow
def test_a_finished_dataset_stays_finished(tmp_path, server):
    fetch(tmp_path, [f"{server.url}/good"])
    manifest = tmp_path / "out" / "manifest.json"
    manifest.write_text("{}")
    fetch(tmp_path, [f"{server.url}/good"])
    assert manifest.exists()
    fetch(tmp_path, [f"{server.url}/good", f"{server.url}/gone"])
    assert manifest.exists()


def test_segments_are_cut_by_size(tmp_path, server):
    job = Job(Workspace(str(tmp_path / "out")), sys.stderr)
    settings = LiveSettings(delay_seconds=0.0, segment_bytes=1500, allow_private=True)
    urls = [f"{server.url}/{i}" for i in range(5)]
    result = live.fetch_live(job, settings, live.plan_pages(urls, as_listed=True))
    assert len(result.paths("live/live-")) == len(result.paths("live/log-")) > 1
    assert result.counts == {"dropped_http_status_404": 5}
    again = live.fetch_live(job, settings, live.plan_pages(urls, as_listed=True))
    assert again.fingerprint == result.fingerprint


def test_a_canonical_url_is_tried_in_its_other_spellings(tmp_path, server, monkeypatch):
    """The name exists with `www.` only, and there is nobody on port 443."""
    network = Network(server.port)
    connect = network.connect_tcp

    async def no_https(host: str, port: int, *others: object) -> object:
        if port == 443:
            raise web_client.httpcore2.ConnectError("refused")
        return await connect(host, port, *others)

    monkeypatch.setattr(network, "connect_tcp", no_https)
    monkeypatch.setattr(web_client.httpcore2, "AnyIOBackend", lambda: network)
    names = Names(www_old_example=[["93.184.216.34"]])
    job = Job(Workspace(str(tmp_path / "out")), sys.stderr)
    settings = LiveSettings(delay_seconds=0.0)
    planned = live.plan_pages(["http://old.example/good"], as_listed=False)
    result = live.fetch_live(job, settings, planned, resolver=names)
    assert result.counts == {"fetched": 1}
    assert names.asked == ["old.example", "www.old.example", "www.old.example"]
    assert pages(tmp_path / "out") == ["http://www.old.example/good"]


def test_pages_are_planned_once_each():
    planned = list(live.plan_pages(["http://a.example/x", "https://www.a.example/x/#y"], True))
    assert [p.url for p in planned if isinstance(p, LivePage)] == ["http://a.example/x"]


@pytest.mark.slow
def test_bad_calls_are_reported(tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["live", *CONTACT, "--out", out]) == 1
    assert "run `wikisum scan` first" in capsys.readouterr().err
    assert main(["live", "--out", out]) == 2
    assert "required: --contact" in capsys.readouterr().err
    assert main(["live", *CONTACT, "--out", out, "--urls", str(tmp_path / "none")]) == 2
    assert main(["live", "--out", out, "--contact", "me (x)"]) == 2
    assert main(["live", *CONTACT, "--out", out, "--delay", "-1"]) == 2
    assert main(["live", *CONTACT, "--out", out, "--", "--runner=x"]) == 2
    assert not (tmp_path / "out").exists()


def test_the_record_is_kept_for_the_manifest(tmp_path, server):
    fetch(tmp_path, [f"{server.url}/good"])
    result = json.loads((tmp_path / "out" / ".work" / "live.json").read_text())
    assert result["counts"] == {"fetched": 1}
    assert [f["path"] if isinstance(f, dict) else f[0] for f in result["files"]] == [
        "live/live-00000.warc.gz", "live/log-00000.parquet", "dropped/dropped-live.parquet",
    ]  # fmt: skip
