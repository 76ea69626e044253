"""`build --estimate` through the command, and its samples."""

import bz2
import json

import pytest

from tests import tfrecords
from tests.builders import dump, gzipped, warc_record
from tests.conftest import GOLDEN
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.estimate import sample_articles as sample_inputs
from wikisum.pipeline.estimate import sample_pages
from wikisum.pipeline.estimate.rates import Assumptions
from wikisum.pipeline.estimate.sample_articles import sample_articles
from wikisum.pipeline.options import ArticleSettings, RemoteSettings, Settings
from wikisum.pipeline.remote.access import Access

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
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("articles  17, estimated from 17")
    (row,) = (line for line in told if line.startswith("total"))
    assert "kB" in row
    assert any(line.startswith("time: ") and "on 2 cores" in line for line in told)
    assert any("coverage 0.4" in line for line in told)
    assert max(map(len, told)) <= 100


def test_slices_and_other_figures(capsys, tmp_path):
    titles = tmp_path / "titles.txt"
    titles.write_text("Osterby\nTavin Bridge\n\n")
    out = ["--out", tmp_path / "out"]
    assert plain(capsys, *out, "--titles", titles)["volumes"]["articles"] == 2
    assert plain(capsys, *out, "--limit", 5)["volumes"]["articles"] == 5
    told = plain(capsys, *out, "--assume", "coverage=0.9", "cpu_hour=2")
    assert (told["assumptions"]["coverage"], told["prices"]["cpu_hour"]) == (0.9, 2)


def test_a_crawl_on_a_server_is_not_asked(capsys, tmp_path):
    words = [SAMPLE[0], *SAMPLE[1:3], *SAMPLE[5:], "--crawl", "CC-MAIN-2024-10"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out
    assert "by the assumed coverage" in told
    assert "at 2 requests per second" in told


def test_what_the_web_would_be_asked_for(capsys, tmp_path):
    words = [*SAMPLE, "--live", "--contact", "me@host.example", "--live-delay", "2"]
    assert main([*words, "--out", str(tmp_path / "out")]) == 0
    told = capsys.readouterr().out.splitlines()
    assert next(line for line in told if line.startswith("web ")).endswith(
        "are assumed to be there still"
    )
    assert any("to fetch from the web, one page per host at a time" in line for line in told)
    assert not any("requests per second" in line for line in told)
    assert main([*words, "--json", "--out", str(tmp_path / "out")]) == 0
    plain = json.loads(capsys.readouterr().out)
    volumes = plain["volumes"]
    assert volumes["asked_live"] == pytest.approx(volumes["wanted"] - volumes["found"])
    assert plain["live_seconds"] > 0
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--assume", "colour=1"], "no figure is called 'colour'"),
        (["--assume", "coverage=much"], "is not a number"),
        (["--assume", "coverage=7"], "is out of range"),
    ],
)
def test_wrong_figures(words, message, capsys, tmp_path):
    assert main([*SAMPLE, "--out", str(tmp_path / "out"), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_dump_without_articles_is_told(capsys, tmp_path):
    empty = tmp_path / "empty.xml"
    empty.write_bytes(dump())
    words = ["build", "--articles", str(empty), *SAMPLE[3:], "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert f"no article was found in {empty}" in capsys.readouterr().err


def test_its_flags_go_with_it(capsys, tmp_path):
    assert main([*SAMPLE[:-1], "--json", "--out", str(tmp_path / "out")]) == 2
    assert "go with --estimate" in capsys.readouterr().err


def pages(count: int) -> list[tuple[str, str]]:
    return [(f"Article {i}", f"The lead of {i} says something of it.") for i in range(count)]


def test_articles_of_a_large_dump_are_taken_from_all_over_it(tmp_path, monkeypatch):
    xml = dump(*pages(400)).removesuffix(b"</mediawiki>")
    head, *rest = xml.split(b"<page>")
    each = [b"<page>" + piece for piece in rest]
    streams = [head, *(b"".join(each[i : i + 10]) for i in range(0, 400, 10))]
    (tmp_path / "x.xml.bz2").write_bytes(b"".join(map(bz2.compress, [*streams, b"</mediawiki>"])))
    found = expand([str(tmp_path / "x.xml.bz2")])
    whole, _ = sample_articles(found, [], [], ArticleSettings())
    assert whole.articles == sample_inputs.MAX_ARTICLES
    assert whole.articles * whole.total_bytes / whole.read_bytes == pytest.approx(400, rel=0.02)
    monkeypatch.setattr(sample_inputs, "SMALL_BYTES", 0)
    spread, _ = sample_articles(found, [], [], ArticleSettings())
    assert spread.articles == 4 * 10
    assert spread.articles * spread.total_bytes / spread.read_bytes == pytest.approx(400, rel=0.1)
    limited, _ = sample_articles(found, [], [], ArticleSettings(limit=7))
    assert limited.articles == 7


def test_original_files_are_sampled(tmp_path):
    urls = {f"http://w/{i}": [f"http://{i}.example/{k}" for k in range(3)] for i in range(20)}
    for shard in range(2):
        content = b"".join(tfrecords.content(u, u[-2:], "The lead.") for u in urls)
        (tmp_path / f"c-{shard:05d}-of-00002").write_bytes(content)
        (tmp_path / f"u-{shard:05d}-of-00002").write_bytes(tfrecords.refs(urls))
    contents, refs = (expand([str(tmp_path / f"{kind}-*")]) for kind in "cu")
    sample, keys = sample_articles(contents, refs, [], ArticleSettings(split="t2t"))
    assert sample.is_original
    assert sample.read_bytes == sample.total_bytes
    assert sample.input_bytes == sum(f.size_bytes for f in [*contents, *refs])
    assert sample.cited == 3 * sample.articles
    assert len(keys) == 60


def test_search_results_are_counted_for_the_sampled_articles(tmp_path):
    (tmp_path / "x.xml").write_bytes(dump(*pages(3)))
    rows = [{"title": f"Article {i}", "urls": [f"http://{i}.example/{k}" for k in range(4)]}
            for i in range(2, 9)]  # fmt: skip
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, rows)))
    dumps, search = expand([str(tmp_path / "x.xml")]), expand([str(tmp_path / "s.jsonl")])
    sample, keys = sample_articles(dumps, [], search, ArticleSettings())
    assert (sample.articles, sample.searched, len(keys)) == (3, 4, 4)


def test_places_in_a_large_crawl_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sample_pages, "BYTES_PER_PLACE", 2000)
    text = b"<p>The bridge was opened in the summer of %d.</p>"
    records = [warc_record(f"http://{i}.example/", text % i) for i in range(200)]
    (tmp_path / "a.warc.gz").write_bytes(gzipped(*records))
    warcs = expand([str(tmp_path / "a.warc.gz")])
    access = Access(RemoteSettings(), None, 1)
    found = sample_pages.sample_pages(warcs, frozenset(), Settings(), access, Assumptions())
    assert found.read_bytes < found.total_bytes
    assert found.records * found.scale == pytest.approx(200, rel=0.25)
    assert found.pages.documents >= found.pages.pages - 4 > 20
