import pytest

from tests.builders import article
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import (
    ARTICLE,
    DROPPED,
    EXAMPLE,
    WANTED,
    Dropped,
    Example,
    SourceDocument,
    WantedUrl,
)  # fmt: skip
from wikisum.pipeline.validate.fates import fate_faults

EXAMPLES, DROPS = "examples/examples-0.parquet", "dropped/dropped-0.parquet"
SCHEMAS = {"articles": ARTICLE, "wanted": WANTED, "examples": EXAMPLE, "dropped": DROPPED}


def wanted(article_id: str, url: str) -> WantedUrl:
    return WantedUrl(url, article_id, "citation", 0)


def example(article_id: str, *urls: str) -> Example:
    documents = [SourceDocument(u, "citation", 0, "f", 0, "d", "t", 0.0) for u in urls]
    return Example(article_id, "T", "u", "lead", [], documents, [])


def dropped(kind: str, article_id: str, url: str | None = None, stage: str = "examples") -> Dropped:
    return Dropped(kind, article_id, url, stage, "reason")


WHOLE = {
    "articles": [article(id="a"), article(id="b")],
    "wanted": [wanted("a", "u1"), wanted("a", "u2"), wanted("b", "u1")],
    "examples": [example("a", "u1")],
    "dropped": [
        dropped("article", "b"),
        dropped("reference", "a", "u2"),
        dropped("reference", "b", "u1"),
    ],
}


def faults(tmp_path, max_named: int = 20, **more: list) -> list[str]:
    """The faults of the whole dataset with other rows in some folders."""
    rows = {}
    for folder, records in {**WHOLE, **more}.items():
        path = f"{folder}/{folder}-0.parquet"
        with open_shard(str(tmp_path), path, SCHEMAS[folder], {}) as shard:
            for record in records:
                shard.write(record)
        rows[path] = len(records)
    found = list(fate_faults(Workspace(str(tmp_path)), rows, max_named, None))
    assert all(kind == "fate" for kind, _ in found)
    return [line for _, line in found]


def test_every_article_and_pair_with_one_fate_is_sound(tmp_path):
    assert faults(tmp_path) == []


def test_rows_that_are_no_fate_do_not_count(tmp_path):
    """Neither what the first stage dropped, nor records, nor a reference without a URL."""
    more = [
        dropped("article", "z", stage="articles"),
        dropped("reference", "a", "u1", stage="articles"),
        dropped("record", "a", "u1"),
        dropped("reference", "a"),
    ]
    assert faults(tmp_path, dropped=[*WHOLE["dropped"], *more]) == []


@pytest.mark.parametrize(
    ("folder", "records", "lines"),
    [
        ("examples", [], ["article a: has 0 fates, not 1", "reference a u1: has 0 fates, not 1"]),
        (
            "dropped",
            [*WHOLE["dropped"], dropped("article", "a")],
            [f"article a: has 2 fates, not 1, in {EXAMPLES}, in {DROPS}"],
        ),
        (
            "dropped",
            [*WHOLE["dropped"], dropped("reference", "b", "u3")],
            [f"reference b u3: has 1 fates, not 0, in {DROPS}"],
        ),
    ],
)
def test_what_has_no_fate_two_or_an_unexpected_one_is_named(folder, records, lines, tmp_path):
    assert sorted(faults(tmp_path, **{folder: records})) == lines


def test_beyond_the_limit_faults_are_listed_by_key(tmp_path):
    named, *keys = faults(tmp_path, 1, examples=[])
    names = ["article a", "reference a u1"]
    first = next(n for n in names if named == f"{n}: has 0 fates, not 1")
    (other,) = set(names) - {first}
    assert keys == [f"key {url_key(other):016x}: has 0 fates, not 1"]
