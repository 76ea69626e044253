import pytest

from tests.builders import article, stage_writer
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.shard import is_full, is_selected, write_article
from wikisum.pipeline.articles.stage import READ_ARTICLES
from wikisum.pipeline.engine.shards import read_rows


def test_without_a_list_every_title_is_selected():
    assert is_selected("Anything", ArticleSettings())


@pytest.mark.parametrize(
    ("title", "expected"),
    [("Tavin Bridge", True), ("Tavin_Bridge", True), ("Tavin", False), ("", False)],
)
def test_a_list_selects_its_titles_in_any_spelling(title, expected, tmp_path):
    path = tmp_path / "titles.txt"
    path.write_text("Osterby\n\n  Tavin_Bridge \n")
    assert is_selected(title, ArticleSettings(titles=str(path))) is expected


def test_a_part_is_full_at_the_limit(tmp_path):
    with stage_writer(tmp_path, READ_ARTICLES).part(0) as part:
        for number in range(3):
            assert is_full(part, ArticleSettings(limit=2)) is (number >= 2)
            assert not is_full(part, ArticleSettings())
            write_article(part, article(id=str(number)), [], "dump")


def test_bad_urls_are_dropped_beside_their_article(tmp_path):
    made = article(citations=["http://a.example/", "http://b.example/"])
    with stage_writer(tmp_path, READ_ARTICLES).part(0) as part:
        write_article(part, made, [("http:", "no_host")], "dump.xml")
    result = part.result()
    assert result.counts == {"articles_out": 1, "citations_out": 2, "dropped_no_host": 1}
    (row,) = read_rows(str(tmp_path / "dropped/dropped-articles-00000-of-00001.parquet"))
    assert (row["kind"], row["article"], row["reason"]) == ("reference", made.id, "no_host")
    assert (row["file"], row["detail"], row["url"]) == ("dump.xml", "http:", None)
