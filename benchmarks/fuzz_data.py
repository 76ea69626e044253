"""Feed damaged files of datasets and runs to their readers; report crashes and slow rounds.

    python -m benchmarks.fuzz_data [--rounds 100000] [--seed 0] [--only shard rows ...]

Each round damages a small valid file: the bytes of a shard (shard) or the values of its rows
(rows), both also as `wikisum rank` reads them (rank), a manifest (manifest), a state record
(record), or a checkpoint (checkpoint). A round fails if anything but a documented error is raised,
or if it takes over a second of CPU. Rounds are those of benchmarks/fuzz_readers.py.
"""

import atexit
import contextlib
import io
import math
import random
import shutil
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch
from pyarrow import fs

from benchmarks.fuzz_readers import main, mutate
from wikisum.pipeline.engine.manifest import read_manifest, write_manifest
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import PartResult, StageResult, Workspace
from wikisum.pipeline.records import EXAMPLE
from wikisum.pipeline.rerank.shard import read_examples
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.shards import Shard, read_group, row_groups
from wikisum.ranker.runs.checkpoints import check_weights, load_checkpoint, save_checkpoint

FOLDER = Path(tempfile.mkdtemp(prefix="wikisum-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
TEXT = {"document": 0, "position": 0, "score": 1.0, "rouge2_recall": 0.5}
GRAPH = {"source": [0], "target": [1], "weight": [0.5]}
ROW: dict[str, Any] = {
    "id": "0" * 16, "title": "Cheese", "url": "u", "lead": "It is food.", "sections": [],
    "documents": [], "categories": [], "paragraphs": [{"text": t, **TEXT} for t in ("one", "two")],
    "similarity_graph": GRAPH, "discourse_graph": None, "title_ids": [7], "lead_ids": [7, 8],
    "paragraph_ids": [[7], [9]],
}  # fmt: skip
ODD = (None, [], [None], [[1], [2], [3]], [65_535], {}, 7, -1, "text", math.nan, math.inf, "\ud800",
       {"source": [0], "target": [1], "weight": [math.nan]}, {"source": [0], "target": [9]},
       [{"text": None}], [["7"]], b"\xff")  # fmt: skip
VOCAB_SIZE = 10


def read_shard(path: Path) -> Counter[str]:
    """The outcome of reading a shard as training does."""
    try:
        for group in row_groups([Shard(fs.LocalFileSystem(), str(path))]):
            read_group(group, EXAMPLE.names, VOCAB_SIZE).to_pylist()
    except BadFile:
        return Counter(["bad row"])
    except (ValueError, OSError) as error:
        return _named(path, error)
    return Counter(["read"])


def _named(path: Path, error: Exception) -> Counter[str]:
    if str(path) not in str(error):
        raise AssertionError(f"names no file: {error}")
    return Counter(["bad file"])


def _shard() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist([ROW] * 6, schema=EXAMPLE), out, row_group_size=2)
    return out.getvalue()


SHARD = _shard()


def shard_round(rng: random.Random) -> Counter[str]:
    path = FOLDER / "train-0.parquet"
    path.write_bytes(mutate(rng, SHARD))
    return read_shard(path)


def rows_round(rng: random.Random) -> Counter[str]:
    """Rows with odd values; a table that Arrow cannot make counts as such."""
    path = FOLDER / "train-0.parquet"
    row = {**ROW, **{rng.choice(list(ROW)): rng.choice(ODD) for _ in range(rng.randint(1, 2))}}
    schema = rng.choice([EXAMPLE, None])
    try:
        pq.write_table(pa.Table.from_pylist([row] * 2, schema=schema), path)
    except (pa.ArrowException, TypeError, UnicodeError, OverflowError, AttributeError):
        return Counter(["no table"])
    return read_shard(path)


def rank_round(rng: random.Random) -> Counter[str]:
    """Odd rows or damaged bytes as `wikisum rank` reads them."""
    path = FOLDER / "train-0.parquet"
    made = (rows_round if rng.random() < 0.7 else shard_round)(rng)
    if "no table" in made:
        return made
    try:
        list(read_examples(str(path)))
    except BadFile as error:
        return _named(path, error)
    return Counter(["read"])


def _manifest() -> bytes:
    shard = ShardFile("examples/train-0.parquet", 6, 100, "0" * 64)
    extra = {"settings": {}, "inputs": {"dump": []}}
    result = StageResult("articles", "0" * 16, [shard], {"articles_out": 2}, extra, 1.0)
    workspace = Workspace(str(FOLDER))
    write_manifest(workspace, [result], ["README.md"])
    workspace.finish(replace(result, files=[]))  # the shard does not exist
    return Path(workspace.path("manifest.json")).read_bytes()


MANIFEST = _manifest()
RECORD = (FOLDER / ".work" / "articles.json").read_bytes()
PARTS = Workspace(str(FOLDER)).parts("articles", "key")
PARTS.record({0: PartResult(counts={"a": 1})})
PART = Path(PARTS.path([0]))
PART_RECORD = PART.read_bytes()


def manifest_round(rng: random.Random) -> Counter[str]:
    (FOLDER / "manifest.json").write_bytes(mutate(rng, MANIFEST))
    try:
        read_manifest(Workspace(str(FOLDER)))
    except BadFile:
        return Counter(["bad manifest"])
    return Counter(["read"])


def record_round(rng: random.Random) -> Counter[str]:
    (FOLDER / ".work" / "articles.json").write_bytes(mutate(rng, RECORD))
    PART.write_bytes(mutate(rng, PART_RECORD))
    with contextlib.redirect_stderr(io.StringIO()):
        stage = Workspace(str(FOLDER)).finished("articles")
        found = PARTS.load(1)
    return Counter([f"stage {'done' if stage else 'not done'}, part {len(found)} of 1"])


MODEL = torch.nn.Linear(2, 2)
WHOLE = FOLDER / "whole.safetensors"
save_checkpoint(WHOLE, "ranker", {"settings": {"fit": {}}, "model": MODEL.state_dict(), "step": 1})
CHECKPOINT = WHOLE.read_bytes()


def checkpoint_round(rng: random.Random) -> Counter[str]:
    path = FOLDER / "last.safetensors"
    path.write_bytes(mutate(rng, CHECKPOINT))
    try:
        state = load_checkpoint(path, "ranker", torch.device("cpu"))
        check_weights(path, MODEL, state["model"])
    except ValueError as error:
        return _named(path, error)
    return Counter(["read"])


ROUNDS = {
    "shard": shard_round, "rows": rows_round, "rank": rank_round, "manifest": manifest_round,
    "record": record_round, "checkpoint": checkpoint_round,
}  # fmt: skip


if __name__ == "__main__":
    sys.exit(main(ROUNDS, "fuzz_data", __doc__))
