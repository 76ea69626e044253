"""The lengths of a split for its batch plan: read once by all processes together, then kept."""

import hashlib
import json
from pathlib import Path
from typing import TextIO
from zipfile import BadZipFile

import numpy as np

from wikisum.models.data.batches import SplitReader
from wikisum.models.data.plan import Lengths
from wikisum.models.distributed import Team
from wikisum.ranker.runs.atomic import write_whole
from wikisum.ranker.runs.progress import ProgressLine


def kept_lengths(reader: SplitReader, cache: Path, team: Team, to: TextIO) -> Lengths:
    """The lengths of a split, out of `cache` if it holds them; else read, and put there.

    Each process reads its part of the row groups. Progress is told to `to`.
    """
    key = reader_key(reader)
    found = team.told_by_first(_load(cache, key) if team.is_first else None)
    if found is not None:
        return found
    mine = range(team.rank, len(reader.groups), team.size)
    line = ProgressLine("lengths", "row groups", len(mine), to)
    read = {}
    for done, number in enumerate(mine, 1):
        read[number] = reader.lengths_of(number)
        if team.is_first:
            line.draw(done)
    by_number = {n: lengths for part in team.gathered(read) for n, lengths in part.items()}
    parts = zip(*(by_number[number] for number in sorted(by_number)), strict=True)
    found = Lengths(*map(np.concatenate, parts))
    if team.is_first:
        cache.parent.mkdir(parents=True, exist_ok=True)
        write_whole(cache, lambda file: np.savez(file, key=np.array(key), **found._asdict()))
    return found


def fingerprint(lengths: Lengths) -> str:
    """Stands for a batch plan's lengths, wherever their shards lie; 16 hex digits."""
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
    except (ValueError, KeyError, EOFError, BadZipFile):  # not what we wrote
        return None


def reader_key(reader: SplitReader) -> str:
    """Stands for the shards, as they are now, and the cut."""
    shards = {group.shard.path: group.shard for group in reader.groups}.values()
    sizes = [shard.filesystem.get_file_info(shard.path).size for shard in shards]
    groups = [[group.shard.path, group.number, group.rows] for group in reader.groups]
    about = [groups, sizes, reader.model.model, list(vars(reader.source).values())]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()
