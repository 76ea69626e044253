"""Train the weights of the fast tagger of entities on what spaCy finds in real paragraphs.

    python -m benchmarks.train_entities DATASET ... --out graphs/fast_entities.json

A dataset is the folder of a build. A third of the articles, by their ids, is left for
`benchmarks.entities`: neither their text nor the pages that they want are trained on. spaCy labels
the paragraphs of all other documents and articles, and an averaged perceptron (Collins 2002) learns
the labels, in an order that a seed decides.
"""

import argparse
import hashlib
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

from wikisum.graphs.entities import TYPES, recognizer
from wikisum.graphs.fast_entities import (
    BEGIN,
    INSIDE,
    OUTSIDE,
    Tagger,
    Token,
    best_labels,
    features,
    tokenize,
    zones,
)

EPOCHS = 8
SEED = 1
SCALE = 100  # of the stored integers
MIN_COUNT = 2  # zones with a feature
MIN_WEIGHT = 120  # below this a stored weight is left out


class Zone(NamedTuple):
    """The features of each token of a range, and its labels."""

    features: list[list[str]]
    labels: list[int]


def is_held_out(article: str) -> bool:
    """Whether an article is for measuring only."""
    return int(article, 16) % 3 == 0


def rows(folder: Path, columns: list[str]) -> Iterator[dict]:
    """Yield the rows of a folder of shards."""
    for path in sorted(folder.glob("*.parquet")):
        yield from pq.read_table(path, columns=columns).to_pylist()


def training_texts(datasets: Sequence[Path]) -> list[str]:
    """Return the distinct paragraphs of documents and articles that are not held out."""
    held_out = {
        row["url"]
        for data in datasets
        for row in rows(data / "wanted", ["url", "article"])
        if is_held_out(row["article"])
    }
    texts: dict[str, None] = {}
    for data in datasets:
        for row in rows(data / "documents", ["url", "paragraphs"]):
            if row["url"] not in held_out:
                texts.update(dict.fromkeys(row["paragraphs"]))
        for row in rows(data / "articles", ["id", "lead", "sections"]):
            if not is_held_out(row["id"]):
                parts = [row["lead"], *(s["text"] for s in row["sections"])]
                texts.update(dict.fromkeys(line for part in parts for line in part.splitlines()))
    return [text for text in texts if text != text.lower()]


def labeled_zones(texts: Sequence[str]) -> Iterator[Zone]:
    """Yield the zones of the texts, with the labels that spaCy's entities give their tokens."""
    for text, document in zip(texts, recognizer().pipe(texts, batch_size=64), strict=True):
        names = [(e.start_char, e.end_char) for e in document.ents if e.label_ in TYPES]
        tokens = tokenize(text)
        labels = labels_of(tokens, names)
        for start, end in zones(tokens):
            inputs = [features(tokens, i) for i in range(start, end)]
            of_zone = labels[start:end]
            if of_zone[0] == INSIDE:  # the name begins before the zone, with `the`
                of_zone[0] = BEGIN
            yield Zone(inputs, of_zone)


def labels_of(tokens: Sequence[Token], names: Sequence[tuple[int, int]]) -> list[int]:
    """Return the label of each token; `names` are ranges of characters, in order."""
    labels = [OUTSIDE] * len(tokens)
    for start, end in names:
        inside = [i for i, t in enumerate(tokens) if t.start < end and t.end > start]
        while len(inside) > 1 and tokens[inside[0]].lower == "the":
            inside = inside[1:]
        for i in inside:
            labels[i] = INSIDE if i != inside[0] else BEGIN
    return labels


class Perceptron:
    """An averaged structured perceptron over zones."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self._weights: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 3)
        self._sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0] * 3)
        self._steps = 1

    def update(self, zone: Zone) -> bool:
        """Learn a zone; whether it was labeled wrongly before."""
        weights = self._weights
        emissions = []
        for names in zone.features:
            sums = [0.0, 0.0, 0.0]
            for name in names:
                if name in weights:
                    w = weights[name]
                    sums = [sums[0] + w[0], sums[1] + w[1], sums[2] + w[2]]
            emissions.append(tuple(sums))
        transitions = [weights[f"t {k}"] for k in range(3)]
        found = best_labels(emissions, transitions)  # type: ignore[arg-type]
        self._steps += 1
        if found == zone.labels:
            return False
        before_right = before_found = OUTSIDE
        for names, right, wrong in zip(zone.features, zone.labels, found, strict=True):
            if right != wrong:
                for name in names:
                    if name in self._known:
                        self._add(name, right, 1.0)
                        self._add(name, wrong, -1.0)
            self._add(f"t {before_right}", right, 1.0)
            self._add(f"t {before_found}", wrong, -1.0)
            before_right, before_found = right, wrong
        return True

    def _add(self, name: str, label: int, by: float) -> None:
        self._weights[name][label] += by
        self._sums[name][label] += by * self._steps

    def averaged(self) -> dict[str, list[int]]:
        """Return the mean of the weights over all steps, as integers."""
        return {
            name: [
                round(SCALE * (w - s / self._steps))
                for w, s in zip(self._weights[name], sums, strict=True)
            ]
            for name, sums in sorted(self._sums.items())
        }


def train(train_zones: list[Zone]) -> Tagger:
    """Return the tagger that was trained on the zones."""
    counts = Counter[str]()
    for zone in train_zones:
        counts.update({name for names in zone.features for name in names})
    model = Perceptron({name for name, count in counts.items() if count >= MIN_COUNT})
    order = random.Random(SEED)
    for epoch in range(EPOCHS):
        order.shuffle(train_zones)
        wrong = sum(map(model.update, train_zones)) / len(train_zones)
        print(f"epoch {epoch + 1}: {wrong:.3f} of {len(train_zones):,} zones wrong", flush=True)
    weights = model.averaged()
    transitions = [weights.pop(f"t {k}", [0, 0, 0]) for k in range(3)]
    kept = {
        name: (w[0], w[1], w[2]) for name, w in weights.items() if max(map(abs, w)) >= MIN_WEIGHT
    }
    return Tagger(kept, transitions)


def main() -> None:
    """Train, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    texts = training_texts(args.datasets)
    words = sum(len(text.split()) for text in texts)
    print(f"{len(texts):,} paragraphs, {words:,} words")
    tagger = train(list(labeled_zones(texts)))
    lines = ",\n".join(
        f"{json.dumps(name, ensure_ascii=False)}:[{b},{i},{o}]"
        for name, (b, i, o) in tagger.features.items()
    )
    stored = f'{{"transitions":{json.dumps(tagger.transitions)},\n"features":{{\n{lines}\n}}}}\n'
    args.out.write_text(stored, encoding="utf-8")
    digest = hashlib.sha256(stored.encode()).hexdigest()[:16]
    print(f"{len(tagger.features):,} features, {len(stored):,} bytes, sha256 {digest}")


if __name__ == "__main__":
    main()
