"""Compare finished files with their recorded hashes, and delete the damaged ones.

A part without one of its files counts as not done, so the stages that follow make exactly these
parts again. The size of a file is checked by every run; its content only here.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.progress import Ticker, watched
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.stage import Stage
from wikisum.pipeline.engine.workspace import (
    MANIFEST,
    PartResult,
    StageResult,
    Workspace,
    read_parts,
    read_stage,
)

_BLOCK_BYTES = 1 << 20


def sha256_of(path: str, ticker: Ticker) -> str:
    """The SHA-256 of a file in hexadecimal; bytes read are counted as work."""
    digest = hashlib.sha256()
    with files.open_input(path) as raw:
        while block := raw.read(_BLOCK_BYTES):
            digest.update(block)
            ticker.add(work=len(block))
    return digest.hexdigest()


def verify(job: Job, stages: Iterable[Stage]) -> list[str]:
    """Delete the damaged files of these stages and return their paths, relative to the folder.

    Each is named on the terminal with what is wrong with it. The manifest is deleted, so that the
    report and the card, of which no hash is recorded, are written anew.
    """
    workspace = job.workspace
    recorded = recorded_files(workspace, stages)
    damaged = []
    size_bytes = sum(next(iter(claims)).size_bytes for claims in recorded.values())
    with (
        watched("verify", "files", size_bytes, job.to) as ticker,
        ThreadPoolExecutor(job.workers) as pool,
    ):
        faults = list(pool.map(partial(_fault, workspace, ticker), recorded.values()))
    for path, fault in zip(recorded, faults, strict=True):
        if fault is not None:
            job.to.write(f"{path}: {fault}; it is made again\n")
            files.delete(workspace.path(path))
            damaged.append(path)
    files.delete(workspace.path(MANIFEST))
    job.to.write(f"{'verify':<9} {len(recorded):,} files, {len(damaged):,} damaged\n")
    return damaged


def recorded_files(workspace: Workspace, stages: Iterable[Stage]) -> dict[str, set[ShardFile]]:
    """The files by path that stages and parts of unfinished stages record.

    A path has several records where stages have run under several settings; one of them holds.
    """
    found: dict[str, set[ShardFile]] = {}
    for record in _records(workspace, stages):
        for file in record.files:
            found.setdefault(file.path, set()).add(file)
    return dict(sorted(found.items()))


def _records(workspace: Workspace, stages: Iterable[Stage]) -> Iterator[PartResult | StageResult]:
    names = {each.name for stage in stages for each in (stage, *stage.internal)}
    part = re.compile(rf"(?:{'|'.join(names)})-[0-9a-f]{{16}}/part[-\d]+\.json")
    work = workspace.work("")
    for path in files.list_tree(work):
        relative = path.removeprefix(work)
        if part.fullmatch(relative):
            yield from read_parts(path).values()
        elif relative.removesuffix(".json") in names and (stage := read_stage(path)) is not None:
            yield stage


def _fault(workspace: Workspace, ticker: Ticker, claims: set[ShardFile]) -> str | None:
    """What is wrong with a file that any of the claims may describe, or None."""
    claim = min(claims)
    path = workspace.path(claim.path)
    size = files.size_bytes(path)
    ticker.add(items=1)
    if size is None:
        return None  # the next stages see that it is missing
    if size not in {each.size_bytes for each in claims}:
        return f"has {size:,} bytes, not {claim.size_bytes:,}"
    found = sha256_of(path, ticker)
    if found not in {each.sha256 for each in claims}:
        return f"its SHA-256 is {found}, not {claim.sha256}"
    return None
