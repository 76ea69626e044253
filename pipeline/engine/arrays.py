"""Numpy arrays in one file that all processes of a machine map into memory."""

from typing import Any

import numpy as np
import pyarrow as pa

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.shards import ShardFile


def write_arrays(out: str, path: str, arrays: Any) -> ShardFile:
    """Write the fields of a NamedTuple of arrays; return the file's entry."""
    columns = [
        pa.LargeListArray.from_arrays(pa.array([0, len(array)], pa.int64()), pa.array(array))
        for array in arrays
    ]
    batch = pa.RecordBatch.from_arrays(columns, names=list(arrays._fields))
    with (
        files.AtomicFile(files.join(out, path)) as file,
        pa.ipc.new_file(file, batch.schema) as writer,
    ):
        writer.write_batch(batch)
    return ShardFile(path, len(arrays[0]), file.size_bytes, file.sha256)


def read_arrays(path: str, key: str) -> list[np.ndarray]:
    """The arrays in order, mapped. A remote file is copied once; `key` names its content."""
    with pa.memory_map(files.local_copy(path, key)) as mapped:
        batch = pa.ipc.open_file(mapped).get_batch(0)
    return [column.values.to_numpy(zero_copy_only=True) for column in batch.columns]
