import io
import random

import pytest
from apache_beam.io.filesystemio import Downloader, DownloaderStream

from tests.builders import gzipped, stage_writer, warc_record
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.pages import read_records as crawl_records
from wikisum.pipeline.pages.plan import plan_scan
from wikisum.pipeline.pages.read_records import read_records
from wikisum.pipeline.pages.stage import SCAN
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings

AHEAD = 1 << 20


class Store(Downloader):
    """An object of a store, and how many of its bytes were asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.asked = 0

    @property
    def size(self) -> int:
        return len(self.data)

    def get_range(self, start: int, end: int) -> bytes:
        self.asked += end - start
        return self.data[start:end]

    def open(self, path: str) -> io.BufferedReader:
        return io.BufferedReader(DownloaderStream(self, read_buffer_size=AHEAD), AHEAD)


@pytest.mark.slow
def test_shares_of_an_object_in_a_store_ask_for_little_beside(tmp_path, monkeypatch):
    rng = random.Random(1)
    pages = [warc_record(f"http://{n}.example/", rng.randbytes(50_000)) for n in range(160)]
    store = Store(gzipped(*pages))
    monkeypatch.setattr(crawl_records.files, "open_input", store.open)
    file = InputFile("a.warc.gz", "gs://crawl/a.warc.gz", store.size, 0.0)
    access = Access(RemoteSettings(), None, 1)

    def read(share) -> list:
        with stage_writer(tmp_path, SCAN).part(0) as part:
            return list(read_records(share, bool, 1 << 20, access, part))

    ((whole,),) = plan_scan([file], store.size)
    items = read(whole)
    assert len(items) == 160
    store.asked = 0
    shares = [share for (share,) in plan_scan([file], store.size // 3 + 1)]
    parts = [read(share) for share in shares]
    assert [item for part in parts for item in part] == items
    assert all(len(part) > 50 for part in parts)
    assert store.asked < store.size + len(shares) * 3 * AHEAD
