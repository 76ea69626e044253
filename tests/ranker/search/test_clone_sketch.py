import random

import numpy as np
import pytest

from wikisum.crawl.clones import article_shingles, clone_score
from wikisum.crawl.tokens import terms
from wikisum.ranker.search.clone_sketch import (
    MIN_SECTION_PAIRS,
    SAMPLED_ONE_IN,
    clone_scores,
    section_sketches,
    sketch,
)
from wikisum.ranker.search.phrases import BREAK, WordHashes

WORDS = WordHashes()


def text(seed: int, length: int) -> list[str]:
    source = random.Random(seed)
    return [f"w{source.randrange(5000)}" for _ in range(length)]


def score_of(page: list[str], sections: list[list[str]]) -> float:
    sketches = section_sketches(WORDS.of(s) for s in sections)
    starts = np.cumsum([0, *map(len, sketches)][:-1])
    return float(clone_scores(sketch(WORDS.of(page)), np.concatenate(sketches), starts).max())


def test_a_sketch_is_about_an_eighth_of_the_pairs_and_the_same_everywhere():
    words = text(1, 8000)
    whole = sketch(WORDS.of(words))
    assert len(whole) == pytest.approx(8000 / SAMPLED_ONE_IN, rel=0.15)
    part = sketch(WORDS.of(words[1000:2000]))
    assert set(part.tolist()) <= set(whole.tolist())


def test_pairs_do_not_run_across_lines():
    words = WORDS.of(text(2, 1000))
    cut = np.insert(words, 500, BREAK)
    assert set(sketch(cut).tolist()) == set(sketch(words[:500])) | set(sketch(words[500:]))


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_it_estimates_the_score_of_the_exact_rule(share):
    sections = [text(10 + i, 1200) for i in range(3)]
    page = text(20, 900) + sections[1][: int(share * 1200)]
    shingles = article_shingles(" ".join(sections[0]), [" ".join(s) for s in sections[1:]])
    exact = clone_score([terms(" ".join(page))], shingles)
    assert score_of(page, sections) == pytest.approx(exact, abs=0.12)


def test_small_sections_are_taken_together():
    small = [text(30 + i, 10) for i in range(12)]
    assert all(len(sketch(WORDS.of(s))) < MIN_SECTION_PAIRS for s in small)
    assert len(section_sketches(WORDS.of(s) for s in small)) == 1
    assert section_sketches([WORDS.of(small[0])]) == []
    assert len(section_sketches([WORDS.of(text(50, 200)), WORDS.of(small[0])])) == 1
