"""Compare the ways of recognizing entities: speed, and agreement of graphs with spaCy's.

    python -m benchmarks.entities DATASET ... [--rounds 2]

A dataset is the folder of a build. Measured are the first 40 paragraphs of each example, each
article once. The reference is spaCy on whole paragraphs. spaCy keeps the words that it has seen:
each way is measured once with a new vocabulary, and then in rounds in which the ways alternate,
article by article. An edge is a pair of paragraphs of an example that share an entity; entities and
edges are compared as sets. Intervals are of 1,000 bootstrap samples of the articles.
"""

import argparse
import platform
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence, Set
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from wikisum.graphs import entities
from wikisum.graphs.entities import paragraph_entities, recognizer, words_near_names

PARAGRAPHS = 40
BATCH = 32  # examples, as a build reads them
Names = list[frozenset[str]]
Way = Callable[[Sequence[str]], Names]


def examples_of(datasets: Sequence[Path]) -> list[list[str]]:
    """Return the first paragraphs of each example, each article once."""
    found: dict[str, list[str]] = {}
    for data in datasets:
        for path in sorted((data / "examples").glob("*.parquet")):
            for row in pq.read_table(path, columns=["id", "paragraphs"]).to_pylist():
                texts = [p["text"] for p in row["paragraphs"][:PARAGRAPHS]]
                found.setdefault(row["id"], texts)
    return list(found.values())


def whole(texts: Sequence[str]) -> Names:
    """Return spaCy's entities of the whole paragraphs."""
    documents = recognizer().pipe(texts, batch_size=entities.BATCH)
    return [entities.names_of([e.text for e in d.ents if e.label_ in entities.TYPES])
            for d in documents]  # fmt: skip


def excerpts(texts: Sequence[str]) -> Names:
    """Return spaCy's entities of the words near capital letters."""
    entities.forget()
    return paragraph_entities(texts, "spacy")


def fast(texts: Sequence[str]) -> Names:
    """Return the entities that the fast evaluation finds in the same words."""
    entities.forget()
    return paragraph_entities(texts, "fast")


WAYS: dict[str, Way] = {"spacy, whole paragraphs": whole, "spacy": excerpts, "fast": fast}


def edges(names: Names) -> set[tuple[int, int]]:
    """Return the pairs of paragraphs that share an entity."""
    return {(i, j) for i, j in combinations(range(len(names)), 2) if names[i] & names[j]}


def agreement(counts: Counter[str]) -> tuple[float, float, float]:
    """Return precision, recall and F1."""
    right = counts["right"]
    precision, recall = right / max(counts["found"], 1), right / max(counts["true"], 1)
    return precision, recall, 2 * right / max(counts["found"] + counts["true"], 1)


def counted(true: Set[Any], found: Set[Any]) -> Counter[str]:
    """Return how many there are, are found, and are both."""
    return Counter(true=len(true), found=len(found), right=len(true & found))


def interval(by_article: list[Counter[str]]) -> tuple[float, float]:
    """Return the 95 % interval of F1 over bootstrap samples of the articles."""
    chance = random.Random(0)
    scores = sorted(
        agreement(sum(chance.choices(by_article, k=len(by_article)), Counter()))[2]
        for _ in range(1000)
    )
    return scores[25], scores[974]


def timed(way: Way, texts: Sequence[str]) -> tuple[Names, float]:
    """Return the entities that a way of recognizing them finds, and its CPU seconds."""
    start = time.process_time()
    found = way(texts)
    return found, time.process_time() - start


def cold_seconds(way: Way, texts: Sequence[str]) -> float:
    """Return the CPU seconds that a way of recognizing entities takes with a new model."""
    recognizer.cache_clear()
    way(["Rome"])  # loads the model
    return timed(way, texts)[1]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    examples = examples_of(args.datasets)
    texts = [text for example in examples for text in example]
    words = sum(len(text.split()) for text in texts)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"{len(examples)} articles, {len(texts):,} paragraphs, {words:,} words; {machine}\n")
    cold = {name: cold_seconds(way, texts) for name, way in WAYS.items()}
    seconds: Counter[str] = Counter()
    found: dict[str, list[Names]] = {}
    for _ in range(args.rounds):
        found = {name: [] for name in WAYS}
        for start in range(0, len(examples), BATCH):
            batch = examples[start : start + BATCH]
            for name, way in WAYS.items():
                names, taken = timed(way, [text for example in batch for text in example])
                seconds[name] += taken / args.rounds
                found[name] += split(names, batch)
    reference = found["spacy, whole paragraphs"]
    columns = (
        "way",
        "words per CPU second (new model)",
        "ratio",
        "entities P / R / F1",
        "edges P / R / F1",
    )
    print(f"| {' | '.join(columns)} | 95 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, by_example in found.items():
        rate = f"{words / seconds[name]:,.0f} ({words / cold[name]:,.0f})"
        ratio = f"{seconds['spacy, whole paragraphs'] / seconds[name]:.2f}"
        print(f"| {' | '.join([name, rate, ratio, *compared(reference, by_example)])} |")
    same = sum(a == b for a, b in zip(flat(found["spacy"]), flat(found["fast"]), strict=True))
    print(f"\n`spacy` and `fast` agree on {same:,} of {len(texts):,} paragraphs")
    near = sum(len(words_near_names(text).split()) for text in texts)
    print(f"{near / words:.3f} of the words are near capital letters")


def split(names: Names, examples: Sequence[Sequence[str]]) -> list[Names]:
    """Return the entities of paragraphs by example."""
    left = iter(names)
    return [[next(left) for _ in example] for example in examples]


def flat(by_example: Sequence[Names]) -> Names:
    """Return the entities of the paragraphs of all examples."""
    return [names for example in by_example for names in example]


def compared(reference: Sequence[Names], found: Sequence[Names]) -> list[str]:
    """Return the cells of the agreement: entities, edges, and the interval of edges."""
    of_names = [counted(a, b) for a, b in zip(flat(reference), flat(found), strict=True)]
    of_edges = [counted(edges(a), edges(b)) for a, b in zip(reference, found, strict=True)]
    cells = [
        " / ".join(f"{value:.3f}" for value in agreement(sum(c, Counter())))
        for c in (of_names, of_edges)
    ]
    low, high = interval(of_edges)
    return [*cells, f"{low:.3f} to {high:.3f}"]


if __name__ == "__main__":
    main()
