"""`build --live` against servers on this machine: crawl, files and the web, kills and reruns."""

import hashlib
import json
import shutil
import signal
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from lxml import html

from tests.builders import LEAD, dump, gzipped, stream, warc_record
from tests.fake_crawl import CRAWL, lay_out, served
from tests.processes import end, start
from tests.servers import NOT_FOUND, Answer, Server, page, redirect
from wikisum.crawl.warc.warc import read_captures
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import DOCUMENT, DROPPED

# long enough for documents, and no two alike
TEXTS = {
    "nine": "The bridge over the Tavin was painted green by nine men in one summer. They worked "
    "from boats, and a crowd came on Sundays to see how far the color had got by then.",
    "seven": "Seven arches carry the road from Osterby to the market on the other side. The stones "
    "were cut in a quarry near the coast, and came up the river on the barges of a mill.",
    "twelve": "Twelve lamps were hung on the parapet when the railway opened its station. A keeper "
    "lit them each evening, until the council bought a machine that did the work alone.",
}


def text(word: str) -> str:
    """A paragraph of a page, with a word in it."""
    other = "There were {0} boats on the river in {0} weeks of that summer, and in each {0} "
    other += "families came from the town to watch the {0} painters at work on the old bridge."
    return TEXTS.get(word, other.format(word))


ANSWERS = {
    "/robots.txt": Answer(200, b"User-agent: *\nDisallow: /closed"),
    "/good": page(text("nine")),
    "/moved": redirect("/elsewhere", 301),
    "/elsewhere": page(text("seven")),
    "/empty": page("Short."),
    "/away": redirect("/nowhere", 302),
}
# the fate of each page that only the web could give
FATES = {
    "gone": "http_status_404", "closed/x": "robots_disallowed", "empty": "no_text",
    "away": "http_status_404",
}  # fmt: skip
OLD = "http://a.example/"  # what the crawl has
LIVE = ["--live", "--contact", "me@host.example", "--allow-private", "--live-delay", "0",
        "--live-timeout", "3", "--live-attempts", "1"]  # fmt: skip


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(lambda path: ANSWERS.get(path, NOT_FOUND)).running() as running:
        yield running


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a host that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/never"


def articles(folder: Path, urls: list[str]) -> list[str]:
    """The flags of a dump of two articles that cite the pages, and of a small vocabulary."""
    marks = " ".join(f"<ref>[{url} x]</ref>" for url in urls)
    path = folder / "dump.xml"
    markup = f"{LEAD}{marks}".replace("<", "&lt;")
    path.write_bytes(dump(("Tavin Bridge", markup), ("Osterby", markup)))
    return ["--articles", str(path), "--vocab-size", "100", "--workers", "1", "--graphs", "none"]


def crawl_file(folder: Path) -> Path:
    """A crawl file with a page, and with one that it could not have."""
    path = folder / "crawl.warc.gz"
    records = [warc_record(OLD, page(text("twelve")).body),
               warc_record("http://b.example/", b"no", status="404 Not Found")]  # fmt: skip
    path.write_bytes(gzipped(*records))
    return path


def rows(out: Path, folder: str) -> list[dict]:
    schema = {"dropped": DROPPED, "documents": DOCUMENT}.get(folder)
    return ds.dataset(out / folder, schema=schema).to_table().to_pylist()


def fates(out: Path) -> dict[str, dict]:
    return {r["url"]: r for r in rows(out, "dropped") if r["kind"] == "reference"}


def used(out: Path) -> set[str]:
    return {d["url"] for row in rows(out, "examples") for d in row["documents"]}


def digests(out: Path) -> dict[str, str]:
    paths = [p for p in out.rglob("*") if p.is_file() and ".work" not in p.parts]
    wanted = (".parquet", ".model", ".vocab", ".gz")
    return {
        str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in paths
        if p.name.endswith(wanted)
    }


def without_places(out: Path) -> list[dict]:
    """The examples without what tells where and when their pages were had."""
    places = ("warc_file", "offset", "fetched_at")
    return [
        {
            **r,
            "documents": [{k: v for k, v in d.items() if k not in places} for d in r["documents"]],
        }
        for r in sorted(rows(out, "examples"), key=lambda r: r["id"])
    ]


def build(tmp_path: Path, cited: list[str], *flags: object, out: str = "out") -> Path:
    """The dataset of articles that cite the pages, with and without a crawl file."""
    folder = tmp_path / out
    words = ["build", *articles(tmp_path, cited), "--out", str(folder), *map(str, flags)]
    assert main(words) == 0
    return folder


@pytest.mark.parametrize("source", ["files", "crawl", "neither"])
def test_what_no_crawl_has_comes_from_the_web(source, server, silent, tmp_path):
    own = [f"{server.url}/{path}" for path in ("good", "moved", *FATES)]
    cited = [OLD, "http://b.example/", *own, silent]
    crawl = crawl_file(tmp_path)
    if source == "crawl":
        root = tmp_path / "root"
        root.mkdir()
        lay_out(root, [crawl])
        with served(root) as index:
            out = build(tmp_path, cited, *LIVE, "--crawl", CRAWL, "--crawl-root", index.url)
    else:
        out = build(tmp_path, cited, *LIVE, *(["--warcs", crawl] if source == "files" else []))
    from_crawl = set() if source == "neither" else {OLD}
    assert used(out) == {f"{server.url}/good", f"{server.url}/moved"} | from_crawl
    missed = fates(out)
    for path, reason in FATES.items():
        assert missed[f"{server.url}/{path}"]["reason"] == reason
    assert missed[silent]["reason"] == "robots_unreachable"
    gone = missed["http://b.example/"]
    assert gone["reason"] == "dns_failed"
    before = {"files": "; in the crawl: http_status_404 (crawl.warc.gz at ",
              "crawl": "; in the crawl: http_status_404", "neither": "citation 1"}  # fmt: skip
    assert before[source] in gone["detail"]
    assert Counter(server.paths).most_common(1)[0][1] == 1
    assert main(["validate", str(out)]) == 0


def test_a_live_page_is_traced_to_its_record(server, tmp_path):
    out = build(tmp_path, [f"{server.url}/{path}" for path in ("good", "moved", "empty")], *LIVE)
    for document in rows(out, "documents"):
        with (out / document["warc_file"]).open("rb") as raw:
            raw.seek(document["offset"])
            (capture,) = read_captures(stream(raw.read(document["length"])))
        assert (capture.url, capture.digest) == (document["source_url"], document["digest"])
    empty = next(r for r in rows(out, "dropped") if r["reason"] == "no_text")
    with (out / empty["file"]).open("rb") as raw:
        raw.seek(empty["offset"])
        assert next(read_captures(raw)).url == f"{server.url}/empty"


@pytest.mark.longest
def test_a_rerun_asks_nothing_and_a_build_without_it_keeps_none_of_its_pages(server, tmp_path):
    cited = [OLD, f"{server.url}/good", f"{server.url}/gone"]
    warcs = ["--warcs", crawl_file(tmp_path)]
    out = build(tmp_path, cited, *warcs, *LIVE)
    first, asked = digests(out), server.paths
    build(tmp_path, cited, *warcs, *LIVE)
    assert digests(out) == first
    without = build(tmp_path, cited, *warcs)
    assert used(without) == {OLD}
    assert fates(without)[f"{server.url}/gone"]["reason"] == "not_in_crawl"
    segment = "live/live-00000.warc.gz"
    assert digests(out)[segment] == first[segment]
    assert main(["validate", str(out)]) == 0
    build(tmp_path, cited, *warcs, *LIVE)
    assert digests(out) == first
    assert server.paths == asked


def test_what_a_crawl_has_now_is_not_taken_from_the_web(server, tmp_path):
    """A page that was fetched live, and that a crawl file named later has too."""
    url = f"{server.url}/good"
    out = build(tmp_path, [OLD, url], *LIVE)
    assert {d["warc_file"] for d in rows(out, "documents")} == {"live/live-00000.warc.gz"}
    crawl = tmp_path / "crawl.warc.gz"
    crawl.write_bytes(gzipped(warc_record(url, page(text("twelve")).body)))
    build(tmp_path, [OLD, url], "--warcs", crawl, *LIVE)
    assert {d["warc_file"] for d in rows(out, "documents")} == {"crawl.warc.gz"}
    assert main(["validate", str(out)]) == 0


def test_single_stages_go_on_from_it_while_the_same_pages_are_missing(server, tmp_path):
    cited = [OLD, f"{server.url}/good"]
    out = build(tmp_path, cited, "--warcs", crawl_file(tmp_path), *LIVE)
    same = ["--workers", "1", "--out", str(out)]
    without = ["--graphs", "none"]
    assert main(["examples", *same, *without]) == 0
    assert used(out) == set(cited)
    both = tmp_path / "both.warc.gz"
    texts = [(url, page(text("twelve")).body) for url in cited]
    both.write_bytes(gzipped(*(warc_record(*text) for text in texts)))
    assert main(["scan", "--warcs", str(both), *same]) == 0
    assert main(["examples", *same, *without]) == 0
    assert {d["warc_file"] for d in rows(out, "documents")} == {"both.warc.gz"}
    assert main(["validate", str(out)]) == 0


def killed(words: list[str], moment: Callable[[], bool]) -> None:
    """Run the command and kill it as soon as the moment has come."""
    process = start(words)
    until = time.monotonic() + 120
    while not moment() and time.monotonic() < until:
        time.sleep(0.01)
    assert end(process, signal.SIGKILL) == -signal.SIGKILL


@pytest.mark.longest
def test_killed_while_it_fetches_and_while_it_scans(tmp_path):
    """The same examples as undisturbed, each page asked for once, the same bytes out of the WARC.

    The first kill comes while one page hangs, the second when the first part is scanned.
    """
    numbers = [str(n) for n in range(8)]
    hanging = page(text("four"))._replace(wait_seconds=30)

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return NOT_FOUND
        is_first = path == "/4" and server.paths.count("/4") == 1
        return hanging if is_first else page(text(path))

    with Server(answers).running() as server:
        cited = [f"{server.url}/{n}" for n in numbers]
        flags = [*LIVE, "--live-timeout", "60"]
        out = tmp_path / "out"
        words = ["build", *articles(tmp_path, cited), *flags]
        command = [*words, "--out", str(out)]
        killed(command, lambda: "/4" in server.paths)
        assert not (out / ".work" / "live.json").exists()
        killed(command, lambda: bool(list(out.glob(".work/live-scan-*/part-*.json"))))
        assert main([*words, "--out", str(out)]) == 0
        asked = Counter(server.paths)
        assert asked.pop("/robots.txt") == 2
        assert asked == {f"/{n}": 2 if n == "4" else 1 for n in numbers}
        assert len(list((out / "live").glob("live-*.warc.gz"))) == 2
        again = tmp_path / "again"
        shutil.copytree(out / "live", again / "live")
        assert main([*words, "--out", str(again)]) == 0
        assert Counter(server.paths).total() == len(numbers) + 3
        assert digests(again) == digests(out)
        undisturbed = tmp_path / "undisturbed"
        assert main([*words, "--out", str(undisturbed)]) == 0
        assert without_places(undisturbed) == without_places(out) != []


def test_interrupted_while_it_fetches_it_goes_on(tmp_path):
    """Ctrl-C: what was had stands, and the same command asks for the rest."""
    hanging = page(text("four"))._replace(wait_seconds=30)

    def answers(path: str) -> Answer:
        if path == "/robots.txt":
            return NOT_FOUND
        return hanging if server.paths.count("/2") == 1 and path == "/2" else page(text(path))

    with Server(answers).running() as server:
        cited = [f"{server.url}/{n}" for n in range(4)]
        words = ["build", *articles(tmp_path, cited), *LIVE, "--live-timeout", "60"]
        words += ["--out", str(tmp_path / "out")]
        process = start(words, tmp_path / "log")
        until = time.monotonic() + 120
        while "/2" not in server.paths and time.monotonic() < until:
            time.sleep(0.01)
        assert end(process, signal.SIGINT) == 130
        message = (tmp_path / "log").read_text().splitlines()[-1]
        assert message.endswith("interrupted; run the same command to resume")
        assert main(words) == 0
        assert used(tmp_path / "out") == set(cited)
        assert {server.paths.count(f"/{n}") for n in (0, 1, 3)} == {1}


def test_a_slice_without_training_articles_is_reported(server, tmp_path, capsys):
    titles = tmp_path / "titles.txt"
    titles.write_text("Tavin Bridge")  # of the test split
    flags = ["--titles", str(titles), *LIVE, "--out", str(tmp_path / "out")]
    assert main(["build", *articles(tmp_path, [f"{server.url}/good"]), *flags]) == 1
    output = capsys.readouterr().err.splitlines()[-1]
    assert "none of 1 examples is of the training split" in output
    assert "--vocab" in output


def test_why_no_example_was_made_is_reported(server, tmp_path, capsys):
    cited = [f"{server.url}/{path}" for path in ("gone", "lost", "closed/x")]
    words = ["build", *articles(tmp_path, cited), *LIVE, "--out", str(tmp_path / "out")]
    assert main(words) == 1
    output = capsys.readouterr().err.splitlines()[-1]
    assert "of 6 wanted pages 4 http_status_404, 2 robots_disallowed (see" in output


def test_the_report_tells_of_it(server, tmp_path, capsys):
    out = build(tmp_path, [f"{server.url}/good", f"{server.url}/gone"], *LIVE)
    assert "pages from the web: 2 asked, 1 fetched" in capsys.readouterr().out
    funnel = json.loads((out / "report" / "report.json").read_text())["funnel"]
    assert funnel["pages_from_the_web"] == {"asked": 2, "fetched": 1, "http_status_404": 1}
    tree = html.fromstring((out / "report" / "index.html").read_text())
    assert "Pages requested from the live web: 2 asked" in " ".join(tree.xpath("//h3/text()"))
    assert "../live/live-00000.warc.gz" in tree.xpath("//td/a/@href")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--live"], "--contact"),
        (["--live", "--contact", "me (x)"], "--contact must be"),
        (["--live", "--contact", "x@y.example", "--out", "gs://bucket/x"], "gs://bucket/x is not"),
        (["--warcs", "x", "--live-delay", "2"], "--live-delay goes with --live"),
        (["--warcs", "x", "--allow-private"], "--allow-private goes with --live"),
        (["--live", "--contact", "x@y.example", "--live-attempts", "0"], "--live-attempts must"),
        ([], "or the web (--live)"),
        (
            ["--crawl", "X", "--date", "someday"],
            "--date must be a date like",
        ),
    ],
)
def test_wrong_calls(flags, message, tmp_path, capsys):
    words = ["build", *articles(tmp_path, []), "--out", str(tmp_path / "out"), *flags]
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
