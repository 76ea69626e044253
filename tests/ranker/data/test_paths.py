from pathlib import Path

import pytest

from wikisum.ranker.data.paths import is_remote


@pytest.mark.parametrize("path", ["s3://bucket/run", "gs://bucket", "https://a.example/x"])
def test_urls_are_remote(path):
    assert is_remote(path)


@pytest.mark.parametrize("path", ["out", "/data/out", "C:/out", "", Path("s3://bucket/run")])
def test_paths_are_local(path):
    assert not is_remote(path)
