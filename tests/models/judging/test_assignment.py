from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.judging.assignment import Design, assign


@st.composite
def designs(draw):
    systems, judges = draw(st.integers(1, 4)), draw(st.integers(1, 8))
    once = draw(st.booleans()) and judges >= systems
    return Design(
        examples=draw(st.integers(1, 6)),
        systems=systems,
        judges=judges,
        judges_per_item=draw(st.integers(1, judges // systems if once else judges)),
        systems_per_screen=1 if once else draw(st.integers(1, systems)),
        once_per_example=once,
    )


@given(designs(), st.integers(0, 5))
def test_every_item_has_its_judges_and_the_work_is_equal(design, seed):
    screens = assign(design, seed)
    assert assign(design, seed) == screens
    seen = Counter((s.example, tuple(sorted(s.systems))) for mine in screens for s in mine)
    groups = combinations(range(design.systems), design.systems_per_screen)
    items = {(e, g) for g in groups for e in range(design.examples)}
    assert seen == dict.fromkeys(items, design.judges_per_item)
    for mine in screens:  # nobody sees an item twice
        assert len({(s.example, frozenset(s.systems)) for s in mine}) == len(mine)
        if design.once_per_example:
            assert len({s.example for s in mine}) == len(mine)
    sizes = list(map(len, screens))
    assert max(sizes) - min(sizes) <= 1


def test_judges_see_the_systems_about_equally_often():
    screens = assign(Design(24, 3, 6, 2, once_per_example=True), 0)
    counts = [Counter(s.systems[0] for s in mine) for mine in screens]
    assert {len(mine) for mine in screens} == {24}
    assert all(6 <= n <= 10 for count in counts for n in count.values())


def test_sides_and_order_are_random():
    (mine,) = assign(Design(60, 2, 1, 1, 2), 3)
    first = Counter(s.systems[0] for s in mine)
    assert 18 <= first[0] <= 42
    assert [s.example for s in mine] != sorted(s.example for s in mine)
    assert assign(Design(60, 2, 1, 1, 2), 4) != [mine]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"judges_per_item": 3}, "--judges-per-item 3 needs at least that many --judges, not 2"),
        ({"systems_per_screen": 4}, "4 systems are shown at once, not 3"),
        ({"once_per_example": True}, "3 systems with --judges-per-item 2 need --judges 6, not 2"),
    ],
)
def test_sizes_that_do_not_fit(sizes, message):
    fitting = {"examples": 5, "systems": 3, "judges": 2, "judges_per_item": 2}
    with pytest.raises(ValueError, match=message):
        Design(**fitting | sizes)
