import random

import numpy as np

from wikisum.pipeline.records import CANDIDATE, Candidate, to_table
from wikisum.pipeline.search.merge import HITS, best_of
from wikisum.pipeline.search.pool import Pool
from wikisum.pipeline.search.settings import SearchSettings

SETTINGS = SearchSettings(results=2, per_host=1)
NUMBERS = np.array([70, 50, 60, 40])


def rows_of(table) -> list[tuple]:
    return [tuple(row.values()) for row in table.to_pylist()]


def test_hits_come_out_by_the_numbers_of_their_queries():
    pool = Pool(SETTINGS, NUMBERS)
    pool.add("http://a/", "https://a/", np.array([0, 1]), np.array([1.0, 2.0]))
    pool.add("http://b/", "http://b/", np.array([1, 3]), np.array([3.0, 0.0]))
    pool.add("http://c/", "http://c/", np.empty(0, np.int64), np.empty(0))
    assert rows_of(pool.take()) == [
        (40, 0.0, "http://b/", "http://b/"),
        (50, 3.0, "http://b/", "http://b/"),
        (50, 2.0, "http://a/", "https://a/"),
        (70, 1.0, "http://a/", "https://a/"),
    ]
    assert rows_of(pool.take()) == []
    assert not pool.is_full


def test_what_cannot_win_any_more_is_not_held():
    pool = Pool(SETTINGS, NUMBERS)
    for i in range(9):
        pool.add(f"http://h{i}/", f"http://h{i}/", np.array([1]), np.array([float(i)]))
    pool.add("http://x/", "http://x/", np.array([2]), np.array([1.0]))
    pool.take()
    pool.add("http://low/", "http://low/", np.array([1, 2]), np.array([6.9, 0.1]))
    pool.add("http://tie/", "http://tie/", np.array([1]), np.array([7.0]))
    assert [row[:3] for row in rows_of(pool.take())] == [
        (50, 7.0, "http://tie/"),
        (60, 0.1, "http://low/"),
    ]


def test_taking_now_and_then_loses_none_of_the_best():
    source = random.Random(5)
    pool = Pool(SETTINGS, NUMBERS)
    rows, taken = [], []
    for i in range(300):
        places = np.array(sorted(source.sample(range(4), source.randrange(5))), np.int64)
        scores = np.array([float(source.randrange(9)) for _ in places])
        url = f"http://h{source.randrange(20)}.example/{source.randrange(3)}"
        pool.add(url, url, places, scores)
        rows += [
            Candidate(int(NUMBERS[p]), s, url, url) for p, s in zip(places, scores, strict=True)
        ]
        if i % 37 == 0:
            taken += [Candidate(*row) for row in rows_of(pool.take())]
    taken += [Candidate(*row) for row in rows_of(pool.take())]
    assert len(taken) < len(rows) / 3

    def best(some: list[Candidate]) -> list[tuple]:
        return rows_of(best_of(to_table(some, CANDIDATE).cast(HITS), SETTINGS))

    assert best(taken) == best(rows)
