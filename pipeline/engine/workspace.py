"""What a build has done so far: records of stages and of parts, so that it can resume.

A stage's fingerprint is a hash of its settings, its inputs and the stages before it. A stage that
has finished under the same fingerprint is skipped; a part that was recorded under it is not redone.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, TypeVar

from wikisum import __version__
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.shards import ShardFile, read_each
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.store import lock
from wikisum.pipeline.store.objects import is_object
from wikisum.pipeline.store.uploads import abort_uploads

WORK = ".work"
HOLD_SECONDS = 10.0  # of finished work that a kill may cost each worker on an object store
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class PartResult:
    """What one part of a stage wrote and counted; `extra` holds small values for later stages.

    `costs` counts requests and the like, which may differ between runs with equal results.
    """

    files: list[ShardFile] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    costs: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class StageResult:
    """A finished stage: its files, counts, extra and costs over all parts."""

    stage: str
    fingerprint: str
    files: list[ShardFile]
    counts: dict[str, int]
    extra: dict[str, Any]
    seconds: float
    costs: dict[str, int] = field(default_factory=dict)
    skipped: bool = False

    def paths(self, prefix: str) -> list[str]:
        """The relative paths of its files that begin with `prefix`."""
        return [f.path for f in self.files if f.path.startswith(prefix)]

    def paths_with_rows(self, prefix: str) -> list[str]:
        """The paths of its tables that begin with `prefix`, without the empty ones."""
        return [f.path for f in self.files if f.path.startswith(prefix) and f.rows]

    def content(self) -> list[str]:
        """The hashes of its files, for the fingerprint of a stage that reads nothing else."""
        return sorted(f.sha256 for f in self.files)


_Result = TypeVar("_Result", PartResult, StageResult)


def read_stage(path: str) -> StageResult | None:
    """Read the record of a stage; None if a power cut or another version spoiled it.

    What it records then counts as not done, and is done again.
    """
    with _spoiled_is_named(path):
        return _from_plain(StageResult, json.loads(files.read_bytes(path)))
    return None


def read_parts(path: str) -> dict[int, PartResult]:
    """Read a record of parts; empty if a power cut or another version spoiled it."""
    with _spoiled_is_named(path):
        plain = json.loads(files.read_bytes(path))
        results = {int(index): _from_plain(PartResult, each) for index, each in plain.items()}
        if set(results) == indexes_in(path):
            return results
        raise ValueError("a record of other parts")
    return {}


def _from_plain(kind: type[_Result], plain: dict[str, Any]) -> _Result:
    return kind(**{**plain, "files": [ShardFile(*f) for f in plain["files"]]})


@contextlib.contextmanager
def _spoiled_is_named(path: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        sys.stderr.write(f"{path} is unreadable; the work that it records is done again\n")


_RECORD = re.compile(r"part((?:-\d+)+)\.json")


def indexes_in(path: str) -> set[int]:
    """The indexes of the parts that a file records, by its name; none if it is no record."""
    match = _RECORD.fullmatch(os.path.basename(path))
    return set(map(int, match[1].split("-")[1:])) if match else set()


def fingerprint(key: Mapping[str, Any]) -> str:
    """16 hex digits: a hash of the settings and inputs in `key` and of our version."""
    text = json.dumps({"version": __version__, **key}, sort_keys=True, default=list)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def merge_parts(parts: Iterable[PartResult]) -> PartResult:
    """The files of all parts, sums of counts and costs, and the first value of each extra."""
    result = PartResult()
    counts: Counter[str] = Counter()
    costs: Counter[str] = Counter()
    for part in parts:
        result.files.extend(part.files)
        counts.update(part.counts)
        costs.update(part.costs)
        for name, value in part.extra.items():
            result.extra.setdefault(name, value)
    result.counts.update(sorted(counts.items()))
    result.costs.update(sorted(costs.items()))
    return result


@dataclass(frozen=True)
class Parts:
    """Where the parts of one run of a stage are recorded. Sent to the workers.

    A record holds the results of one or several parts, and its name has their indexes: a list of
    the folder tells what is done. A part `may_repeat` that a worker has recorded in the same run,
    if the engine repeats the work of lost workers; the embedded runner does not. If all workers are
    on this machine, `copies` is a local folder. Records are also written there, so that they need
    not be read from the store.
    """

    out: str
    folder: str
    may_repeat: bool = True
    copies: str = ""

    @property
    def hold_seconds(self) -> float:
        """How long a worker may hold results, so that several parts share a record.

        Each record on an object store costs two requests.
        """
        return HOLD_SECONDS if is_object(self.out) else 0.0

    def path(self, indexes: Iterable[int]) -> str:
        """The path of the record of these parts."""
        numbers = "-".join(f"{index:05d}" for index in sorted(indexes))
        return files.join(self.folder, f"part-{numbers}.json")

    def record(self, results: Mapping[int, PartResult]) -> None:
        """Record parts as done, in one file."""
        plain = {index: dataclasses.asdict(result) for index, result in results.items()}
        data, path = json.dumps(plain, sort_keys=True).encode(), self.path(results)
        files.write_bytes(path, data)
        if self.copies:
            files.write_bytes(self._copy(path), data)

    def _copy(self, path: str) -> str:
        return os.path.join(self.copies, os.path.basename(path))

    def recorded(self) -> set[int]:
        """The indexes of the parts that are recorded. `Workspace.begin` deletes invalid records."""
        return set().union(*map(indexes_in, files.list_folder(self.folder)))

    def recorded_count(self) -> int:
        """The number of parts that are recorded as done."""
        return len(self.recorded())

    def forget(self, indexes: Collection[int]) -> None:
        """Delete the records of parts, so that they are done again."""
        for path in files.list_folder(self.folder):
            if not indexes_in(path).isdisjoint(indexes):
                others = {i: result for i, result in read_parts(path).items() if i not in indexes}
                if others:
                    self.record(others)
                files.delete(path)
        files.sync_folder(self.folder)

    def load(self, count: int) -> dict[int, PartResult]:
        """The recorded results of the first `count` parts, those whose files all exist."""
        paths = [path for path in files.list_folder(self.folder) if indexes_in(path)]
        if self.copies:
            paths = [copy if os.path.exists(copy := self._copy(p)) else p for p in paths]
        read = [item for found in read_each(read_parts, paths) for item in found.items()]
        recorded = {index: part for index, part in sorted(read, key=itemgetter(0)) if index < count}
        missing = missing_files(self.out, (f for part in recorded.values() for f in part.files))
        return {i: part for i, part in recorded.items() if missing.isdisjoint(part.files)}


def missing_files(out: str, shards: Iterable[ShardFile]) -> set[ShardFile]:
    """The files that do not exist or have another size."""
    path_by_shard = {shard: files.join(out, shard.path) for shard in shards}
    sizes = files.sizes_bytes(path_by_shard.values())
    return {s for s, path in path_by_shard.items() if sizes.get(path) != s.size_bytes}


@dataclass(frozen=True)
class Workspace:
    """The output folder of a build."""

    out: str

    def path(self, *parts: str) -> str:
        return files.join(self.out, *parts)

    def work(self, *parts: str) -> str:
        return files.join(self.out, WORK, *parts)

    def parts(self, stage: str, key: str) -> Parts:
        return Parts(self.out, self.work(f"{stage}-{key}"))

    def finished(self, stage: str, key: str | None = None) -> StageResult | None:
        """The stage's result if it has finished (under this fingerprint) and its files exist."""
        path = self.work(f"{stage}.json")
        if not files.exists(path):
            return None
        result = read_stage(path)
        if result is None:
            return None
        if key is not None and result.fingerprint != key:
            return None
        if missing_files(self.out, result.files):
            return None
        return dataclasses.replace(result, skipped=True)

    def begin(
        self,
        stage: str,
        key: str,
        outputs: tuple[str, ...],
        part_count: int,
        *,
        is_beside: bool = False,
    ) -> list[int]:
        """Delete what other settings left behind; return the parts that are still to do.

        The dataset counts as unfinished from now on, unless the stage `is_beside` it. Records are
        gone for good, even after a power cut, before any file that they name changes: a file of
        other settings may have the same size.
        """
        if not is_beside:
            files.delete(self.path(MANIFEST))
            files.sync_folder(self.out)
        files.delete(self.work(f"{stage}.json"))
        self._forget_other_parts(stage, key)
        parts = self.parts(stage, key)
        done = parts.load(part_count)
        keep = {self.path(f.path) for part in done.values() for f in part.files}
        self._delete_outputs(outputs, keep)
        pending = [i for i in range(part_count) if i not in done]
        parts.forget(pending)
        for path in files.list_folder(parts.folder):
            if not indexes_in(path):  # tasks of an earlier run
                files.delete(path)
        return pending

    def _forget_other_parts(self, stage: str, key: str) -> None:
        """Delete the records of this stage's parts under other fingerprints, and their tasks."""
        of_stage = re.compile(rf"{re.escape(stage)}-[0-9a-f]{{16}}")
        for name in files.folder_names(self.work()):
            if of_stage.fullmatch(name) and name != f"{stage}-{key}":
                files.delete_folder(self.work(name))
        files.sync_folder(self.work())

    def _delete_outputs(self, outputs: tuple[str, ...], keep: set[str]) -> None:
        for prefix in outputs:
            folder, start = os.path.split(self.path(prefix))
            for path in files.list_folder(folder):
                if os.path.basename(path).startswith(start) and path not in keep:
                    files.delete(path)

    def forget(self, stage: str, outputs: tuple[str, ...]) -> None:
        """Delete what a stage made, and its record."""
        files.delete(self.work(f"{stage}.json"))
        self._delete_outputs(outputs, set())

    def finish(self, result: StageResult) -> None:
        """Record the stage as finished."""
        plain = dataclasses.asdict(result)
        del plain["skipped"]
        files.write_bytes(self.work(f"{result.stage}.json"), json.dumps(plain, indent=1).encode())

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for this process; delete what killed runs and workers left half-written.

        Raises JobFailed if another run holds it.
        """
        if is_object(self.out):
            with lock.held(self.work("lock")), files.listed(self.out):
                try:
                    abort_uploads(self.out)
                except OSError as error:  # such as a permission that a build does not need
                    sys.stderr.write(f"{error}\n")
                yield
            return
        if files.is_remote(self.out):  # of Beam's other filesystems none has conditional writes
            yield
            return
        try:
            os.makedirs(self.work(), exist_ok=True)
        except OSError as error:
            raise JobFailed(f"cannot create the directory {self.out}: {error.strerror}") from error
        with open(self.work("lock"), "w") as opened:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise JobFailed(f"another run is writing to {self.out}") from error
            files.delete_temporaries(self.out)
            yield
            files.delete_temporaries(self.out)  # of workers that were lost in this run
