import pytest

from tests import tfrecords
from tests.builders import stage_writer
from wikisum.pipeline.articles.original import ReadWikisum, ShardFiles, is_original, pair_files
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import READ_ARTICLES
from wikisum.pipeline.engine.files import InputFile, expand
from wikisum.pipeline.engine.shards import read_rows


def named(*names: str) -> list[InputFile]:
    return [InputFile(name, f"/in/{name}", 10, 0.0) for name in names]


def test_files_are_paired_by_the_number_of_their_shard():
    contents = named("c-00000-of-00002", "c-00001-of-00002")
    urls = named("u-00001-of-00002", "u-00000-of-00002")
    pairs = [ShardFiles(contents[0], urls[1]), ShardFiles(contents[1], urls[0])]
    assert pair_files(contents, urls, ArticleSettings()) == [[pairs[0]], [pairs[1]]]
    assert pair_files(contents, urls, ArticleSettings(limit=5)) == [pairs]
    assert pairs[0].work == 20


def test_one_file_of_each_is_a_pair_whatever_the_names():
    assert len(pair_files(named("c"), named("u-00000-of-00001"), ArticleSettings())) == 1


@pytest.mark.parametrize(
    ("contents", "urls", "split", "message"),
    [
        (["c-00000-of-00002", "d"], ["u-00000-of-00002"], None, "--urls names no file for d"),
        (["c-00000-of-00002"], [], None, "--urls names no file for c-00000-of-00002"),
        (["c-00000-of-00002"], ["u-00001-of-00002", "v"], None, "--urls names no file for c"),
        (["c"], ["u"], "t2t", r"c has no shard number .* --split t2t needs"),
    ],
)
def test_a_file_without_a_counterpart_is_a_wrong_call(contents, urls, split, message):
    with pytest.raises(ValueError, match=message):
        pair_files(named(*contents), named(*urls), ArticleSettings(split=split))


def test_the_kind_of_the_files_is_seen_in_the_first_and_the_last(tmp_path):
    (tmp_path / "a").write_bytes(tfrecords.content("u", "T", "Lead."))
    (tmp_path / "b").write_bytes(b"<mediawiki/>")
    first, last = expand([str(tmp_path / "a")]), expand([str(tmp_path / "b")])
    assert is_original(first)
    assert not is_original(last)
    assert not is_original([])
    for both in ([*first, *last], [*last, *first]):
        with pytest.raises(ValueError, match=r"names both \S*a, a file of TFRecords, and \S*b,"):
            is_original(both)


def read(tmp_path, settings: ArticleSettings, name: str = "00001-of-00010"):
    """The counts, articles and dropped rows of one shard of four articles."""
    contents = [tfrecords.content(f"http://w/{t}", t, "" if t == "C" else f"The lead of {t}.",
                                  ("Use", "It is used.")) for t in "ABCD"]  # fmt: skip
    urls = {"http://w/A": ["http://a.example/", "ftp://b"], "http://w/X": [], "http://w/C": []}
    (tmp_path / f"c-{name}").write_bytes(b"".join(contents))
    (tmp_path / f"u-{name}").write_bytes(tfrecords.refs(urls))
    files = (expand([str(tmp_path / f"{kind}-*")])[0] for kind in "cu")
    result = ReadWikisum(stage_writer(tmp_path, READ_ARTICLES), settings)(0, [ShardFiles(*files)])
    assert result.extra == {"language": "en"}
    folders = "articles/articles-", "dropped/dropped-articles-"
    paths = (str(tmp_path / f"{folder}00000-of-00001.parquet") for folder in folders)
    return result.counts, *(list(read_rows(path)) for path in paths)


def test_a_shard_by_hand(tmp_path):
    counts, articles, dropped = read(tmp_path, ArticleSettings())
    assert counts["pages_in"] == 4
    assert counts["articles_out"] == 3
    assert counts["articles_without_refs"] == 2
    assert [a["title"] for a in articles] == ["A", "B", "D"]
    assert articles[0]["lead"] == "The lead of A."
    assert articles[0]["sections"] == [{"title": "Use", "level": 2, "text": "It is used."}]
    assert articles[0]["citations"] == ["http://a.example/"]
    kinds = [(row["kind"], row["detail"]) for row in dropped]
    assert kinds == [
        ("reference", "ftp://b"),
        ("article", "C has no text in its first section"),
        ("record", "http://w/X"),
    ]
    assert dropped[2]["reason"] == "unknown_article"


def test_a_limit_ends_the_reading_and_leaves_the_other_urls(tmp_path):
    counts, articles, dropped = read(tmp_path, ArticleSettings(limit=1))
    assert (counts["pages_in"], len(articles)) == (1, 1)
    assert [row["kind"] for row in dropped] == ["reference"]


def test_a_list_of_titles_skips_the_others(tmp_path):
    (tmp_path / "titles").write_text("D\n")
    counts, articles, _ = read(tmp_path, ArticleSettings(titles=str(tmp_path / "titles")))
    assert (counts["skipped_not_selected"], [a["title"] for a in articles]) == (3, ["D"])


@pytest.mark.parametrize(
    ("split", "name", "expected"),
    [("t2t", "00000-of-00010", "validation"), ("t2t", "00001-of-00010", "test"),
     ("t2t-nominal", "00001-of-00010", "train")],
)  # fmt: skip
def test_the_split_is_that_of_the_shard(split, name, expected, tmp_path):
    _, articles, _ = read(tmp_path, ArticleSettings(split=split), name)
    assert {a["split"] for a in articles} == {expected}
