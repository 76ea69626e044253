"""What validation and test share with train: pages, and paragraphs that are nearly the same."""

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

from wikisum.crawl.clones import shingles
from wikisum.crawl.tokens import terms
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.part_writer import PartWriter
from wikisum.pipeline.engine.shards import ShardFile, read_each
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.wanted.url_filter import Keys, distinct_keys

MAX_KEYS = 4_000_000
_NO_KEYS: Keys = np.empty(0, np.uint64)
_KINDS = ("url", "paragraph")
_SHINGLE_WORDS = 5
_SKETCH_HASHES = 4


class Key(NamedTuple):
    """A page or a paragraph's sketch that an example holds.

    `kind` names the split too: `train_url`, `train_paragraph`, `test_url` ...
    """

    kind: str
    key: Annotated[int, pa.uint64()]


def near_duplicate_key(text: str) -> int:
    """A 64-bit number that paragraphs with nearly the same words in nearly the same order share.

    It stands for the 4 least hashes of the runs of 5 words: two paragraphs share it with about
    the 4th power of the share of runs that they have in common (a MinHash sketch; Broder 1997).
    """
    words = terms(text)
    runs = shingles(words, min(_SHINGLE_WORDS, max(len(words), 1)))
    hashes = sorted({crc32(" ".join(run).encode()) for run in runs})[:_SKETCH_HASHES]
    digest = hashlib.blake2b(repr(hashes).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def write_keys(part: PartWriter, split: str, examples: pa.Table) -> None:
    """Write the keys of the pages and paragraphs of some examples of a split."""
    for row in examples.select(["documents", "paragraphs"]).to_pylist():
        for document in row["documents"]:
            part.write(Key(f"{split}_url", url_key(document["url"])))
        for paragraph in row["paragraphs"]:
            part.write(Key(f"{split}_paragraph", near_duplicate_key(paragraph["text"])))
        part.ticker.add(items=1, work=1)


def leakage(workspace: Workspace, shards: Sequence[ShardFile]) -> dict[str, Any]:
    """Distinct pages and paragraphs of validation and test, and how many of them train has too.

    `shards` have the keys. Of more than 4 million a part is taken by value, the same part of every
    split.
    """
    one_in = max(1, -(-sum(shard.rows for shard in shards) // MAX_KEYS))
    found: dict[str, list[Keys]] = defaultdict(list)
    paths = [workspace.path(shard.path) for shard in shards]
    for keys_of in read_each(lambda path: list(_keys(path, one_in)), paths):
        for kind, keys in keys_of:
            found[kind].append(keys)
    result: dict[str, Any] = {"one_key_in": one_in}
    for kind in _KINDS:
        distinct = {
            split: distinct_keys(np.concatenate([_NO_KEYS, *found.pop(f"{split}_{kind}", [])]))
            for split in SPLITS
        }
        for split in SPLITS[1:]:
            shared = np.intersect1d(distinct["train"], distinct[split], assume_unique=True)
            result[f"{split}_{kind}s"] = len(distinct[split])
            result[f"{split}_{kind}s_in_train"] = len(shared)
    return result


def _keys(path: str, one_in: int) -> Iterator[tuple[str, Keys]]:
    """Yield each kind with its distinct keys in a file, as columns: there are millions."""
    with files.open_input(path) as raw:
        table = pq.ParquetFile(raw, read_dictionary=["kind"]).read()
    keys = table["key"].to_numpy()
    is_taken = keys % np.uint64(one_in) == 0
    for kind in pa.compute.unique(table["kind"]).to_pylist():
        is_of_kind = pa.compute.equal(table["kind"], kind).to_numpy()
        yield kind, distinct_keys(keys[is_taken & is_of_kind])
