"""The speed of this machine's core, so that measured rates of another machine can be scaled."""

import re
import time
import zlib
from collections import Counter

REFERENCE_ROUNDS = 470.0  # per CPU second, of the core that the rates are stated for
ROUNDS = 40
_TEXT = " ".join(f"word{i % 97} Name{i % 89}, {i};" for i in range(2000))
_WORD = re.compile(r"[^\W_]+")


def core_speed(rounds: int = ROUNDS) -> float:
    """Return how fast this core is, 1 for that of the rates: words counted, text compressed.

    Takes a fraction of a second. A core that other work shares is measured as it is shared.
    """
    start = time.process_time()
    for _ in range(rounds):
        Counter(_WORD.findall(_TEXT.lower()))
        zlib.compress(_TEXT.encode(), 1)
    seconds = time.process_time() - start
    return rounds / max(seconds, 1e-9) / REFERENCE_ROUNDS
