from dataclasses import replace

import pytest

from tests.pipeline.estimate.test_estimate import ARTICLES as FEW
from tests.pipeline.estimate.test_estimate import ASSUMED, CRAWL, PRICES, RATES, cost, found
from wikisum.pipeline.estimate.estimate import estimate
from wikisum.pipeline.estimate.machine import Machine, misfits, stage_memory, this_machine
from wikisum.pipeline.estimate.speed import core_speed
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.setting import Settings

LARGE = Machine(workers=2, memory_bytes=64e9, disk_bytes=1e12)


def test_a_small_build_fits():
    assert list(misfits(found(), LARGE)) == []


def test_every_worker_has_its_own_memory_but_one_trains_the_vocabulary():
    estimated = found()
    graphs, vocab = cost(estimated, "graphs"), cost(estimated, "vocab")
    assert stage_memory(graphs, 8) == 8 * graphs.process_bytes
    assert stage_memory(vocab, 8) == vocab.process_bytes
    (line,) = misfits(estimated, LARGE._replace(workers=200))
    assert line == (
        "does not fit this machine: the build needs 130.0 GB of memory for graphs, "
        "and 64.0 GB are there: lower --workers or --memory"
    )


def test_a_large_vocabulary_is_named():
    many = FEW._replace(total_bytes=100_000_000, cited=1_000)
    estimated = estimate(many, None, None, _looked_up(), RATES, ASSUMED, PRICES)
    vocab = cost(estimated, "vocab")
    assert vocab.process_bytes == pytest.approx(0.3e9 + 100e6 * 23)
    (line,) = misfits(estimated, LARGE._replace(workers=1, memory_bytes=1e9))
    assert "needs 2.6 GB of memory for vocab" in line
    assert line.endswith("lower --vocab-characters")


def _looked_up():
    return Settings(LocateSettings(crawls=("CC-MAIN-2024-10",)))


def test_disk_holds_output_and_temporary_files():
    estimated = found()
    assert estimated.disk_bytes == estimated.total.output_bytes + estimated.temporary_bytes
    (line,) = misfits(estimated, LARGE._replace(disk_bytes=1e3))
    assert "of disk" in line


def test_temporary_files_are_those_of_one_stage_and_what_stays():
    estimated = found()
    stages = estimated.stages
    stayed = sum(c.work_bytes for c in stages)
    spilled = [c.shuffle_bytes * RATES.spilled_share for c in stages]
    assert max(spilled) <= estimated.temporary_bytes <= stayed + max(spilled)
    assert cost(estimated, "examples").work_bytes > 0


def test_a_join_holds_what_it_may_and_no_more_than_there_is():
    def held(join_bytes):
        made = estimate(FEW, CRAWL, None, Settings(), RATES, ASSUMED, PRICES, join_bytes=join_bytes)
        return cost(made, "examples").process_bytes - RATES.process_bytes

    assert held(1e3) == 1e3
    assert held(1e12) == pytest.approx(8 * cost(found(), "examples").shuffle_bytes)


def test_this_machine_has_memory_and_disk(tmp_path):
    machine = this_machine(3, str(tmp_path / "not" / "there"))
    assert machine.workers == 3
    assert machine.memory_bytes > 1e8
    assert machine.disk_bytes > 0


def test_the_speed_of_a_core_scales_its_time():
    assert 0.05 < core_speed(5) < 20
    slow = estimate(FEW, CRAWL, None, Settings(), RATES, ASSUMED, PRICES)
    fast = estimate(FEW, CRAWL, None, Settings(), replace(RATES, speed=2.0), ASSUMED, PRICES)
    assert fast.total.cpu_seconds == pytest.approx(slow.total.cpu_seconds / 2)
