import math
import random

import numpy as np
import pytest

from wikisum.crawl.extract.page_fields import PageFields
from wikisum.ranker.search.bm25 import Collection, idf, term_weights
from wikisum.ranker.search.phrases import WordHashes, search_terms, title_phrase
from wikisum.ranker.search.query_index import PartBuilder, QueryIndex, merge, ranges
from wikisum.ranker.search.searcher import (
    Searcher,
    Statistics,
    StatisticsCounter,
    add_up,
    page_terms,
)

WORDS = WordHashes()
TITLES = ["Tavin Bridge", "Mercury (planet)", "Mercury (element)", "The Tavin", "Bridge of Sighs"]
PAGES = [
    PageFields("The Tavin Bridge", ["Mercury on the bridge"], ["a bridge", "of sighs"], "en"),
    PageFields("News", [], ["the Tavin bridge is a planet", "Bridge of Sighs, bridge"], "en"),
    PageFields("Nothing", [], ["tavin", "bridge"], "en"),
]


def index_of(titles: list[str], parts: int = 1) -> QueryIndex:
    builders = [PartBuilder(WORDS) for _ in range(parts)]
    for number, title in enumerate(titles):
        builders[number % parts].add(title, [(number, title)], [])
    return merge([b.part() for b in builders])


def counted(index: QueryIndex, pages: list[PageFields]) -> Statistics:
    counter = StatisticsCounter(index)
    for page in pages:
        counter.add(page_terms(page, WORDS))
    return counter.statistics()


def answers(index: QueryIndex, pages: list[PageFields], page: PageFields) -> dict[int, float]:
    searcher = Searcher(index, counted(index, pages), 0.5)
    found = searcher.answers(page_terms(page, WORDS))
    return dict(zip(index.numbers[found.queries].tolist(), found.scores.tolist(), strict=True))


def plain_scores(titles: list[str], pages: list[PageFields], page: PageFields) -> dict[int, float]:
    """Scores of the queries whose phrase stands in a line of the page, without any index."""
    fields = [[[p.title], p.headings, p.text] for p in pages]
    words = [[[t for line in f for t in search_terms(line)] for f in one] for one in fields]
    lengths = np.array([[len(f) for f in one] for one in words])
    of = Collection(len(pages), lengths.sum(axis=0))
    own = words[pages.index(page)]
    lines = [search_terms(x) for x in [page.title, *page.headings, *page.text]]
    scores = {}
    for number, title in enumerate(titles):
        phrase = title_phrase(title)
        held = any(phrase == x[i : i + len(phrase)] for x in lines for i in range(len(x)))
        if phrase and held:
            scores[number] = 0.0
            for term in set(search_terms(title)):
                holders = sum(any(term in f for f in one) for one in words)
                counts = np.array([[f.count(term)] for f in own])
                weight = idf(np.array([holders]), len(pages))
                scores[number] += term_weights(counts, lengths[pages.index(page)], weight, of)[0]
    return scores


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("parts", [1, 2, 5])
def test_scores_are_those_of_a_plain_search(page, parts):
    found = answers(index_of(TITLES, parts), PAGES, page)
    assert found == pytest.approx(plain_scores(TITLES, PAGES, page), abs=1e-6)


def test_random_pages_agree_with_a_plain_search():
    source = random.Random(7)

    def line(least: int, most: int) -> str:
        return " ".join(source.choices("abcdefg", k=source.randint(least, most)))

    titles = sorted({line(1, 3) for _ in range(60)})
    pages = [
        PageFields(line(1, 4), [line(1, 3)], [line(3, 20) for _ in range(3)], None)
        for _ in range(12)
    ]
    index = index_of(titles, 3)
    for page in pages:
        found = answers(index, pages, page)
        assert found == pytest.approx(plain_scores(titles, pages, page), abs=1e-6)


def test_a_qualifier_does_not_select_but_ranks():
    found = answers(index_of(TITLES), PAGES, PAGES[0])
    assert {0, 1, 2, 3} <= set(found)
    page = PAGES[1]._replace(text=["mercury is a planet"])
    both = answers(index_of(TITLES), [*PAGES, page], page)
    assert both[1] > both[2] > 0


def test_a_common_phrase_counts_in_the_head_of_a_page_only():
    index = index_of(["It", "Rare thing"])
    pages = [PageFields("News", [], ["it is so", "a rare thing"], "en")] * 60
    statistics = counted(index, pages)
    assert statistics.phrase_holders.tolist() == [60, 60]
    few = Statistics(statistics.collection, statistics.term_holders, np.array([60, 60]))
    assert len(Searcher(index, few, 0.5).answers(page_terms(pages[0], WORDS)).queries) == 0
    head = pages[0]._replace(title="It")
    found = Searcher(index, few, 0.5).answers(page_terms(head, WORDS))
    assert index.numbers[found.queries].tolist() == [0]


def test_pages_that_copy_the_article_are_left_out():
    source = random.Random(3)
    text = "Tavin Bridge " + " ".join(f"w{source.randrange(999)}" for _ in range(600))
    builder = PartBuilder(WORDS)
    builder.add("Tavin Bridge", [(0, "Tavin Bridge")], [text])
    builder.add("The Tavin", [(1, "The Tavin")], [])
    index = merge([builder.part()])
    copy = PageFields("The Tavin Bridge", [], [text], "en")
    other = PageFields("The Tavin Bridge", [], ["a page of its own"], "en")
    searcher = Searcher(index, counted(index, [copy, other]), 0.5)
    found = searcher.answers(page_terms(copy, WORDS))
    assert index.numbers[found.queries].tolist() == [1]
    assert found.clone_count == 1
    assert len(searcher.answers(page_terms(other, WORDS)).queries) == 2


def test_statistics_of_parts_add_up():
    index = index_of(TITLES)
    whole = counted(index, PAGES)
    parts = add_up([counted(index, PAGES[:1]), counted(index, PAGES[1:])])
    assert parts.collection.page_count == whole.collection.page_count == 3
    assert parts.collection.field_lengths.tolist() == whole.collection.field_lengths.tolist()
    assert parts.term_holders.tolist() == whole.term_holders.tolist()
    assert parts.phrase_holders.tolist() == whole.phrase_holders.tolist()
    numbers = dict(zip(index.vocabulary.tolist(), whole.term_holders.tolist(), strict=True))
    assert numbers[WORDS["bridge"]] == 3
    assert numbers[WORDS["planet"]] == 1
    assert math.isclose(whole.collection.field_lengths[0], 5)


def test_sections_of_one_article_share_its_phrase():
    builder = PartBuilder(WORDS)
    builder.add("Tavin Bridge", [(0, "Tavin Bridge Sighs"), (1, "Tavin Bridge Planet")], [])
    index = merge([builder.part()])
    assert len(index.phrases) == 1
    found = answers(index, PAGES, PAGES[1])
    assert set(found) == {0, 1}


def test_a_title_without_words_cannot_be_searched_for():
    assert not PartBuilder(WORDS).add("!!!", [(0, "!!!")], [])


def test_ranges():
    starts, ends = np.array([3, 7, 7, 0]), np.array([5, 7, 8, 2])
    assert ranges(starts, ends).tolist() == [3, 4, 7, 0, 1]
    assert ranges(starts[:0], ends[:0]).tolist() == []
