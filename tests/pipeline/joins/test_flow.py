from hypothesis import given
from hypothesis import strategies as st

from tests.flows import SumFlow
from wikisum.pipeline.joins.flow import range_of

keys = st.integers(0, 2**64 - 1)
counts = st.integers(1, 10_000)


@given(keys, keys, counts)
def test_ranges_follow_each_other_in_the_order_of_keys(a, b, count):
    low, high = sorted((a, b))
    assert 0 <= range_of(low, count) <= range_of(high, count) < count


def test_the_first_and_the_last_key_are_in_the_first_and_the_last_range():
    assert [range_of(key, 3) for key in (0, 2**64 // 3, 2**64 // 3 + 1, 2**64 - 1)] == [0, 0, 1, 2]
    assert range_of(-1, 3) == 2  # the bits of a signed key


def test_each_name_has_one_taker(tmp_path):
    flow = SumFlow(tmp_path, []).flow(2, 3, 4)
    words, letters = flow.steps
    assert flow.takers == {"numbers": words, "sums": letters, "letters": flow.target}
    assert [grouping.count for grouping in flow.groupings] == [2, 3, 16]
    assert [maker.label for maker in flow.makers] == ["first", "second", "words", "letters"]
