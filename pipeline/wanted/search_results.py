"""Search results out of JSON Lines, one line per article title. No Beam, no files."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from wikisum.crawl.errors import BadLine
from wikisum.crawl.whitespace import replace_surrogates


class SearchResult(NamedTuple):
    """The URLs that a search engine returned for a title, best first, as written in a line."""

    file: str
    offset: int
    title: str
    urls: list[str]


def read_search_results(lines: Iterable[bytes], file: str = "") -> Iterator[SearchResult | BadLine]:
    """Yield the search results of JSON Lines with `title`, `query` and `urls`; bad lines as values.

    A line may also be an object of the original WikiSum files: article URL -> {"refs": [URLs]}.
    `file` is the name that the results carry; offsets are bytes from the first line's start.
    """
    offset = 0
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield from _results(json.loads(line), file, offset)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                yield BadLine("bad_line", f"line {number}: {_fault(error)}", offset)
        offset += len(line)


def _fault(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"has no {error}"
    return f"not JSON: {error}" if isinstance(error, ValueError) else f"wrong form: {error}"


def _results(parsed: dict, file: str, offset: int) -> Iterator[SearchResult]:
    if "urls" in parsed or "title" in parsed:
        title, urls = _text(parsed["title"]), [_text(u) for u in parsed["urls"]]
        yield SearchResult(file, offset, title, urls)
        return
    if not parsed:
        raise TypeError("neither title and urls nor article URLs with refs")
    for url, value in parsed.items():
        title = replace_surrogates(unquote(urlsplit(url).path.rpartition("/wiki/")[2]))
        yield SearchResult(file, offset, title, [_text(u) for u in value["refs"]])


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a string, not {value!r:.40}")
    return replace_surrogates(value)
