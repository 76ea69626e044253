import json

import pytest

from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.validate.pool import map_in_order


def squared(number: int, ticker: Ticker) -> int:
    if number < 0:
        raise ValueError(f"{number} is negative")
    ticker.add(items=1)
    return number**2


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(tmp_path, workers):
    ticker = Ticker(str(tmp_path))
    results = list(map_in_order(squared, range(30), workers, ticker))
    ticker.flush()
    assert results == [number**2 for number in range(30)]
    assert sum(json.loads(path.read_text())[0] for path in tmp_path.iterdir()) == 30


def test_an_error_of_a_process_is_raised_here():
    with pytest.raises(ValueError, match="-1 is negative"):
        list(map_in_order(squared, [1, -1, 2], 2, Ticker(None)))
