import random
from functools import partial

import pytest

from tests.flows import Number, SumFlow, run_local
from wikisum.pipeline.engine.workspace import Parts

random.seed(5)
WORKERS = pytest.mark.parametrize("has_one_worker", [True, False], ids=["one worker", "several"])
FILES = [
    [Number("".join(random.choices("abcxyzAB", k=2)), random.randrange(9)) for _ in range(20)]
    for _ in range(4)
]


def parts_of(folder):
    return Parts(str(folder), str(folder / "parts"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "letters", "divisions", "has_one_worker"),
    [(1, 1, 1, True), (3, 7, 3, False), (3, 7, 3, True), (7, 3, 1, False)],
)
def test_the_result_does_not_depend_on_the_number_of_ranges(
    tmp_path, words, letters, divisions, has_one_worker
):
    sums = SumFlow(tmp_path, FILES)
    flow = sums.flow(words, letters, divisions)
    run_local(flow, parts_of(tmp_path), tmp_path / "ranges", 500, has_one_worker=has_one_worker)
    assert sums.written() == sums.expected()
    results = parts_of(tmp_path).load(4)
    assert sum(result.counts["letters_out"] for result in results.values()) == 8


@pytest.mark.slow
@WORKERS
@pytest.mark.parametrize("kind", ["read", "words", "letters", "write"])
def test_a_run_that_ends_early_repeats_no_finished_task(tmp_path, kind, has_one_worker):
    run = partial(run_local, has_one_worker=has_one_worker)
    first = SumFlow(tmp_path / "first", FILES)
    first.folder.mkdir()
    run(first.flow(3, 5, 1), parts_of(first.folder), first.folder / "ranges")
    last = [line for line in first.calls() if line.startswith(kind)][-1]
    whole = SumFlow(tmp_path, FILES)
    folder = tmp_path / "ranges"
    broken = SumFlow(tmp_path, FILES, fails_at=last)
    with pytest.raises(Exception, match="interrupted at"):
        run(broken.flow(3, 5, 1), parts_of(tmp_path), folder)
    assert whole.calls()
    run(whole.flow(3, 5, 1), parts_of(tmp_path), folder)
    assert whole.written() == whole.expected()
    calls = whole.calls()
    assert set(calls) == set(first.calls())
    assert set(calls.values()) == {1}, "a task ran twice"


@pytest.mark.slow
@WORKERS
def test_what_no_step_reads_any_more_is_deleted(tmp_path, has_one_worker):
    run = partial(run_local, has_one_worker=has_one_worker)
    folder = tmp_path / "ranges"
    sums = SumFlow(tmp_path, FILES, fails_at="letters")
    with pytest.raises(Exception, match="interrupted"):
        run(sums.flow(3, 5, 1), parts_of(tmp_path), folder)
    assert {"words"} <= {path.name for path in folder.iterdir()} <= {"words", "letters"}
    sums = SumFlow(tmp_path, FILES)
    run(sums.flow(3, 5, 1), parts_of(tmp_path), folder)
    assert [path.name for path in folder.iterdir()] == ["letters"]
