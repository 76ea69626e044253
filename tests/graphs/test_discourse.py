import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs.discourse import MARKERS, begins_with_marker, discourse_graph

PARAGRAPHS = ["It rained.", "However, it stopped.", "In fact, it snowed.", "Then it froze."]
NOBODY = [frozenset[str]()] * 4


def test_markers_join_neighbors_of_a_page():
    edges = discourse_graph(PARAGRAPHS, [0, 0, 1, 1], [4, 5, 6, 8], NOBODY)
    assert edges == ([0], [1], [1.0])  # 2 begins its page, 3 stands one further than next


def test_direction_is_that_of_the_page_not_of_the_ranking():
    edges = discourse_graph(["However, it stopped.", "It rained."], [0, 0], [1, 0], NOBODY[:2])
    assert edges == ([0], [1], [1.0])
    edges = discourse_graph(["However, it stopped.", "It rained."], [0, 0], [0, 1], NOBODY[:2])
    assert edges == ([], [], [])


def test_entities_weigh_a_fifth_each():
    entities = [{"Rome", "Nero"}, {"Nero", "Rome", "Otho"}, {"Otho"}, set()]
    edges = discourse_graph(PARAGRAPHS, [0] * 4, [0, 1, 5, 9], entities)
    assert edges == ([0, 1], [1, 2], [1.4, 0.2])


def test_there_are_36_markers():
    assert len(set(MARKERS)) == len(MARKERS) == 36


@pytest.mark.parametrize("marker", MARKERS)
def test_every_marker_joins_at_the_start(marker):
    assert begins_with_marker(f"{marker.capitalize()}, it was")
    assert begins_with_marker(f"“But {marker.replace(' ', '  ')} it was")
    assert not begins_with_marker(f"It was {marker} so")
    assert not begins_with_marker(f"{marker}x")


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("For example, cats", True),
        ("As an example", True),
        ("• Also", True),
        ("Evening fell.", False),
        ("Laterally", False),
        ("", False),
        ("The day before yesterday", True),
        ("Yesterday", False),
    ],
)
def test_marker_at_the_start(text, joined):
    assert begins_with_marker(text) is joined


def test_lists_must_match():
    with pytest.raises(ValueError, match="equally many"):
        discourse_graph(["a"], [0, 1], [0], [set()])
    with pytest.raises(ValueError, match="equally many"):
        discourse_graph(["a"], [0], [0], [])


@pytest.mark.slow
@pytest.mark.parametrize("size", [0, 1])
def test_too_few_for_an_edge(size):
    assert discourse_graph(["a"] * size, [0] * size, [0] * size) == ([], [], [])


NAMES = st.frozensets(st.sampled_from(["A", "B", "C"]))
PLACES = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 4)), unique=True, max_size=7)


@pytest.mark.slow
@given(PLACES, st.data())
def test_equals_the_formula(places, data):
    size = len(places)
    texts = data.draw(st.lists(st.sampled_from(PARAGRAPHS), min_size=size, max_size=size))
    entities = data.draw(st.lists(NAMES, min_size=size, max_size=size))
    expected = []
    for i in range(size):
        for j in range(i + 1, size):
            first, second = sorted((i, j), key=places.__getitem__)
            (page, place), (other_page, other_place) = places[first], places[second]
            is_next = page == other_page and other_place == place + 1
            joined = is_next and texts[second] != PARAGRAPHS[0]
            if weight := round(0.2 * len(entities[i] & entities[j]) + joined, 6):
                expected.append((i, j, weight))
    edges = discourse_graph(texts, [d for d, _ in places], [p for _, p in places], entities)
    assert list(zip(*edges, strict=True)) == expected
