"""Read the one record that an index says lies in some bytes of a crawl file."""

import io

from wikisum.crawl.urls import is_same_page
from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures


def read_record(
    data: bytes,
    url: str,
    offset: int,
    digest: str,
    max_payload_bytes: int,
    keep_truncated: bool = False,
) -> PageRecord | Rejection:
    """Read the page in `data`, which should be the one record of `url`, at `offset` in its file.

    Reasons of a Rejection: those of `read_captures`, and `wrong_length` (the bytes are not one
    whole record), `wrong_record` (it is of another URL).
    """
    items = list(
        read_captures(
            io.BytesIO(data),
            max_payload_bytes=max_payload_bytes,
            index_digest=digest,
            keep_truncated=keep_truncated,
        )
    )
    if not items:
        return Rejection(url, "wrong_record", offset, "it is not a page")
    item = items[0]
    if isinstance(item, Rejection):
        reason = "bad_record" if item.reason == "not_a_warc" else item.reason
        return item._replace(url=url, reason=reason, offset=offset)
    if item.offset != 0 or item.length != len(data):
        detail = f"a record has bytes {item.offset} to {item.offset + item.length} of {len(data)}"
        return Rejection(url, "wrong_length", offset, detail)
    if not is_same_page(item.url, url):
        return Rejection(url, "wrong_record", offset, f"it is the record of {item.url}")
    return item._replace(offset=offset)
