"""The files inside an input: a tar archive's members, or the file itself, decompressed."""

import bz2
import contextlib
import gzip
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import IO, Any, BinaryIO, cast

from wikisum.crawl.errors import BadRecord
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile

_ARCHIVE = re.compile(r"\.(tar|tgz|tbz2|txz|tar\.(gz|bz2|xz))$")
_OPENERS: dict[str, Callable[[Any], Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
# What a damaged or incomplete file makes the readers of archives and compressed files raise.
_DAMAGE = (EOFError, tarfile.TarError, lzma.LZMAError, zlib.error, gzip.BadGzipFile)


def is_archive(name: str) -> bool:
    """Whether a file is a tar archive, by its name."""
    return _ARCHIVE.search(name.lower()) is not None


def opened(file: InputFile) -> Iterator[tuple[str, BinaryIO]]:
    """Yield the name and the bytes of each file in an archive, or of the file itself.

    Each must be read before the next one is asked for. Raises BadRecord (`truncated_file`) where
    an archive or a compressed file is damaged; see `checked` for damage met while reading.
    """
    with files.open_input(file.path) as raw:
        if not is_archive(file.name):
            yield plain_name(file.name), _decompressed(raw, file.name)
            return
        with checked(file.name), tarfile.open(fileobj=raw, mode="r|*") as archive:
            for member in archive:
                content = archive.extractfile(member)
                if content is not None:
                    yield f"{file.name}/{member.name}", cast(BinaryIO, content)


def _decompressed(raw: BinaryIO, name: str) -> BinaryIO:
    opener = next((o for end, o in _OPENERS.items() if name.endswith(end)), None)
    return cast(BinaryIO, opener(raw)) if opener else raw


def plain_name(name: str) -> str:
    """Return the name of a file without the suffix of its compression."""
    return next((name.removesuffix(end) for end in _OPENERS if name.endswith(end)), name)


@contextlib.contextmanager
def checked(name: str) -> Iterator[None]:
    """Turn the errors of damaged files into BadRecord (`truncated_file`)."""
    try:
        yield
    except _DAMAGE as error:
        detail = f"{name} is damaged or incomplete: {error}"
        raise BadRecord("truncated_file", detail) from error


def text_lines(raw: IO[bytes]) -> Iterator[tuple[int, str]]:
    """Yield the byte offset and the text of each line."""
    offset = 0
    for line in raw:
        yield offset, line.decode("utf-8", "replace")
        offset += len(line)
