"""The Parquet shards of a split, in a folder here or in an object store. Knows no torch."""

from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import PurePosixPath
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from wikisum.ranker.data.check import table_fault
from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.paths import is_remote

_WRAPPERS = frozenset({"list", "element", "item", "array"})  # Parquet's own names inside a list


class Shard(NamedTuple):
    """One Parquet file; goes to other processes as it is."""

    filesystem: fs.FileSystem
    path: str

    def __str__(self) -> str:
        return self.path


class RowGroup(NamedTuple):
    """A part of a shard that is read at once."""

    shard: Shard
    number: int
    rows: int


def open_folder(data: str) -> tuple[fs.FileSystem, str]:
    """Return the filesystem of a folder and the folder's path in it; `gs://`, `s3://` ... or local.

    Raises ValueError for a scheme that pyarrow has no filesystem for.
    """
    if not is_remote(data):
        return fs.LocalFileSystem(), data.rstrip("/") or "/"
    try:
        filesystem, path = fs.FileSystem.from_uri(data)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"no filesystem for {data}: {str(error).splitlines()[0]}") from error
    return filesystem, path.rstrip("/")


def split_shards(data: str, split: str) -> list[Shard]:
    """Return the shards of a split (`train`, `validation`, `test`), sorted by name.

    They lie in the folder `data` or in its folder `examples`. Raises FileNotFoundError if there
    is no such folder, or no shard of that split in it.
    """
    filesystem, root = open_folder(data)
    for folder in (root, f"{root}/examples"):
        listing = filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True))
        names = sorted(i.path for i in listing if fnmatch(i.base_name, f"{split}-*.parquet"))
        if names:
            return [Shard(filesystem, name) for name in names]
    if filesystem.get_file_info(root).type != fs.FileType.Directory:
        raise FileNotFoundError(f"there is no directory {data}")
    raise FileNotFoundError(f"no {split} shard ({split}-*.parquet) in {data} or {data}/examples")


def find_vocab(data: str) -> bytes:
    """Return the SentencePiece model that goes with a folder of shards (`vocab/wikisum.model`).

    `data` is a build's output or its folder `examples`. Raises FileNotFoundError if none is there.
    """
    filesystem, root = open_folder(data)
    for folder in (PurePosixPath(root), PurePosixPath(root).parent):
        path = str(folder / "vocab" / "wikisum.model")
        if filesystem.get_file_info(path).is_file:
            with filesystem.open_input_stream(path) as file:
                return bytes(file.read())
    raise FileNotFoundError(
        f"no vocabulary (vocab/wikisum.model) in or beside {data}: run `wikisum tokenize` first"
    )


def open_shard(shard: Shard) -> pq.ParquetFile:
    """The shard, to read; a context manager.

    Raises BadFile if it is not a Parquet file, OSError naming it if it cannot be read.
    """
    try:
        return pq.ParquetFile(shard.path, filesystem=shard.filesystem)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise BadFile(f"{shard} is not a Parquet file") from error
    except FileNotFoundError:
        raise
    except OSError as error:  # also of damaged footers
        raise OSError(f"{shard} cannot be read: {error}") from error


def row_groups(shards: Sequence[Shard]) -> list[RowGroup]:
    """All row groups that hold rows, in order; reads the shards' footers only."""
    groups = []
    for shard in shards:
        with open_shard(shard) as file:
            counts = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        groups += [RowGroup(shard, i, rows) for i, rows in enumerate(counts) if rows]
    return groups


def read_group(group: RowGroup, columns: Sequence[str], vocab_size: int | None = None) -> pa.Table:
    """These columns of a row group; a dot goes into a struct (`paragraphs.rouge2_recall`).

    Raises ValueError naming the shard for a column that it does not have, BadFile naming shard and
    row for values that no example has, such as ids from `vocab_size` on, and OSError for data that
    cannot be read.
    """
    with open_shard(group.shard) as file:
        try:
            paths = [file.schema.column(i).path for i in range(len(file.schema))]
        except UnicodeDecodeError as error:
            raise BadFile(f"{group.shard}: the name of a column is not UTF-8") from error
        leaves: list[str] = []
        for column in columns:
            found = [path for path in paths if _is_in(path, column)]
            if not found:
                raise ValueError(f"{group.shard} has no column {column}")
            leaves += found
        try:
            table = file.read_row_group(group.number, columns=leaves).combine_chunks()
            table.validate(full=True)  # also that texts are UTF-8
        except (pa.ArrowException, OSError) as error:
            raise OSError(f"{group.shard}: row group {group.number}: {error}") from error
        before = sum(file.metadata.row_group(i).num_rows for i in range(group.number))
    if fault := table_fault(table, vocab_size):
        row = "" if fault.row is None else f" row {before + fault.row}:"
        raise BadFile(f"{group.shard}:{row} {fault.text}")
    return table


def _is_in(path: str, column: str) -> bool:
    """Whether a leaf of the Parquet schema belongs to a column."""
    names = [path.split(".")[0], *(n for n in path.split(".")[1:] if n not in _WRAPPERS)]
    wanted = column.split(".")
    return names[: len(wanted)] == wanted
