import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import document
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.live.missing import document_keys, is_among, missing_urls
from wikisum.pipeline.records import DOCUMENT, WANTED, WantedUrl

KEYS = st.lists(st.integers(0, 20) | st.integers(2**64 - 3, 2**64 - 1), max_size=12)


@pytest.mark.slow
@given(KEYS, KEYS)
def test_keys_are_among_others_as_in_a_set(keys, have):
    found = is_among(np.array(keys, np.uint64), np.unique(np.array(have, np.uint64)))
    assert found.tolist() == [key in have for key in keys]


def shards(tmp_path, schema, *parts: list) -> list[str]:
    for number, rows in enumerate(parts):
        with open_shard(str(tmp_path), f"{number}.parquet", schema, {}) as shard:
            for row in rows:
                shard.write(row)
    return [str(tmp_path / f"{number}.parquet") for number in range(len(parts))]


def wanted(url: str, reason: str | None = None) -> WantedUrl:
    return WantedUrl(url, "a", "citation", 0, reason)


def test_document_keys_are_sorted_and_unique(tmp_path):
    urls = ["http://a/", "http://b/", "http://c/"]
    paths = shards(tmp_path, DOCUMENT, [document(u) for u in urls], [document("http://b/")])
    assert document_keys(paths).tolist() == sorted(map(url_key, urls))
    assert len(document_keys([])) == 0


@pytest.mark.parametrize("has_documents", [True, False])
def test_missing_urls_by_hand(has_documents, tmp_path):
    first = [wanted("http://a/"), wanted("http://a/"), wanted("http://b/"), wanted("http://c/")]
    second = [wanted("http://w/", "wikipedia_itself"), wanted("http://x/")]
    wanted_paths = shards(tmp_path / "wanted", WANTED, first, second)
    documents = shards(tmp_path / "documents", DOCUMENT, [document("http://b/")])
    found = list(missing_urls(wanted_paths, documents if has_documents else []))
    there = [] if has_documents else ["http://b/"]
    assert found == ["http://a/", *there, "http://c/", "http://x/"]
