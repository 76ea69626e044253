import base64
import gzip
import hashlib

import pytest

from tests.builders import gzipped, warc_record
from wikisum.crawl.warc.one_record import read_record
from wikisum.crawl.warc.warc import PageRecord, Rejection

URL = "https://www.a.example/Page"
BODY = b"<p>A page of its own.</p>"
DIGEST = base64.b32encode(hashlib.sha1(BODY).digest()).decode()


def read(
    data: bytes, url: str = URL, digest: str = DIGEST, most: int = 1000
) -> PageRecord | Rejection:
    return read_record(data, url, 700, digest, most)


def test_the_page_has_its_place_in_the_file():
    data = gzipped(warc_record(URL, BODY))
    page = read(data)
    assert isinstance(page, PageRecord)
    assert (page.payload, page.offset, page.length) == (BODY, 700, len(data))


def test_a_record_need_not_be_compressed():
    data = warc_record(URL, BODY)
    assert read(data).length == len(data)


def test_spellings_of_the_url_do_not_matter():
    assert isinstance(read(gzipped(warc_record("http://a.example/Page/", BODY))), PageRecord)


@pytest.mark.parametrize("encoding", ["plain", "gzip", "chunked"])
def test_the_digest_may_be_of_the_body_in_any_coding(encoding):
    sent, headers = BODY, {}
    if encoding == "gzip":
        sent, headers = gzip.compress(BODY, mtime=0), {"http_Content_Encoding": "gzip"}
    if encoding == "chunked":
        sent = b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY)
        headers = {"http_Transfer_Encoding": "chunked"}
    data = gzipped(warc_record(URL, sent, **headers))
    of_sent = base64.b32encode(hashlib.sha1(sent).digest()).decode()
    for digest in (DIGEST, of_sent, "sha1:" + of_sent, "", "sha3:ab"):
        assert isinstance(read(data, digest=digest), PageRecord), digest
    assert read(data, digest=base64.b32encode(bytes(20)).decode()).reason == "wrong_digest"


def test_the_record_s_own_digest_is_held_against_it_too():
    wrong = "sha1:" + base64.b32encode(bytes(20)).decode()
    data = gzipped(warc_record(URL, BODY, WARC_Payload_Digest=wrong))
    assert read(data).reason == "wrong_digest"


RECORD = gzipped(warc_record(URL, BODY))
OTHER = gzipped(warc_record("http://a.example/other", BODY))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (RECORD + OTHER, "wrong_length"),
        (RECORD + OTHER[:9], "wrong_length"),
        (RECORD + b"\0" * 9, "wrong_length"),
        (RECORD[:-9], "truncated_record"),
        (RECORD[9:], "bad_record"),
        (OTHER[-20:] + RECORD, "bad_record"),
        (RECORD[:50] + b"\xff" * 9 + RECORD[59:], "bad_record"),
        (b"", "bad_record"),
        (b"<html>Slow down", "bad_record"),
        (OTHER, "wrong_record"),
        (gzipped(warc_record(URL, BODY, kind="request")), "wrong_record"),
        (gzipped(warc_record(URL, BODY, status="404 Not Found")), "http_status_404"),
        (gzipped(warc_record(URL, b"x" * 1001)), "page_too_large"),
    ],
)
def test_what_is_wrong_is_reported_with_the_place(data, reason):
    item = read(data)
    assert isinstance(item, Rejection)
    assert (item.reason, item.offset, item.url) == (reason, 700, URL)
