"""How much longer a call takes on a longer input."""

import gc
import time
from collections.abc import Callable

import pytest


@pytest.fixture
def growth() -> Callable[[Callable[[int], object], int, int], float]:
    """(call, small, large) -> CPU time of call(large) over that of call(small), least of three.

    The collector is off: it would walk whatever other tests of the process have left.
    """

    def seconds(call: Callable[[int], object], count: int) -> float:
        start = time.process_time()
        call(count)
        return time.process_time() - start

    def ratio(call: Callable[[int], object], small: int, large: int) -> float:
        gc.disable()
        try:
            call(small)
            least, most = (min(seconds(call, n) for _ in range(3)) for n in (small, large))
        finally:
            gc.enable()
        return most / max(least, 0.005)

    return ratio
