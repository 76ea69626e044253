"""CNN/DailyMail: the chunks of See et al. 2017 (`.bin`), its stories, or tables of it."""

import hashlib
import re
import struct
from collections.abc import Iterator
from typing import Any, BinaryIO

from wikisum.crawl.errors import BadRecord, DataError
from wikisum.crawl.original.tf_example import bytes_features
from wikisum.pipeline.corpora.entry import Entry, SourceText
from wikisum.pipeline.corpora.rows import text_of

MAX_EXAMPLE_BYTES = 64 << 20
HIGHLIGHT = "@highlight"
_LENGTH = struct.Struct("<q")
_SENTENCE = re.compile(r"<s>(.*?)</s>", re.DOTALL)


def read_chunk(name: str, raw: BinaryIO) -> Iterator[tuple[int, Entry | DataError]]:
    """Yield the byte offset and the entry of each example of a chunk.

    An example is its length (64 bits, little-endian) and a tensorflow.Example with `article` and
    `abstract`, whose sentences stand between `<s>` and `</s>`. Behind a wrong length
    (`bad_example`) or the end of a cut file (`truncated_file`) nothing more can be read.
    """
    offset = 0
    while head := raw.read(_LENGTH.size):
        length = _LENGTH.unpack(head)[0] if len(head) == _LENGTH.size else 0
        if len(head) == _LENGTH.size and not 0 < length <= MAX_EXAMPLE_BYTES:
            detail = f"{name}: no length of an example at byte {offset}"
            yield offset, BadRecord("bad_example", detail, offset)
            return
        data = raw.read(length)
        if len(head) < _LENGTH.size or len(data) < length:
            detail = f"{name} ends within the example at byte {offset}"
            yield offset, BadRecord("truncated_file", detail, offset)
            return
        yield offset, _entry_of(data)
        offset += _LENGTH.size + length


def _entry_of(data: bytes) -> Entry | DataError:
    try:
        features = bytes_features(data)
    except BadRecord as error:
        return error
    article, abstract = (
        b" ".join(features.get(name, [])).decode("utf-8", "replace")
        for name in ("article", "abstract")
    )
    return Entry("", "\n".join(_SENTENCE.findall(abstract)) or abstract, [SourceText(article)])


def story_entry(text: str) -> Entry:
    """Return the entry of a story: its text, and behind each `@highlight` a summary sentence."""
    article, *highlights = re.split(rf"^{HIGHLIGHT}[ \t]*$", text, flags=re.MULTILINE)
    return Entry("", "\n".join(" ".join(h.split()) for h in highlights), [SourceText(article)])


def story_key(url: str) -> str:
    """Return the name of the story with that URL, without `.story`: its SHA-1."""
    return hashlib.sha1(url.encode()).hexdigest()


def row_entry(row: dict[str, Any]) -> Entry:
    """Return the entry of a row with `article`, `highlights` and perhaps `id`. Raises BadLine."""
    name = row.get("id")
    documents = [SourceText(text_of(row, "article"))]
    return Entry("", text_of(row, "highlights"), documents, name if isinstance(name, str) else None)
