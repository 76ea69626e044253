import random

import pytest

from tests.fake_crawl import Faults, served
from wikisum.crawl.errors import BadAnswer
from wikisum.pipeline.remote import stream as remote_file
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.remote.stream import RemoteFile

DATA = random.Random(0).randbytes(100_000)


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setattr(remote_file, "RANGE_BYTES", 7_000)
    (tmp_path / "a.warc.gz").write_bytes(DATA)
    (tmp_path / "empty").write_bytes(b"")
    return tmp_path


def remote(url: str, **settings: object):
    return Access(RemoteSettings(roots=(url,), **settings), None, 1).remote()


def read(url: str, path: str, size: int) -> bytes:
    with RemoteFile(remote(url, first_pause_seconds=0.001), path) as raw:
        return b"".join(iter(lambda: raw.read(size), b""))


@pytest.mark.parametrize("size", [-1, 999, 7_000, 50_000])
def test_it_reads_as_the_file_on_disk(root, size):
    with served(root) as crawl:
        assert read(crawl.url, "a.warc.gz", size) == DATA
        assert crawl.count("a.warc.gz") == 1 + 15  # its size, and each range once


def test_faults_that_pass_change_nothing(root):
    with served(root, Faults(busy=0.2, reset=0.1, short=0.1)) as crawl:
        assert read(crawl.url, "a.warc.gz", 4096) == DATA


def test_an_empty_file_and_none(root):
    with served(root) as crawl:
        assert read(crawl.url, "empty", 10) == b""
        with pytest.raises(BadAnswer, match="404"):
            read(crawl.url, "none", 10)
