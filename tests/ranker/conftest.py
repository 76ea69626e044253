"""Real paragraphs to rank."""

import json
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from wikisum.crawl.paragraphs import drop_reason
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages
from wikisum.crawl.wikipedia.reader import parse_plain

ARTICLES = 12


class Pool(NamedTuple):
    """An article and the paragraphs of its search results."""

    title: str
    lead: str
    paragraphs: list[str]


@pytest.fixture(scope="session")
def real_pools(real_data) -> list[Pool]:
    """A dozen real articles with the prose of the pages that a search gave for them."""
    lines = (real_data / "wikigen-search-dev.jsonl").read_text().splitlines()
    urls_of = {found["title"]: found["urls"] for found in map(json.loads, lines)}
    leads = {}
    with open(real_data / "wikigen-dev.xml.bz2", "rb") as file:
        for page in read_pages(open_dump(file)):
            if isinstance(page, Page) and page.title in urls_of:
                leads[page.title] = parse_plain(page.text).sections[0][2]
            if len(leads) == ARTICLES:
                break
    wanted = {canonical_url(url) for title in leads for url in urls_of[title]}
    texts = {}
    with open(real_data / "wikigen-dev.warc.wet.gz", "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "conversion":
                url = canonical_url(record.rec_headers.get_header("WARC-Target-URI"))
                if url in wanted:
                    texts[url] = record.content_stream().read().decode()
    pools = []
    for title, lead in leads.items():
        found = [texts.get(canonical_url(url), "") for url in urls_of[title]]
        paragraphs = [p for text in found for p in text.split("\n") if drop_reason(p) is None]
        pools.append(Pool(title, lead, paragraphs))
    return pools
