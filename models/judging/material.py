"""The examples that judges see, sampled from the files of several systems."""

import random
from collections.abc import Collection, Sequence

from wikisum.models.decoding.summary_files import BadSummaries, Summary
from wikisum.models.evaluation.systems import System
from wikisum.models.judging.questions import Question
from wikisum.models.judging.store import Example
from wikisum.models.judging.text import clean


def sample_ids(
    systems: Sequence[System], count: int, seed: int, among: Collection[str] | None = None
) -> list[str]:
    """Return the ids of `count` random examples that every system has, or of all if they are fewer.

    `among` restricts the choice. Raises ValueError if the systems have no example in common, and
    BadSummaries for a file that has two summaries of one example.
    """
    common = set.intersection(*map(_ids, systems))
    if among is not None:
        common &= set(among)
    if not common:
        raise ValueError("the systems have no example in common" + (
            "" if among is None else " that has questions"))  # fmt: skip
    return random.Random(f"{seed} examples").sample(sorted(common), min(count, len(common)))


def _ids(system: System) -> set[str]:
    seen: set[str] = set()
    for row in system.read():
        if row.id in seen:
            raise BadSummaries(f"{system.source}: two summaries have the id {row.id}")
        seen.add(row.id)
    return seen


def read_examples(
    systems: Sequence[System],
    ids: Sequence[str],
    with_gold: bool = False,
    questions: dict[str, list[Question]] | None = None,
) -> list[Example]:
    """Return the examples with these ids; `with_gold` adds the lead as a last summary."""
    wanted = set(ids)
    rows = [{row.id: row for row in system.read() if row.id in wanted} for system in systems]
    return [
        _example([by_id[id_] for by_id in rows], with_gold, (questions or {}).get(id_, []))
        for id_ in ids
    ]


def _example(rows: Sequence[Summary], with_gold: bool, questions: Sequence[Question]) -> Example:
    first = rows[0]
    texts = [row.text() for row in rows] + [first.lead] * with_gold
    # one list for all systems, so that it does not reveal which system wrote a summary
    paragraphs = dict.fromkeys(clean(p.text) for row in rows for p in row.paragraphs)
    return Example(
        first.id,
        clean(first.title),
        clean(first.lead),
        tuple(paragraphs),
        tuple(map(clean, texts)),
        tuple(questions),
    )
