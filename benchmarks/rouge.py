"""How fast is our ROUGE beside `rouge-score` and `rouge-score-rs`, and are they equal?

Pairs of made-up summaries of about 140 words in lines of 20, a third of it shared; then the
ranker's labels for 525 paragraphs, and ROUGE-L recall of 40 paragraphs. From the root:

    python -m benchmarks.rouge
"""

import importlib
import json
import platform
import random
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

from benchmarks.ranking_speed import made_up_text, milliseconds
from wikisum.ranker.rouge import lcs_lengths, rouge, rouge2_recall, rouge_tokens

PAIRS = 300
KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")
Scores = dict[str, dict[str, float]]


def made_up_pairs(count: int) -> list[tuple[str, str]]:
    """Candidates and references with line breaks and words that the stemmer changes."""
    _, paragraphs, _ = made_up_text(1)
    source = random.Random(1)
    endings = ("", "s", "ing", "ed", "ation")
    pairs = []
    for _ in range(count):
        shared, first, second = source.sample(paragraphs, 3)
        texts = []
        for own in (first, second):
            words = [w + source.choice(endings) for w in own.split()]
            words += shared.split()
            chunks = [words[i : i + 20] for i in range(0, len(words), 20)]
            source.shuffle(chunks)
            texts.append("\n".join(map(" ".join, chunks)))
        pairs.append((texts[0], texts[1]))
    return pairs


def scorer_of(package: str, stem: bool) -> Callable[[str, str], Scores] | None:
    """The scorer of a package in our form, or None if it is not installed."""
    try:
        module: Any = importlib.import_module(f"{package}.rouge_scorer")
    except ImportError:
        return None
    scorer = module.RougeScorer(list(KINDS), use_stemmer=stem)

    def score(candidate: str, reference: str) -> Scores:
        found = scorer.score(reference, candidate)
        return {
            kind: {"precision": s.precision, "recall": s.recall, "f1": s.fmeasure}
            for kind, s in found.items()
        }

    return score


def main() -> None:
    """Print the table and its JSON line."""
    pairs = made_up_pairs(PAIRS)
    rows: list[dict[str, Any]] = []
    for stem in (False, True):
        ours = [rouge(c, r, stem) for c, r in pairs]
        for package in ("ours", "rouge_score", "rouge_score_rs"):
            score = (
                (lambda c, r, s=stem: rouge(c, r, s))
                if package == "ours"
                else scorer_of(package, stem)
            )
            if score is None:
                continue
            start = time.perf_counter()
            scores = [score(c, r) for c, r in pairs]
            rate = len(pairs) / (time.perf_counter() - start)
            version = "" if package == "ours" else metadata.version(package)
            equal = sum(a == b for a, b in zip(ours, scores, strict=True))
            rows.append(
                {
                    "scorer": f"{package} {version}".strip(),
                    "stem": stem,
                    "pairs_per_second": round(rate),
                    "equal": equal,
                }
            )
    _, paragraphs, lead = made_up_text(0)
    best = " ".join(paragraphs[:40])
    labels = milliseconds(lambda: rouge2_recall(paragraphs, lead))[0]
    recall = milliseconds(lambda: lcs_lengths(rouge_tokens(lead), [rouge_tokens(best)]))[0]
    print(f"{'scorer':24} {'stem':>5} {'pairs/s':>8}  equal to ours, of {PAIRS}")
    for row in rows:
        print(f"{row['scorer']:24} {row['stem']!s:>5} {row['pairs_per_second']:8}  {row['equal']}")
    print(f"rouge2_recall of 525 paragraphs: {labels:.1f} ms")
    print(f"ROUGE-L recall of 40 paragraphs joined: {recall:.2f} ms")
    print(
        json.dumps(
            {
                "python": platform.python_version(),
                "scorers": rows,
                "labels_ms": round(labels, 2),
                "rougel_recall_ms": round(recall, 3),
            }
        )
    )


if __name__ == "__main__":
    main()
