"""A full check of a finished dataset: one line per fault, none if all is well."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.manifest import read_manifest
from wikisum.pipeline.engine.progress import Ticker, watched
from wikisum.pipeline.engine.shards import read_rows, read_tables
from wikisum.pipeline.engine.verify import sha256_of
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.examples.subwords import MODEL
from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.rerank.stage import RANK
from wikisum.pipeline.stages import is_declared, tables
from wikisum.pipeline.validate.fates import fate_faults
from wikisum.pipeline.validate.nulls import ID_COLUMNS
from wikisum.pipeline.validate.pool import map_in_order
from wikisum.pipeline.validate.rows import row_faults
from wikisum.ranker.data.check import table_fault
from wikisum.ranker.data.vocab import load_model

MAX_FAULTS_PER_KIND = 20
_ROWS_PER_WORKER = 20_000  # of fewer, a process costs more time than it saves

Fault = tuple[str, str]  # its kind, and a line about it


def validate(out: str, to: TextIO | None = None, workers: int = 1) -> Iterator[str]:
    """The faults of the dataset in `out`, a line each, at most 20 of a kind and then a count.

    Files are checked in `workers` processes. Progress is drawn on `to`. Raises FileNotFoundError if
    there is no finished build.
    """
    seen: Counter[str] = Counter()
    for kind, line in _faults(Workspace(out), to, workers):
        seen[kind] += 1
        if seen[kind] <= MAX_FAULTS_PER_KIND:
            yield line
    for kind, number in seen.items():
        if number > MAX_FAULTS_PER_KIND:
            yield f"... {number - MAX_FAULTS_PER_KIND} more faults of the kind: {kind}"


def _faults(workspace: Workspace, to: TextIO | None, workers: int) -> Iterator[Fault]:
    """(kind, line) of each fault. Rows are read only if all files are as they were written."""
    manifest = read_manifest(workspace)
    is_sound, repair = True, _repair(manifest)
    size_bytes = sum(entry["bytes"] for entry in manifest["files"].values())
    check = _CheckFile(workspace, manifest["files"])
    with (
        watched("hashes", "files", size_bytes, to) as ticker,
        ThreadPoolExecutor(workers) as pool,  # most of the time goes into hashes, outside the GIL
    ):
        for found in pool.map(partial(check, ticker=ticker), manifest["files"]):
            for kind, line in found:
                is_sound = False
                yield kind, f"{line} ({repair})" if kind in ("file", "hash") else line
    unknown = {
        files.join(folder, path.rpartition("/")[2])
        for folder in _schemas()
        for path in files.list_folder(workspace.path(folder))
    } - set(manifest["files"])
    for path in sorted(unknown):
        yield "stray", f"{path}: is not in the manifest"
    for path in manifest["others"]:
        if not files.exists(workspace.path(path)):
            yield "file", f"{path}: is missing"
    if is_sound:
        yield from _content_faults(workspace, manifest, to, workers)


def _repair(manifest: dict[str, Any]) -> str:
    """How to make damaged files again."""
    maker = next((m for m in ("rank", "import") if m in manifest["settings"]), "build")
    return f"to repair it, run the same `wikisum {maker}` command with --verify"


def _content_faults(
    workspace: Workspace, manifest: dict[str, Any], to: TextIO | None, workers: int
) -> Iterator[Fault]:
    """What is wrong with the rows of a dataset whose files are all as they were written."""
    rows = {path: entry["rows"] for path, entry in manifest["files"].items()}
    workers = max(1, min(workers, sum(rows.values()) // _ROWS_PER_WORKER))
    shards = [path for path in rows if path.startswith("examples/")]
    check = _CheckExamples(workspace, manifest["settings"], _vocab_size(workspace, manifest))
    with watched("examples", "examples", sum(rows[path] for path in shards), to) as ticker:
        for found in map_in_order(check, shards, workers, ticker):
            yield from found
    if "derived_from" not in manifest:  # else the fates are in the dataset that it was made from
        yield from fate_faults(workspace, rows, MAX_FAULTS_PER_KIND, to, workers)
    yield from _count_faults(manifest)
    yield from _dropped_faults(workspace, manifest, workers)


@dataclass(frozen=True)
class _CheckFile:
    """The path of a file -> what is wrong with the file."""

    workspace: Workspace
    entries: dict[str, dict[str, Any]]

    def __call__(self, path: str, ticker: Ticker) -> list[Fault]:
        schema = _schemas().get(path.rpartition("/")[0])
        full = self.workspace.path(path)
        found = list(_file_faults(full, path, self.entries[path], schema, ticker))
        ticker.add(items=1)
        return found


@cache
def _schemas() -> dict[str, pa.Schema | None]:
    """The schema of the files of each folder."""
    return {output.folder: output.schema for _, output in tables()}


def _file_faults(
    full: str, path: str, entry: dict[str, Any], schema: pa.Schema | None, ticker: Ticker
) -> Iterator[Fault]:
    """What is wrong with a file: missing, changed, or not of its schema."""
    if not files.exists(full):
        yield "file", f"{path}: is missing"
        return
    if (found_hash := sha256_of(full, ticker)) != entry["sha256"]:
        yield "hash", f"{path}: its SHA-256 is {found_hash}, not {entry['sha256']}"
        return
    if schema is None:
        return
    try:
        with files.open_input(full) as raw:
            file = pq.ParquetFile(raw)
            found, rows = file.schema_arrow, file.metadata.num_rows
    except pa.ArrowInvalid as error:
        yield "schema", f"{path}: is not a Parquet file: {error}"
        return
    if not found.equals(schema):
        yield "schema", f"{path}: its columns are not those of {path.split('/')[0]}"
    if rows != entry["rows"]:
        yield "count", f"{path}: has {rows} rows, not {entry['rows']}"


def _vocab_size(workspace: Workspace, manifest: dict[str, Any]) -> int | None:
    if MODEL not in manifest["files"]:
        return None
    return int(load_model(files.read_bytes(workspace.path(MODEL)), MODEL).get_piece_size())


@dataclass(frozen=True)
class _CheckExamples:
    """The path of a shard of examples -> what is wrong with its rows."""

    workspace: Workspace
    settings: dict[str, dict[str, Any]]
    vocab_size: int | None

    def __call__(self, path: str, ticker: Ticker) -> list[Fault]:
        return list(_capped(self._faults(path, ticker)))

    def _faults(self, path: str, ticker: Ticker) -> Iterator[Fault]:
        clone_threshold = self.settings.get("examples", {}).get("paragraph_clone_threshold", 1.0)
        if path.split("/")[1].split("-")[0] not in SPLITS:
            yield "split", f"{path}: its name does not begin with a split"
        made, first = _made_columns(self.settings), 0
        for table in read_tables(self.workspace.path(path)):
            faulty = set[int]()
            for number, row in enumerate(table.to_pylist()):
                for fault in row_faults(row, self.vocab_size, clone_threshold, made):
                    faulty.add(number)
                    where = f"{path}: row {first + number}: {row['id']} ({row['title']})"
                    yield fault.split(":")[0], f"{where}: {fault}"
                ticker.add(items=1, work=1)
            refused = table_fault(table, self.vocab_size)
            if refused is not None and refused.row not in faulty:
                yield "reader", f"{path}: row {first + (refused.row or 0)}: {refused.text}"
            first += len(table)


def _made_columns(settings: dict[str, dict[str, Any]]) -> frozenset[str]:
    """The graphs and ids that a build with these settings gives to every example."""
    made: list[str] = []
    if "graphs" in settings:
        graphs = settings["graphs"].get("graphs", "both")  # the default is not written
        made += [f"{g}_graph" for g in ("similarity", "discourse") if graphs in ("both", g)]
    if settings.get("tokenize", {}).get("vocab_sha256"):
        made += ID_COLUMNS
    return frozenset(made)


def _capped(faults: Iterator[Fault]) -> Iterator[Fault]:
    """The faults of one file, without the lines of those that will not be listed."""
    seen: Counter[str] = Counter()
    for kind, line in faults:
        seen[kind] += 1
        yield kind, line if seen[kind] <= MAX_FAULTS_PER_KIND else ""


def _count_faults(manifest: dict[str, Any]) -> Iterator[Fault]:
    """Counts in the manifest that are not those of the rows."""
    rows, expected = Counter[str](), Counter[str]()
    for path, entry in manifest["files"].items():
        rows[path.rpartition("/")[0]] += entry["rows"]
    is_derived = "derived_from" in manifest
    for stage, output in [(RANK, RANK.outputs[0])] if is_derived else tables():
        if output.count is not None:
            expected[output.folder] += manifest["counts"].get(stage.name, {}).get(output.count, 0)
    for folder, number in expected.items():
        if rows[folder] != number:
            yield "count", f"{folder}: has {rows[folder]} rows, but the counts say {number}"


@dataclass(frozen=True)
class _CheckDropped:
    """The path of a file of dropped rows -> their number by stage, and undeclared reasons."""

    workspace: Workspace

    def __call__(self, path: str, ticker: Ticker) -> tuple[Counter[str], list[Fault]]:
        dropped = Counter[str]()
        return dropped, list(_capped(self._faults(path, dropped)))

    def _faults(self, path: str, dropped: Counter[str]) -> Iterator[Fault]:
        for row in read_rows(self.workspace.path(path), ["stage", "kind", "reason"]):
            dropped[row["stage"]] += 1
            if not is_declared(row["stage"], row["kind"], row["reason"] or ""):
                reason = f"the reason {row['reason']!r} of a {row['kind']}"
                yield "reason", f"{path}: stage {row['stage']} does not declare {reason}"


def _dropped_faults(
    workspace: Workspace, manifest: dict[str, Any], workers: int
) -> Iterator[Fault]:
    """Dropped rows that are not counted, or whose reason their stage does not declare."""
    dropped = Counter[str]()
    paths = [path for path in manifest["files"] if path.startswith("dropped/")]
    check = _CheckDropped(workspace)
    for counted_here, found in map_in_order(check, paths, workers, Ticker(None)):
        dropped.update(counted_here)
        yield from found
    for name, number in dropped.items():
        counts = manifest["counts"].get(name, {})
        counted = sum(n for key, n in counts.items() if key.startswith("dropped_"))
        if counted != number:
            yield "count", f"dropped: {number} rows of {name}, but its counts say {counted}"
