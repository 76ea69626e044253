"""A full check of a finished dataset: one line per fault, none if all is well."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import Any, NamedTuple, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from wikisum.crawl.clones import lead_bigrams, paragraph_clone_score
from wikisum.crawl.tokens import terms
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.manifest import read_manifest
from wikisum.pipeline.engine.progress import Ticker, watched
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.examples.subwords import MODEL
from wikisum.pipeline.options import PAGE_STAGES
from wikisum.pipeline.records import (
    ARTICLE,
    CAPTURE,
    DOCUMENT,
    DROPPED,
    EXAMPLE,
    SOURCES,
    SPLITS,
    WANTED,
)
from wikisum.pipeline.validate.tally import Tally, Unequal
from wikisum.ranker.data.vocab import load_model

SCHEMAS = {
    "articles": ARTICLE,
    "wanted": WANTED,
    "captures": CAPTURE,
    "documents": DOCUMENT,
    "dropped": DROPPED,
    "examples": EXAMPLE,
}
MOST_FAULTS_OF_A_KIND = 20
WRITE_BLOCK = 1 << 20


def validate(out: str, to: TextIO | None = None) -> Iterator[str]:
    """The faults of the dataset in `out`, a line each, at most 20 of a kind and then a count.

    Progress is drawn on `to`. Raises FileNotFoundError if there is no finished build.
    """
    seen: Counter[str] = Counter()
    for kind, line in _faults(Workspace(out), to):
        seen[kind] += 1
        if seen[kind] <= MOST_FAULTS_OF_A_KIND:
            yield line
    for kind, number in seen.items():
        if number > MOST_FAULTS_OF_A_KIND:
            yield f"... {number - MOST_FAULTS_OF_A_KIND} more faults of the kind: {kind}"


def _faults(workspace: Workspace, to: TextIO | None) -> Iterator[tuple[str, str]]:
    manifest = read_manifest(workspace)
    sound: list[str] = []
    size_bytes = sum(told["bytes"] for told in manifest["files"].values())
    with watched("hashes", "files", size_bytes, to) as ticker:
        for path, told in manifest["files"].items():
            faults = list(_file_faults(workspace.path(path), path, told, ticker))
            ticker.add(items=1)
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
        joined = manifest["settings"].get("examples", {"paragraph_clone_threshold": 1.0})
        threshold = joined["paragraph_clone_threshold"]
        rows = {path: told["rows"] for path, told in manifest["files"].items()}
        shards = [path for path in sound if path.startswith("examples/")]
        with watched("examples", "examples", sum(rows[path] for path in shards), to) as ticker:
            yield from _example_faults(workspace, shards, vocab_size, threshold, ticker)
        if "derived_from" not in manifest:  # fates stand where that one was made from
            yield from _fate_faults(workspace, rows, to)
        yield from _count_faults(workspace, sound, manifest)


def _file_faults(
    full: str, path: str, told: dict[str, Any], ticker: Ticker
) -> Iterator[tuple[str, str]]:
    """Whether a file is there, as it was written, and of the right form."""
    if not files.exists(full):
        yield "file", f"{path}: is missing"
        return
    digest = hashlib.sha256()
    with files.open_input(full) as raw:
        while block := raw.read(WRITE_BLOCK):
            digest.update(block)
            ticker.add(work=len(block))
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
    workspace: Workspace,
    paths: list[str],
    vocab_size: int | None,
    clone_threshold: float,
    ticker: Ticker,
) -> Iterator[tuple[str, str]]:
    for path in paths:
        split = path.split("/")[1].split("-")[0]
        if split not in SPLITS:
            yield "split", f"{path}: is of no split"
        for row in read_rows(workspace.path(path)):
            place = f"{path}: {row['id']} ({row['title']})"
            for fault in row_faults(row, vocab_size, clone_threshold):
                yield fault.split(":")[0], f"{place}: {fault}"
            ticker.add(items=1, work=1)


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
    for document in documents:
        if document["source"] not in SOURCES:
            yield f"documents: {document['source']!r} is no source"
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


class _Place(NamedTuple):
    """An article, or a pair of an article and a URL that it wants: wanted, or come to its fate."""

    kind: str
    name: str
    is_fate: bool
    file: str


def _places(workspace: Workspace, paths: Iterable[str]) -> Iterator[_Place]:
    """All that is wanted and every fate."""
    for path in paths:
        whole, folder = workspace.path(path), path.split("/")[0]
        if folder == "articles":
            for row in read_rows(whole, ["id"]):
                yield _Place("article", row["id"], False, path)
        elif folder == "wanted":
            for row in read_rows(whole, ["article", "url"]):
                yield _Place("reference", f"{row['article']} {row['url']}", False, path)
        elif folder == "examples":
            for row in read_rows(whole, ["id", "documents.list.element.url"]):
                yield _Place("article", row["id"], True, path)
                for document in row["documents"]:
                    yield _Place("reference", f"{row['id']} {document['url']}", True, path)
        elif folder == "dropped":
            for row in read_rows(whole, ["kind", "article", "url", "stage"]):
                if row["stage"] != "articles" and row["kind"] == "article":
                    yield _Place("article", row["article"], True, path)
                elif row["stage"] != "articles" and row["kind"] == "reference" and row["url"]:
                    yield _Place("reference", f"{row['article']} {row['url']}", True, path)


def _fate_faults(
    workspace: Workspace, rows: dict[str, int], to: TextIO | None
) -> Iterator[tuple[str, str]]:
    """Every article, and every pair of an article and a URL it wants, has exactly one fate.

    Read once to count, in flat memory, and a second time only to name what is wrong.
    """
    expected = sum(n for path, n in rows.items() if path.startswith(("articles/", "wanted/")))
    with Tally(expected) as tally:
        with watched("fates", "fates", 2 * expected, to) as ticker:
            for place in _places(workspace, rows):
                name = f"{place.kind} {place.name}"
                if place.is_fate:
                    tally.right(name)
                else:
                    tally.left(name)
                ticker.add(items=1, work=1)
        unequal = tally.unequal()
        named = {u.key: u for u in islice(unequal, MOST_FAULTS_OF_A_KIND)}
        yield from _named_faults(workspace, rows, named)
        for more in unequal:
            yield "fate", f"key {more.key:016x}: has {more.right} fates, not {more.left}"


def _named_faults(
    workspace: Workspace, paths: Iterable[str], faults: dict[int, Unequal]
) -> Iterator[tuple[str, str]]:
    if not faults:
        return
    name_by_key: dict[int, str] = {}
    files_by_key: dict[int, list[str]] = {key: [] for key in faults}
    for place in _places(workspace, paths):
        name = f"{place.kind} {place.name}"
        if (key := url_key(name)) in faults:
            name_by_key[key] = name
            if place.is_fate:
                files_by_key[key].append(place.file)
    for key, (_, wanted, fates) in faults.items():
        where = "".join(f", in {path}" for path in files_by_key[key])
        yield "fate", f"{name_by_key[key]}: has {fates} fates, not {wanted}{where}"


def _count_faults(
    workspace: Workspace, paths: list[str], manifest: dict[str, Any]
) -> Iterator[tuple[str, str]]:
    """Whether the manifest's counts are those of the rows."""
    rows = Counter[str]()
    for path in paths:
        rows[path.split("/")[0]] += manifest["files"][path]["rows"]
    counts = manifest["counts"]
    made: list[tuple[str, tuple[str, ...], str]] = [
        ("articles", ("articles",), "articles_out"),
        ("wanted", ("wanted",), "references_out"),
        ("captures", ("locate",), "captures_out"),
        ("documents", PAGE_STAGES, "documents_out"),
        ("examples", ("examples",), "examples_out"),
    ]
    if "derived_from" in manifest:
        made = [("examples", ("rank",), "examples_out")]
    for folder, stages, name in made:
        told = sum(counts.get(stage, {}).get(name, 0) for stage in stages)
        if rows[folder] != told:
            yield "count", f"{folder}: {rows[folder]} rows, but {name} is {told}"
    dropped = Counter[str]()
    for path in paths:
        if path.startswith("dropped/"):
            for row in read_rows(workspace.path(path), ["stage", "kind", "reason"]):
                dropped[row["stage"]] += 1
                if not row["reason"]:
                    yield "reason", f"{path}: a {row['kind']} has no reason"
    for stage, number in dropped.items():
        told = sum(n for name, n in counts[stage].items() if name.startswith("dropped_"))
        if told != number:
            yield "count", f"dropped: {number} rows of {stage}, but its counts say {told}"
