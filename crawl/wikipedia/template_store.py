"""The templates of a dump in one SQLite file: written once, read by every worker."""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from wikisum.crawl.wikipedia.expand import simple_body, template_key

TEMPLATE_NAMESPACE = 10
MAX_CACHED = 4_096


def template_of(title: str, text: str) -> tuple[str, str] | None:
    """Return the (key, body) of a template's page, or None if it cannot be expanded to prose.

    Subpages such as `/doc` and `/sandbox` are no templates of articles.
    """
    name = title.partition(":")[2]
    if not name or name.endswith(("/doc", "/sandbox", "/testcases")):
        return None
    body = simple_body(text)
    return None if body is None else (template_key(name), body)


def write_store(path: str, templates: Iterable[tuple[str, str]]) -> int:
    """Write a new store of (key, body) pairs, the last of a key wins; return how many it has."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("CREATE TABLE template (key TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID")
        connection.execute("BEGIN")
        connection.executemany("INSERT OR REPLACE INTO template VALUES (?, ?)", templates)
        connection.execute("COMMIT")
        ((count,),) = connection.execute("SELECT COUNT(*) FROM template")
    finally:
        connection.close()
    return int(count)


class TemplateStore(Mapping[str, str]):
    """The bodies of templates by `template_key`; sent to other processes as the path of its file.

    Bodies that were read lately are kept in memory.
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)

    def __reduce__(self) -> tuple[type["TemplateStore"], tuple[str]]:
        return TemplateStore, (self._path,)

    def __getitem__(self, key: str) -> str:
        body = _body(self._path, key)
        if body is None:
            raise KeyError(key)
        return body

    def __iter__(self) -> Iterator[str]:
        return (key for (key,) in _connection(self._path).execute("SELECT key FROM template"))

    def __len__(self) -> int:
        return _count(self._path)


@cache
def _connection(path: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, check_same_thread=False)


@cache
def _count(path: str) -> int:
    ((count,),) = _connection(path).execute("SELECT COUNT(*) FROM template")
    return int(count)


@lru_cache(maxsize=MAX_CACHED)
def _body(path: str, key: str) -> str | None:
    row = _connection(path).execute("SELECT body FROM template WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])
