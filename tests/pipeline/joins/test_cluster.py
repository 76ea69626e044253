import pytest

from tests.flows import SumFlow, run_on_beam
from tests.pipeline.joins.test_local import FILES, parts_of


@pytest.mark.slow
def test_beams_own_groupings_write_the_same(tmp_path):
    sums = SumFlow(tmp_path, FILES)
    run_on_beam(sums.flow(3, 2, 2), parts_of(tmp_path))
    assert sums.written() == sums.expected()
    results = parts_of(tmp_path).load(4)
    assert sum(result.counts["letters_out"] for result in results.values()) == 8
