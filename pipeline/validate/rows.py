"""What can be wrong with one example."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from wikisum.crawl.clones import lead_bigrams, paragraph_clone_score
from wikisum.crawl.tokens import terms
from wikisum.pipeline.records import SOURCES
from wikisum.pipeline.validate.nulls import GRAPH_COLUMNS, null_faults


def row_faults(
    row: dict[str, Any],
    vocab_size: int | None,
    clone_threshold: float,
    made: frozenset[str] = frozenset(),
) -> Iterator[str]:
    """What is wrong with one example, at least all that the readers of shards refuse.

    Graphs and ids may be null as a whole, except for those in `made`. Of a row with a null
    elsewhere, only its nulls are named.
    """
    nulls = list(null_faults(row, made))
    yield from nulls if nulls else _value_faults(row, vocab_size, clone_threshold)


def _value_faults(
    row: dict[str, Any], vocab_size: int | None, clone_threshold: float
) -> Iterator[str]:
    documents, paragraphs = row["documents"], row["paragraphs"]
    if not row["lead"].strip():
        yield "lead: is empty"
    if not paragraphs or not documents:
        yield "paragraphs: none"
    urls = [d["url"] for d in documents]
    if len(set(urls)) != len(urls):
        yield "documents: a URL occurs twice"
    for document in documents:
        if document["source"] not in SOURCES:
            yield f"documents: {document['source']!r} is not a source"
    for number, paragraph in enumerate(paragraphs):
        if not 0 <= paragraph["document"] < len(documents):
            yield f"paragraphs: {number} is of document {paragraph['document']} of {len(documents)}"
    scores = [p["score"] for p in paragraphs]
    if any(a < b for a, b in pairwise(scores)):
        yield "paragraphs: not best first"
    bigrams = lead_bigrams(row["lead"])
    for number, paragraph in enumerate(paragraphs):
        if paragraph_clone_score(terms(paragraph["text"]), bigrams) > clone_threshold:
            yield f"paragraphs: {number} contains the lead"
    for name in GRAPH_COLUMNS:
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
        yield f"{name}: an edge occurs twice"
    if any(not weight > 0 for weight in graph["weight"]):
        yield f"{name}: a weight is not positive"
    if any(map(math.isinf, graph["weight"])):
        yield f"{name}: a weight is infinite"


def _id_faults(row: dict[str, Any], vocab_size: int | None) -> Iterator[str]:
    if row["paragraph_ids"] is None:
        return
    if len(row["paragraph_ids"]) != len(row["paragraphs"]):
        yield "ids: not one list per paragraph"
    for name in ("title", "lead"):
        if row[name].strip() and not row[f"{name}_ids"]:
            yield f"ids: none of the {name}"
    for ids in [row["title_ids"], row["lead_ids"], *row["paragraph_ids"]]:
        if vocab_size is not None and ids and max(ids) >= vocab_size:
            yield f"ids: {max(ids)} is not in the vocabulary of {vocab_size}"
