import base64
import hashlib

import pytest

from wikisum.crawl.warc.digests import is_digest_of

BODY = b"a page"
SHA1 = hashlib.sha1(BODY)
BASE32 = base64.b32encode(SHA1.digest()).decode()


@pytest.mark.parametrize(
    "given",
    [
        BASE32,
        f"sha1:{BASE32}",
        f"SHA1:{BASE32.lower()}",
        f"sha1:{SHA1.hexdigest()}",
        f"sha-1:{SHA1.hexdigest().upper()}",
        f"md5:{hashlib.md5(BODY).hexdigest()}",
        "sha256:" + base64.b32encode(hashlib.sha256(BODY).digest()).decode(),
        "sha256:" + base64.b32encode(hashlib.sha256(BODY).digest()).decode().rstrip("="),
    ],
)
def test_one_content_of_several_will_do(given):
    assert is_digest_of(given, [b"other", BODY]) is True
    assert is_digest_of(given, [b"other"]) is False


@pytest.mark.parametrize("given", ["", "sha1:", "crc32:12345678", "sha1:ABC", "sha1:" + "!" * 32])
def test_what_cannot_be_known(given):
    assert is_digest_of(given, [BODY]) is None
