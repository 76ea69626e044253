"""A ZipNum index: cluster.idx tells the blocks, each needed block is read once."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from wikisum.crawl.errors import BadAnswer, BadLine, BadRecord
from wikisum.crawl.index.cdx import MAX_BLOCK_BYTES, block_lines, entries_with
from wikisum.crawl.index.cluster import BlockLookup, needed_blocks, slice_of
from wikisum.crawl.index.ranges import Span
from wikisum.pipeline.locate.keys import Lookup
from wikisum.pipeline.locate.reader import Answer, IndexReader, IndexSlice, by_key
from wikisum.pipeline.remote.spans import read_spans


def zipnum_answers(task: IndexSlice, reader: IndexReader) -> Iterator[Answer]:
    """The answers of the blocks of a slice; a key may have one of several blocks.

    Raises BadAnswer or BadLine if cluster.idx cannot be read; a block that cannot be is a fault.
    """
    folder = f"cc-index/collections/{task.crawl}/indexes"
    path = f"{folder}/cluster.idx"
    size = reader.remote.size(path)

    def read(offset: int, length: int) -> bytes:
        length = min(length, size - offset)
        return reader.remote.read(path, offset, length) if length > 0 else b""

    def span_of(needed: BlockLookup[Lookup]) -> Span:
        block = needed.block
        return Span(f"{folder}/{block.file}", block.offset, block.length)

    with _naming(path):
        start, end, low, high = slice_of(read, size, task.part, task.part_count)
    lookups = reader.lookups.between(low, high)
    key_count = max(1, reader.lookups.total // task.part_count)
    needed = _in_order(needed_blocks(read, start, end, size, lookups, key_count), path)
    for block, data in read_spans(
        reader.remote, reader.connections, needed, span_of, MAX_BLOCK_BYTES
    ):
        yield from _block_answers(block.keys, data)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Name the file in the message of a BadLine."""
    try:
        yield
    except BadLine as error:
        raise BadLine(error.reason, f"{path}: {error}", error.offset) from error


def _in_order(blocks: Iterable[BlockLookup[Lookup]], path: str) -> Iterator[BlockLookup[Lookup]]:
    """Yield the blocks. Raises BadLine, also for one that lies before the last of its file."""
    file, offset = "", 0
    with _naming(path):
        for needed in blocks:
            block = needed.block
            if block.file == file and block.offset < offset:
                raise BadLine("bad_index", f"the blocks of {file} are not in order")
            file, offset = block.file, block.offset
            yield needed


def _block_answers(lookups: list[Lookup], data: bytes | BadAnswer) -> list[Answer]:
    answers = {surt: Answer(same, [], []) for surt, same in by_key(lookups)}
    try:
        if isinstance(data, BadAnswer):
            raise data
        for surt, found in entries_with(block_lines(data), answers):
            if isinstance(found, BadLine):
                answers[surt].faults.append(found)
            else:
                answers[surt].entries.append(found)
    except (BadAnswer, BadRecord) as error:
        for answer in answers.values():
            answer.faults.append(error)
    return list(answers.values())
