"""A CDX server (Common Crawl's, or pywb): one request per URL, so for a few URLs only."""

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from wikisum.crawl.errors import BadAnswer, BadLine
from wikisum.crawl.index.cdx import parse_server_line
from wikisum.pipeline.locate.keys import Lookup
from wikisum.pipeline.locate.reader import Answer, IndexReader, IndexSlice, by_key
from wikisum.pipeline.remote.read_ahead import read_ahead

MAX_ANSWER_BYTES = 16 << 20


def server_answers(task: IndexSlice, reader: IndexReader) -> Iterator[Answer]:
    """The server's answers to every `part_count`-th lookup; a failed request is a fault."""
    server = reader.server.replace("{crawl}", task.crawl)

    def ask(keyed: tuple[str, list[Lookup]]) -> Answer:
        answer = Answer(keyed[1], [], [])
        query = f"url={quote(keyed[1][0].url, safe='')}&output=json"
        url = f"{server}{'&' if '?' in server else '?'}{query}"
        try:
            lines = reader.remote.get(url, MAX_ANSWER_BYTES).splitlines()
        except BadAnswer as error:
            if error.reason != "http_404":  # the server's way to say that it has no capture
                answer.faults.append(error)
            return answer
        for line in lines:
            try:
                answer.entries.append(parse_server_line(line))
            except BadLine as error:
                answer.faults.append(error)
        return answer

    keys = islice(by_key(reader.lookups.between("", None)), task.part, None, task.part_count)
    for _, answer in read_ahead(ask, keys, reader.connections):
        yield answer
