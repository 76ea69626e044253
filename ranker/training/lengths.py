"""The lengths of a split for its batch plan: read once by all processes together, then cached."""

import hashlib
import json
from pathlib import Path
from typing import Any, TextIO
from zipfile import BadZipFile

import numpy as np

from wikisum.ranker.runs.atomic import atomic_write
from wikisum.ranker.runs.progress import ProgressLine
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.plan import Lengths
from wikisum.ranker.training.reader import GroupReader


def cached_lengths(
    reader: GroupReader[Any, Any], cache: Path, processes: ProcessGroup, to: TextIO
) -> Lengths:
    """Return the lengths of a split, from the file `cache` if it is up to date.

    Each process reads its part of the row groups; the main one writes the cache. Progress goes to
    `to`.
    """
    key = reader_key(reader)
    found = processes.broadcast(_load(cache, key) if processes.is_main else None)
    if found is not None:
        return found
    mine = range(processes.rank, len(reader.groups), processes.size)
    line = ProgressLine("lengths", "row groups", len(mine), to)
    read = {}
    for done, number in enumerate(mine, 1):
        read[number] = reader.lengths_of(number)
        if processes.is_main:
            line.draw(done)
    by_number = {n: lengths for part in processes.all_gather(read) for n, lengths in part.items()}
    parts = zip(*(by_number[number] for number in sorted(by_number)), strict=True)
    found = Lengths(*map(np.concatenate, parts))
    if processes.is_main:
        cache.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(cache, lambda file: np.savez(file, key=np.array(key), **found._asdict()))
    return found


def fingerprint(lengths: Lengths) -> str:
    """Return a hash of the lengths, the same wherever the shards are; 16 hex digits."""
    digest = hashlib.sha256()
    for column in lengths:
        digest.update(f"{len(column)} ".encode() + column.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


def _load(cache: Path, key: str) -> Lengths | None:
    if not cache.is_file():
        return None
    try:
        with np.load(cache) as kept:
            same = str(kept["key"]) == key
            return Lengths(*(kept[name] for name in Lengths._fields)) if same else None
    except (ValueError, KeyError, EOFError, BadZipFile):  # a damaged or foreign file
        return None


def reader_key(reader: GroupReader[Any, Any]) -> str:
    """Return a hash of the shards, as they are now, and of the settings that cut their examples."""
    shards = {group.shard.path: group.shard for group in reader.groups}.values()
    sizes = [shard.filesystem.get_file_info(shard.path).size for shard in shards]
    groups = [[group.shard.path, group.number, group.rows] for group in reader.groups]
    parts = [groups, sizes, *reader.identity()]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
