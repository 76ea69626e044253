"""Read the support files of the original WikiSum: articles, their URLs, URLs of crawl files.

- `wiki_content.tfrecords-00000-of-01000`: TFRecords of articles, by a hash of the title;
- `wiki_urls.json-00000-of-01000`: article URL -> `{"refs": [URLs]}`, for the same articles;
- `NAME.metadata.json` for a WET file NAME: URL in it -> the shards whose articles refer to it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple

from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.crawl.original.json_entries import json_entries
from wikisum.crawl.original.tf_example import bytes_features
from wikisum.crawl.original.tfrecord import read_tfrecords
from wikisum.crawl.whitespace import normalize_whitespace, replace_surrogates

_SHARD = re.compile(r"-(\d+)-of-(\d+)$")


class Shard(NamedTuple):
    """The number of a file among `total` files of its kind."""

    number: int
    total: int


class Content(NamedTuple):
    """An article of `wiki_content`: lead and section texts have one paragraph per line.

    The lead is the text of the first section, whose heading is ignored; it may be empty.
    """

    url: str
    title: str
    lead: str
    sections: list[tuple[str, str]]
    offset: int


class Refs(NamedTuple):
    """The URLs of an article as in the file, cited ones and search results alike.

    `offset` is that of the article's URL.
    """

    article_url: str
    urls: list[str]
    offset: int


def shard_of(name: str) -> Shard | None:
    """Return the shard of a file name such as `...-00012-of-01000`, or None."""
    found = _SHARD.search(name)
    return Shard(int(found[1]), int(found[2])) if found and int(found[1]) < int(found[2]) else None


def split_of_shard(shard: Shard, tenths: Sequence[str]) -> str:
    """Return the split of a shard's articles, given the splits of each tenth of the shards."""
    return tenths[shard.number * 10 // shard.total]


def read_content(raw: BinaryIO) -> Iterator[Content | BadRecord]:
    """Yield the articles of a file of TFRecords, and a BadRecord with its offset for each fault.

    The reasons are those of `read_tfrecords` and `bytes_features`, `no_url` and `no_title`.
    """
    for record in read_tfrecords(raw):
        if isinstance(record, BadRecord):
            yield record
            continue
        try:
            yield _content(bytes_features(record.data), record.offset)
        except BadRecord as error:
            error.offset = record.offset
            yield error


def _content(features: dict[str, list[bytes]], offset: int) -> Content:
    text = {n: [v.decode("utf-8", "replace") for v in values] for n, values in features.items()}
    url, title = ((text.get(name) or [""])[0] for name in ("url", "title"))
    if not url or not title:
        raise BadRecord("no_title" if url else "no_url", f"an article without title or URL: {url}")
    headings = [normalize_whitespace(heading) for heading in text.get("section_titles", [])]
    bodies = [_lines(body) for body in text.get("section_texts", [])]
    headings += [""] * (len(bodies) - len(headings))
    sections = [(h, b) for h, b in zip(headings[1:], bodies[1:], strict=False) if b]
    return Content(url, title, bodies[0] if bodies else "", sections, offset)


def _lines(body: str) -> str:
    return "\n".join(line for line in map(normalize_whitespace, body.splitlines()) if line)


def read_refs(raw: BinaryIO) -> Iterator[Refs | BadLine]:
    """Yield the articles of a file of URLs, and a BadLine with its byte offset for each fault.

    An entry without refs costs only itself (`no_refs`). Where the JSON is damaged or cut off,
    nothing more can be read (`bad_json`).
    """
    try:
        for entry in json_entries(raw):
            yield _refs(*entry)
    except BadLine as error:
        yield error


def _refs(url: str, value: Any, offset: int) -> Refs | BadLine:
    urls = value.get("refs") if isinstance(value, dict) else None
    if not isinstance(urls, list) or not all(isinstance(u, str) for u in urls):
        return BadLine("no_refs", f"{replace_surrogates(url):.200} has no list of refs", offset)
    return Refs(replace_surrogates(url), [replace_surrogates(u) for u in urls], offset)


def metadata_urls(data: bytes) -> list[str]:
    """Return the URLs in the metadata of a crawl file. Raises BadLine if it is malformed."""
    plain: Any = None
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadLine("bad_line", f"not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise BadLine("bad_line", "not a JSON object")
    return list(plain)
