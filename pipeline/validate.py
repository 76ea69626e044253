"""A full check of a finished dataset: one line per fault, none if all is well."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from crawl.clones import lead_bigrams, paragraph_clone_score
from crawl.tokens import terms
from pipeline import files
from pipeline.encode_subwords import MODEL
from pipeline.manifest import read_manifest
from pipeline.records import ARTICLE, DOCUMENT, DROPPED, EXAMPLE, SPLITS, WANTED
from pipeline.shards import read_rows
from pipeline.workspace import Workspace
from ranker.vocab import load_model

SCHEMAS = {
    "articles": ARTICLE,
    "wanted": WANTED,
    "documents": DOCUMENT,
    "dropped": DROPPED,
    "examples": EXAMPLE,
}
MOST_FAULTS_OF_A_KIND = 20
WRITE_BLOCK = 1 << 20


def validate(out: str) -> Iterator[str]:
    """The faults of the dataset in `out`, a line each, at most 20 of a kind and then a count.

    Raises FileNotFoundError if there is no finished build.
    """
    seen: Counter[str] = Counter()
    for kind, line in _faults(Workspace(out)):
        seen[kind] += 1
        if seen[kind] <= MOST_FAULTS_OF_A_KIND:
            yield line
    for kind, number in seen.items():
        if number > MOST_FAULTS_OF_A_KIND:
            yield f"... {number - MOST_FAULTS_OF_A_KIND} more faults of the kind: {kind}"


def _faults(workspace: Workspace) -> Iterator[tuple[str, str]]:
    manifest = read_manifest(workspace)
    sound: list[str] = []
    for path, told in manifest["files"].items():
        faults = list(_file_faults(workspace.path(path), path, told))
        yield from faults
        if not faults:
            sound.append(path)
    strangers = {
        files.join(folder, path.rpartition("/")[2])
        for folder in SCHEMAS
        for path in files.list_folder(workspace.path(folder))
    } - set(manifest["files"])
    for path in sorted(strangers):
        yield "stray", f"{path}: is not in the manifest"
    for path in manifest["others"]:
        if not files.exists(workspace.path(path)):
            yield "file", f"{path}: is missing"
    if len(sound) == len(manifest["files"]):
        vocab_size = _vocab_size(workspace, manifest)
        threshold = manifest["settings"]["examples"]["paragraph_clone_threshold"]
        yield from _example_faults(workspace, sound, vocab_size, threshold)
        yield from _fate_faults(workspace, sound)
        yield from _count_faults(workspace, sound, manifest)


def _file_faults(full: str, path: str, told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Whether a file is there, as it was written, and of the right form."""
    if not files.exists(full):
        yield "file", f"{path}: is missing"
        return
    digest = hashlib.sha256()
    with files.open_input(full) as raw:
        while block := raw.read(WRITE_BLOCK):
            digest.update(block)
    if digest.hexdigest() != told["sha256"]:
        yield "hash", f"{path}: its SHA-256 is {digest.hexdigest()}, not {told['sha256']}"
        return
    schema = SCHEMAS.get(path.split("/")[0])
    if schema is None:
        return
    try:
        with files.open_input(full) as raw:
            file = pq.ParquetFile(raw)
            found, rows = file.schema_arrow, file.metadata.num_rows
    except pa.ArrowInvalid as error:
        yield "schema", f"{path}: is no Parquet file: {error}"
        return
    if not found.equals(schema):
        yield "schema", f"{path}: its columns are not those of {path.split('/')[0]}"
    if rows != told["rows"]:
        yield "count", f"{path}: has {rows} rows, not {told['rows']}"


def _vocab_size(workspace: Workspace, manifest: dict[str, Any]) -> int | None:
    if MODEL not in manifest["files"]:
        return None
    with files.open_input(workspace.path(MODEL)) as raw:
        return int(load_model(raw.read(), MODEL).get_piece_size())


def _example_faults(
    workspace: Workspace, paths: list[str], vocab_size: int | None, clone_threshold: float
) -> Iterator[tuple[str, str]]:
    split_by_id: dict[str, str] = {}
    for path in (p for p in paths if p.startswith("examples/")):
        split = path.split("/")[1].split("-")[0]
        if split not in SPLITS:
            yield "split", f"{path}: is of no split"
        for row in read_rows(workspace.path(path)):
            place = f"{path}: {row['id']} ({row['title']})"
            if (other := split_by_id.setdefault(row["id"], path)) != path:
                yield "split", f"{place}: stands in {other} too"
            for fault in row_faults(row, vocab_size, clone_threshold):
                yield fault.split(":")[0], f"{place}: {fault}"


def row_faults(
    row: dict[str, Any], vocab_size: int | None, clone_threshold: float
) -> Iterator[str]:
    """What is wrong with one example."""
    documents, paragraphs = row["documents"], row["paragraphs"]
    if not row["lead"].strip():
        yield "lead: is empty"
    if not paragraphs or not documents:
        yield "paragraphs: there are none"
    urls = [d["url"] for d in documents]
    if len(set(urls)) != len(urls):
        yield "documents: a URL stands twice"
    for number, paragraph in enumerate(paragraphs):
        if not 0 <= paragraph["document"] < len(documents):
            yield f"paragraphs: {number} is of document {paragraph['document']}, which is not there"
    scores = [p["score"] for p in paragraphs]
    if any(a < b for a, b in pairwise(scores)):
        yield "paragraphs: not best first"
    bigrams = lead_bigrams(row["lead"])
    for number, paragraph in enumerate(paragraphs):
        if paragraph_clone_score(terms(paragraph["text"]), bigrams) > clone_threshold:
            yield f"paragraphs: {number} holds the lead"
    for name in ("similarity_graph", "discourse_graph"):
        if row[name] is not None:
            yield from _graph_faults(name, row[name], len(paragraphs))
    yield from _id_faults(row, vocab_size)


def _graph_faults(name: str, graph: dict[str, list], size: int) -> Iterator[str]:
    edges = list(zip(graph["source"], graph["target"], strict=False))
    if len(graph["source"]) != len(graph["target"]) or len(edges) != len(graph["weight"]):
        yield f"{name}: its columns differ in length"
    for source, target in edges:
        if not 0 <= source < target < size:
            yield f"{name}: edge {source}-{target} is out of order or bounds ({size} paragraphs)"
    if len(set(edges)) != len(edges):
        yield f"{name}: an edge stands twice"
    if any(not weight > 0 for weight in graph["weight"]):
        yield f"{name}: a weight is not over 0"


def _id_faults(row: dict[str, Any], vocab_size: int | None) -> Iterator[str]:
    if row["paragraph_ids"] is None:
        return
    if len(row["paragraph_ids"]) != len(row["paragraphs"]):
        yield "ids: not one list a paragraph"
    for ids in [row["title_ids"], row["lead_ids"], *row["paragraph_ids"]]:
        if vocab_size is not None and ids and max(ids) >= vocab_size:
            yield f"ids: {max(ids)} is not in the vocabulary of {vocab_size}"


def _fate_faults(workspace: Workspace, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Every article, and every pair of an article and a URL it wants, has exactly one fate."""
    articles: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()

    def rows(folder: str, columns: list[str]) -> Iterator[dict[str, Any]]:
        for path in paths:
            if path.startswith(folder):
                yield from read_rows(workspace.path(path), columns)

    for row in rows("examples/", ["id", "documents"]):
        articles[row["id"]] += 1
        pairs.update((row["id"], d["url"]) for d in row["documents"])
    columns = ["kind", "article", "url", "stage", "reason"]
    for row in rows("dropped/", columns):
        if row["stage"] == "articles" or not row["reason"]:
            if not row["reason"]:
                yield "reason", f"dropped: a {row['kind']} has no reason"
        elif row["kind"] == "article":
            articles[row["article"]] += 1
        elif row["kind"] == "reference" and row["url"] is not None:
            pairs[row["article"], row["url"]] += 1
    ids = Counter(row["id"] for row in rows("articles/", ["id"]))
    yield from _differences("article", ids, articles)
    wanted = Counter((row["article"], row["url"]) for row in rows("wanted/", ["article", "url"]))
    yield from _differences("reference", wanted, pairs)


def _differences(kind: str, wanted: Counter, fates: Counter) -> Iterator[tuple[str, str]]:
    for key in sorted(wanted.keys() | fates.keys()):
        if wanted[key] != fates[key]:
            name = " ".join(key) if isinstance(key, tuple) else key
            yield "fate", f"{kind} {name}: has {fates[key]} fates, not {wanted[key]}"


def _count_faults(
    workspace: Workspace, paths: list[str], manifest: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Whether the manifest's counts are those of the rows."""
    rows = Counter[str]()
    for path in paths:
        rows[path.split("/")[0]] += manifest["files"][path]["rows"]
    counts = manifest["counts"]
    for folder, stage, name in (
        ("articles", "articles", "articles_out"),
        ("wanted", "wanted", "references_out"),
        ("documents", "scan", "documents_out"),
        ("examples", "examples", "examples_out"),
    ):
        if rows[folder] != counts[stage].get(name, 0):
            yield "count", f"{folder}: {rows[folder]} rows, but {name} is {counts[stage].get(name)}"
    dropped = Counter[str]()
    for path in paths:
        if path.startswith("dropped/"):
            for row in read_rows(workspace.path(path), ["stage", "kind", "reason"]):
                dropped[row["stage"]] += 1
    for stage, number in dropped.items():
        told = sum(n for name, n in counts[stage].items() if name.startswith("dropped_"))
        if told != number:
            yield "count", f"dropped: {number} rows of {stage}, but its counts say {told}"
