"""Compare the ways of recognizing entities: speed, and agreement of graphs with spaCy's.

    python -m benchmarks.entities DATASET ... [--rounds 2]

A dataset is the folder of a build. Only examples are measured that `benchmarks.train_entities` left
out of its training, their first 40 paragraphs. The reference is spaCy on whole paragraphs. CPU
seconds are summed over rounds in which the ways alternate. An edge is a pair of paragraphs of an
example that share an entity; entities and edges are compared as sets. Intervals are of 1,000
bootstrap samples of the articles.
"""

import argparse
import platform
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path

from benchmarks.train_entities import is_held_out, rows
from wikisum.graphs import entities
from wikisum.graphs.entities import paragraph_entities, recognizer, words_near_names

PARAGRAPHS = 40
Names = list[frozenset[str]]
Way = Callable[[Sequence[str]], Names]


def held_out(datasets: Sequence[Path]) -> list[list[str]]:
    """Return the paragraphs of each held-out example, up to 100, each article once."""
    found = {}
    for data in datasets:
        for row in rows(data / "examples", ["id", "paragraphs"]):
            if is_held_out(row["id"]):
                found.setdefault(row["id"], [p["text"] for p in row["paragraphs"]])
    return list(found.values())


def whole(texts: Sequence[str]) -> Names:
    """Return spaCy's entities of the whole paragraphs."""
    documents = recognizer().pipe(texts, batch_size=entities.BATCH)
    return [entities.names_of([e.text for e in d.ents if e.label_ in entities.TYPES])
            for d in documents]  # fmt: skip


def excerpts(texts: Sequence[str]) -> Names:
    """Return spaCy's entities of the words near capital letters, the default."""
    entities.forget()
    return paragraph_entities(texts, "spacy")


def fast(texts: Sequence[str]) -> Names:
    """Return the entities of the fast tagger."""
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


def counted(true: set, found: set) -> Counter[str]:
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


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    every = held_out(args.datasets)
    examples = [texts[:PARAGRAPHS] for texts in every]
    texts = [text for example in examples for text in example]
    words = sum(len(text.split()) for text in texts)
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    print(f"{len(examples)} articles, {len(texts):,} paragraphs, {words:,} words; {machine}\n")
    seconds: Counter[str] = Counter()
    found: dict[str, Names] = {}
    for way in WAYS.values():
        way(texts[:20])  # loads the models
    for _ in range(args.rounds):
        for name, way in WAYS.items():
            start = time.process_time()
            found[name] = way(texts)
            seconds[name] += time.process_time() - start
    base = seconds["spacy, whole paragraphs"]
    columns = ("way", "words per CPU second", "ratio", "entities P / R / F1", "edges P / R / F1")
    print(f"| {' | '.join(columns)} | 95 % |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, names in found.items():
        of_names, of_edges, start = [], [], 0
        for example in examples:
            end = start + len(example)
            true, mine = found["spacy, whole paragraphs"][start:end], names[start:end]
            pairs = zip(true, mine, strict=True)
            of_names.append(sum((counted(set(a), set(b)) for a, b in pairs), Counter()))
            of_edges.append(counted(edges(true), edges(mine)))
            start = end
        cells = [
            " / ".join(f"{value:.3f}" for value in agreement(sum(c, Counter())))
            for c in (of_names, of_edges)
        ]
        low, high = interval(of_edges)
        rate = args.rounds * words / seconds[name]
        ratio = base / seconds[name]
        shown = [name, f"{rate:,.0f}", f"{ratio:.2f}", *cells, f"{low:.3f} to {high:.3f}"]
        print(f"| {' | '.join(shown)} |")
    near = sum(len(words_near_names(text).split()) for text in texts)
    print(f"\n{near / words:.3f} of the words are near capital letters")


if __name__ == "__main__":
    main()
