"""The crawl files that `--warcs` names: by path, by glob, or in the lists that a crawl has."""

import gzip
import os
import re
import zlib
from collections.abc import Iterator

from wikisum.crawl.errors import BadLine
from wikisum.crawl.original.wikisum_files import metadata_urls
from wikisum.crawl.url_filter import UrlFilter
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.remote.access import Access, is_http
from wikisum.pipeline.wanted.url_filter import is_wanted

_LIST = re.compile(r"\.paths(\.gz)?$")
MAX_LIST_BYTES = 64 << 20
METADATA_SUFFIX = ".metadata.json"


def crawl_files(
    patterns: list[str], root: str | None = None, access: Access | None = None
) -> list[InputFile]:
    """The crawl files, sorted by name, each once; those of `*.paths[.gz]` lists among them.

    A list has one path per line, relative to `root`, or else to the nearest folder, at or above the
    list, that holds the first of them. Web addresses must be under one of the roots of `access`.
    The size of a remote file is unknown: 0. Raises FileNotFoundError for a file that does not
    exist, ValueError for a malformed list or an address elsewhere, BadAnswer for a list that a
    server does not give.
    """
    found: list[InputFile] = []
    for url in (p for p in patterns if is_http(p)):
        base, name = _under_root(url, access)
        if _LIST.search(name):
            data = access.remote().get(name, MAX_LIST_BYTES) if access else b""
            found += _listed(InputFile(name, url, 0, 0.0), data, base)
        else:
            found.append(InputFile(name, url, 0, 0.0))
    try:
        named = files.expand([p for p in patterns if not is_http(p)])
    except FileNotFoundError as error:
        raise FileNotFoundError(f"--warcs: {error}") from error
    found += files.expand([f.path for f in named if not _LIST.search(f.path)])
    for file in (f for f in named if _LIST.search(f.path)):
        found += _listed(file, files.read_bytes(file.path), root)
    return sorted({file.path: file for file in found}.values())


def _under_root(url: str, access: Access | None) -> tuple[str, str]:
    """The root that an address lies under, and the rest of it."""
    roots = access.settings.roots if access else ()
    for root in (r if r.endswith("/") else f"{r}/" for r in roots):
        if url.startswith(root):
            return root, url.removeprefix(root)
    server = url[: url.index("/", url.index("://") + 3) + 1] if url.count("/") > 2 else url
    raise ValueError(
        f"{url} is not under --crawl-root ({', '.join(roots)}): name its server too, "
        f"--crawl-root {server}"
    )


def _listed(file: InputFile, data: bytes, root: str | None) -> Iterator[InputFile]:
    for number, line in enumerate(_lines(file, data), 1):
        if not line.strip():
            continue
        name = line.strip()
        where = f"{file.path}: line {number}"
        if files.is_remote(name) or name.startswith("/") or ".." in name.split("/"):
            raise ValueError(f"{where} is not a relative path: {name[:200]}")
        if root is None:
            root = _root(file, name, where)
        path = files.join(root, name)
        if files.is_remote(path):  # asking for the size of each would take hours
            yield InputFile(name, path, 0, 0.0)
        elif not os.path.isfile(path):
            raise FileNotFoundError(f"{where}: no such file: {path}")
        else:
            stat = os.stat(path)
            yield InputFile(name, path, stat.st_size, stat.st_mtime)


def _lines(file: InputFile, data: bytes) -> list[str]:
    try:
        text = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        return text.decode().splitlines()
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{file.path} is not a list of paths: {error}") from error


def _root(file: InputFile, name: str, where: str) -> str:
    """The nearest folder at or above the list that holds the file `name`."""
    start = folder = os.path.dirname(file.path if files.is_remote(file.path) else
                                     os.path.abspath(file.path))  # fmt: skip
    while True:
        if files.exists(files.join(folder, name)):
            return folder
        above = os.path.dirname(folder)
        if above == folder or folder.endswith("://"):
            raise FileNotFoundError(
                f"{where}: neither in nor above {start}: {name} (name its root with --crawl-root)"
            )
        folder = above


def may_hold(keys: UrlFilter, folder: str, name: str) -> bool:
    """Whether the crawl file may hold a wanted page, by its metadata in `folder`.

    A file without metadata, or with some that cannot be read, may.
    """
    path = files.join(folder, os.path.basename(name) + METADATA_SUFFIX)
    if not files.exists(path):
        return True
    with files.open_input(path) as raw:
        try:
            urls = metadata_urls(raw.read())
        except BadLine:
            return True
    return any(is_wanted(keys, url) for url in urls)
