"""The folder of a trained ranker, where workers read it."""

import contextlib
import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.ranker.runs.files import BEST, VOCAB

MODEL_FILES = (BEST, VOCAB)  # the files of a run that are needed to rank
RUN = "ranker"  # where the learned ranker is kept in the work folder, for workers anywhere


@contextlib.contextmanager
def local_run(folder: str) -> Iterator[Path]:
    """Yield the folder of a run, or of a remote one a local copy that is deleted afterwards."""
    if not files.is_remote(folder):
        yield Path(folder)
        return
    with tempfile.TemporaryDirectory() as copy:
        for name in MODEL_FILES:
            Path(copy, name).write_bytes(files.read_bytes(files.join(folder, name)))
        yield Path(copy)


def check_run(run: str, device: str = "cpu") -> None:
    """Raise FileNotFoundError or ValueError if `run` is not the folder of a ranker."""
    from wikisum.ranker.learned.score import Scorer

    with local_run(run) as folder:
        Scorer.load(folder, device)


def copy_run(workspace: Workspace, run: str) -> str:
    """Copy the ranker to the work folder `RUN`; return a hash of it, 16 hex digits."""
    digest = hashlib.sha256()
    for name in MODEL_FILES:
        data = files.read_bytes(files.join(run, name))
        digest.update(data)
        files.write_bytes(workspace.work(RUN, name), data)
    return digest.hexdigest()[:16]
