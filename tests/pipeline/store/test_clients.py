"""Clients of buckets; none of them connects before it is used."""

import pytest

from wikisum.pipeline.store import clients


@pytest.fixture(autouse=True)
def _no_clients(monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
    for make in (clients._s3, clients._gcs):
        make.cache_clear()


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_path_is_a_bucket_and_a_key(scheme):
    assert clients.located(f"{scheme}://bucket/a/b c.parquet")[1] == "a/b c.parquet"
    assert clients.located(f"{scheme}://bucket/a/")[1] == "a"
    assert clients.located(f"{scheme}://bucket")[1] == ""


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_there_is_one_client_per_bucket(scheme):
    one, other = (clients.located(f"{scheme}://bucket/{key}")[0] for key in "ab")
    assert one is other
    assert clients.located(f"{scheme}://another/a")[0] is not one


def test_another_endpoint_is_another_client(monkeypatch):
    one = clients.located("s3://bucket/a")[0]
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:2")
    other = clients.located("s3://bucket/a")[0]
    assert other is not one
    assert other.config["endpoint"] == "http://127.0.0.1:2"
