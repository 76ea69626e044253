import bz2

import pyarrow.dataset as ds
import pytest

from tests.builders import dump, stage_writer
from wikisum.crawl.wikipedia.site import ENGLISH
from wikisum.pipeline.articles import dump as read_articles
from wikisum.pipeline.articles.dump import ReadDump, plan_parts
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import READ_ARTICLES
from wikisum.pipeline.engine.files import InputFile, expand

TITLES = [f"Article {i}" for i in range(6)]


@pytest.fixture
def multistream(tmp_path):
    """A multistream dump of two articles a stream, its index beside it."""
    xml = dump(*((t, f"The lead of {t} says something of it.") for t in TITLES))
    head, *pages = xml.removesuffix(b"</mediawiki>").split(b"<page>")
    pages = [b"<page>" + p for p in pages]
    streams = [head, *(b"".join(pages[i : i + 2]) for i in (0, 2, 4)), b"</mediawiki>"]
    data, lines = b"", []
    for number, stream in enumerate(streams):
        if b"<page>" in stream:
            lines += [f"{len(data)}:{2 * number + k}:{TITLES[2 * number + k - 2]}" for k in (0, 1)]
        data += bz2.compress(stream)
    (tmp_path / "x-multistream.xml.bz2").write_bytes(data)
    index = bz2.compress("\n".join(lines).encode())
    (tmp_path / "x-multistream-index.txt.bz2").write_bytes(index)
    return tmp_path


def titles_of(folder, parts) -> list[str]:
    read = ReadDump(stage_writer(folder, READ_ARTICLES, len(parts)), ArticleSettings(), ENGLISH)
    for index, ranges in enumerate(parts):
        read(index, ranges)
    table = ds.dataset(sorted(map(str, (folder / "articles").iterdir()))).to_table()
    return table.column("title").to_pylist()


@pytest.mark.parametrize("pattern", ["x-multistream*", "x-multistream.xml.bz2"])
def test_streams_are_read_in_parts_with_and_without_index(multistream, monkeypatch, pattern):
    monkeypatch.setattr(read_articles, "MIN_PART_BYTES", 1)
    monkeypatch.setattr(read_articles, "_UNINDEXED_SCAN_BYTES", 1)
    parts = plan_parts(expand([str(multistream / pattern)]), None)
    assert len(parts) >= 4
    assert titles_of(multistream / "out", parts) == TITLES


@pytest.mark.parametrize(
    ("megabytes", "parts"), [(3, 3), (64, 64), (320, 64), (1024, 64), (4096, 256)]
)
def test_a_dump_has_64_parts_of_1_to_16_mib(tmp_path, monkeypatch, megabytes, parts):
    stream = 256 << 10
    offsets = [i * stream for i in range(megabytes << 2)]
    monkeypatch.setattr(read_articles, "index_offsets", lambda raw: offsets)
    (tmp_path / "x-index.txt.bz2").touch()
    sizes = {"x-index.txt.bz2": 0, "x.xml.bz2": megabytes << 20}
    plan = plan_parts([InputFile(n, str(tmp_path / n), s, 0.0) for n, s in sizes.items()], None)
    ranges = [r for (r,) in plan]
    assert len(ranges) == parts
    assert len({r.work for r in ranges}) == 1
    assert [r.start for r in ranges] == [0, *(r.end for r in ranges[:-1])]


def test_a_small_dump_or_a_limit_is_one_part(multistream):
    inputs = expand([str(multistream / "x-*")])
    assert len(plan_parts(inputs, None)) == 1
    (ranges,) = plan_parts(inputs, 3)
    assert [r.start for r in ranges] == [None]


def test_an_article_is_whole(multistream):
    parts = plan_parts(expand([str(multistream / "x-multistream.xml.bz2")]), None)
    titles_of(multistream / "out", parts)
    row = ds.dataset(multistream / "out" / "articles").to_table().to_pylist()[0]
    assert row["url"] == "https://en.wikipedia.org/wiki/Article_0"
    assert row["lead"] == "The lead of Article 0 says something of it."
    assert len(row["id"]) == 16
