"""How long does each ranking method take for 525 paragraphs of 70 words?

The text is drawn from a Zipf distribution over 20,000 words, so that common words are as common
as in prose; the title is of three words of middling frequency. Run from the repository's root:

    python -m benchmarks.ranking_speed
"""

import json
import platform
import time
from collections.abc import Callable

import numpy as np

from wikisum.graphs.discourse import discourse_graph
from wikisum.graphs.similarity import similarity_graph
from wikisum.ranker.rank import METHODS, rank

PARAGRAPHS = 525
WORDS = 70
VOCABULARY = 20_000
REPEATS = 7


def made_up_text(seed: int) -> tuple[str, list[str], str]:
    """A title, paragraphs and a lead of 140 words, half of it taken from the paragraphs."""
    source = np.random.default_rng(seed)
    share = 1 / np.arange(2, VOCABULARY + 2)
    share /= share.sum()
    words = np.array([f"w{number}" for number in range(VOCABULARY)])
    drawn = source.choice(words, size=(PARAGRAPHS, WORDS), p=share)
    lead = [*drawn[7], *source.choice(words, size=WORDS, p=share)]
    return "w100 w200 w300", [" ".join(row) for row in drawn], " ".join(lead)


def milliseconds(call: Callable[[], object]) -> tuple[float, float]:
    """The best and the median of some runs."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return min(times), sorted(times)[REPEATS // 2]


def main() -> None:
    """Print the table and its JSON line."""
    title, paragraphs, lead = made_up_text(0)
    calls: dict[str, Callable[[], object]] = {
        method: (lambda method=method: rank(method, title, paragraphs, lead=lead))
        for method in METHODS
    }
    places = list(range(PARAGRAPHS))
    entities = [frozenset(p.split()[:4]) for p in paragraphs]
    calls["similarity graph"] = lambda: similarity_graph(paragraphs)
    calls["discourse graph, entities given"] = lambda: discourse_graph(
        paragraphs, [0] * PARAGRAPHS, places, entities
    )
    found = {name: milliseconds(call) for name, call in calls.items()}
    print(f"{'method':34} {'best ms':>8} {'median ms':>10}")
    for name, (best, median) in found.items():
        print(f"{name:34} {best:8.1f} {median:10.1f}")
    rounded = {name: [round(t, 2) for t in times] for name, times in found.items()}
    print(json.dumps({"python": platform.python_version(), "ms": rounded}))


if __name__ == "__main__":
    main()
