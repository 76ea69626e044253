import pytest

from wikisum.pipeline.report.paper_figures import PERCENTILES, SHARE_CRAWLED, SPLITS


@pytest.mark.parametrize("name", PERCENTILES)
def test_percentiles_are_those_of_the_table_and_do_not_fall(name):
    assert list(PERCENTILES[name]) == [20, 40, 50, 60, 80, 100]
    values = list(PERCENTILES[name].values())
    assert values == sorted(values)


def test_splits_have_the_sizes_and_shares_of_the_papers():
    wikisum, hierarchical = SPLITS["wikisum"], SPLITS["hierarchical"]
    assert sum(wikisum.values()) == 2_332_000
    assert [round(n / 2_332_000, 3) for n in wikisum.values()] == [0.8, 0.1, 0.1]
    assert sum(hierarchical.values()) == 1_655_709
    assert SHARE_CRAWLED == 0.789
