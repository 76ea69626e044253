"""Which judge sees which summaries, in which order.

Legend: an item is an example with the systems whose summaries are shown together.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple


class Screen(NamedTuple):
    """What one judge sees at once: an example (its index) and systems in the order shown.

    For a marker, `systems` is empty and `question` is the index of a question of the example.
    """

    example: int
    systems: tuple[int, ...] = ()
    question: int | None = None


@dataclass(frozen=True)
class Design:
    """Sizes of an assignment; raises ValueError if they do not fit together.

    `systems_per_screen` systems are shown at once. `once_per_example` shows a judge only one item
    of each example: who has read one summary could answer questions from memory of it.
    """

    examples: int
    systems: int
    judges: int
    judges_per_item: int
    systems_per_screen: int = 1
    once_per_example: bool = False

    def __post_init__(self) -> None:
        if self.systems < self.systems_per_screen:
            raise ValueError(
                f"{self.systems_per_screen} systems are shown at once, not {self.systems}"
            )
        if self.judges < self.judges_per_item:
            raise ValueError(
                f"--judges-per-item {self.judges_per_item} needs at least that many --judges, "
                f"not {self.judges}"
            )
        needed = self.systems * self.judges_per_item
        if self.once_per_example and self.judges < needed:
            raise ValueError(
                f"each judge reads one summary per example: {self.systems} systems with "
                f"--judges-per-item {self.judges_per_item} need --judges {needed}, "
                f"not {self.judges}"
            )


def assign(design: Design, seed: int) -> list[list[Screen]]:
    """Return the screens of each judge.

    Every item goes to `judges_per_item` different judges. The judges' numbers of screens differ by
    at most 1, and each judge sees the systems about equally often. The order of screens, and of
    summaries on a screen, is random. The same design and seed give the same assignment.
    """
    source = random.Random(f"{seed} assignment")
    screens: list[list[Screen]] = [[] for _ in range(design.judges)]
    seen: Counter[tuple[int, int]] = Counter()
    groups = list(combinations(range(design.systems), design.systems_per_screen))
    for example in range(design.examples):
        busy: set[int] = set()
        for systems in source.sample(groups, len(groups)):
            judges = _least_busy(design, screens, seen, systems, busy, source)
            for judge in judges:
                shown = tuple(source.sample(systems, len(systems)))
                screens[judge].append(Screen(example, shown))
                seen.update((judge, system) for system in systems)
            if design.once_per_example:
                busy.update(judges)
    return [source.sample(mine, len(mine)) for mine in screens]


def _least_busy(
    design: Design,
    screens: Sequence[Sequence[Screen]],
    seen: Counter[tuple[int, int]],
    systems: Sequence[int],
    busy: set[int],
    source: random.Random,
) -> list[int]:
    """The judges with the fewest screens; of these, those who saw the systems least often."""
    free = [judge for judge in range(design.judges) if judge not in busy]
    free.sort(key=lambda j: (len(screens[j]), sum(seen[j, s] for s in systems), source.random()))
    return free[: design.judges_per_item]
