import io
import math
import re

import pytest
import torch

from wikisum.ranker.runs.training_log import read_log
from wikisum.ranker.training import monitor as module
from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.loss import Figure
from wikisum.ranker.training.monitor import (
    StepStats,
    TrainingMonitor,
    peak_memory_bytes,
    perplexity,
)

CPU = torch.device("cpu")
ALONE = ProcessGroup(0, 1, CPU)


class Clock:
    """A clock that tests set."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Broken(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


class Pair(ProcessGroup):
    """One of two processes that have seen the same."""

    def all_reduce(self, values):
        return values.mul_(2)


@pytest.fixture
def clock(monkeypatch):
    fake = Clock()
    monkeypatch.setattr(module, "time", fake)
    monkeypatch.setattr(module, "peak_memory_bytes", lambda device: 3 * 2**29)
    return fake


@pytest.fixture
def make(tmp_path):
    def monitor(step=0, steps=10, to=None, processes=ALONE, pending=None):
        return TrainingMonitor(
            tmp_path, step, steps, to or io.StringIO(), processes, pending or {}, True
        )

    return monitor


def stats(loss, weight, rate=0.5, **figures):
    return StepStats({"loss": Figure(loss, weight), **figures}, 40, rate)


def test_a_row_is_the_mean_over_its_weights(make, tmp_path):
    with make() as monitor:
        monitor.add(1, stats(6.0, 2, 0.1, balance=Figure(1.0, 4)))
        monitor.add(2, stats(torch.tensor(2.0), torch.tensor(6), 0.2, balance=Figure(2.0, 8)))
        assert monitor.pending() == {"loss": [8.0, 8.0], "balance": [3.0, 12.0]}
        assert monitor.log(2) == 1.0
        assert monitor.pending() == {}
        monitor.add(3, stats(5.0, 2, 0.3))
        assert monitor.log(3) == 2.5
    assert read_log(tmp_path) == [
        {"step": 2, "loss": 1.0, "balance": 0.25, "learning_rate": 0.2},
        {"step": 3, "loss": 2.5, "learning_rate": 0.3},
    ]


def test_a_resumed_run_goes_on_with_its_sums(make, tmp_path):
    with make(step=3, pending={"loss": [4.0, 1.0]}) as monitor:
        monitor.add(4, stats(2.0, 1))
        assert monitor.log(4) == 3.0
    assert [row["loss"] for row in read_log(tmp_path)] == [3.0]


def test_sums_do_not_keep_the_graph_and_have_double_precision(make):
    with make() as monitor:
        loss = torch.tensor(1.0, requires_grad=True) * 2
        monitor.add(1, stats(loss, 1))
        monitor.add(2, stats(1e-12, 0))
        assert not monitor._sums["loss"].requires_grad
        assert monitor.pending()["loss"][0] == 2 + 1e-12


def test_only_the_main_process_writes_and_keeps_what_was_pending(make, tmp_path):
    to = Terminal()
    second = Pair(1, 2, CPU)
    with make(to=to, processes=second, pending={"loss": [4.0, 1.0]}) as monitor:
        assert monitor.pending() == {"loss": [0.0, 0.0]}
        monitor.add(1, stats(3.0, 2))
        assert monitor.pending() == {"loss": [6.0, 4.0]}
        assert monitor.log(1) == 1.5
    assert not (tmp_path / "log.jsonl").exists()
    assert to.getvalue() == ""


def test_a_progress_line_by_hand(make, clock):
    to = io.StringIO()
    with make(step=2, steps=10, to=to, processes=Pair(0, 2, CPU)) as monitor:
        clock.now += 5
        monitor.add(3, stats(4.0, 4))
        clock.now += 4.9
        monitor.add(4, stats(0.0, 0))
        assert to.getvalue() == ""
        clock.now += 0.1
        monitor.add(5, stats(8.0, 4))
    (line,) = to.getvalue().splitlines()
    # 120 tokens of this process in 10 s, twice that in both; 3 steps took 10 s, 5 are left
    assert re.split(r"\s{2,}", line) == [
        "step 5/10", "50%", "loss 1.500", "perplexity 4.48", "24 tokens/s", "1.5 GiB", "0:17 left",
    ]  # fmt: skip


def test_counts_of_the_line_restart_after_it(make, clock):
    to = io.StringIO()
    with make(to=to) as monitor:
        for step, loss in ((1, 2.0), (2, 4.0)):
            clock.now += 10
            monitor.add(step, stats(loss, 1))
    losses = re.findall(r"loss (\S+)", to.getvalue())
    assert losses == ["2.000", "4.000"]
    assert re.findall(r"(\S+) tokens/s", to.getvalue()) == ["4", "4"]


def test_a_terminal_is_redrawn_every_second_and_left_on_a_new_line(make, clock):
    to = Terminal()
    with make(to=to) as monitor:
        clock.now += 0.9
        monitor.add(1, stats(1.0, 1))
        assert to.getvalue() == ""
        clock.now += 0.1
        monitor.add(2, stats(1.0, 1))
        assert to.getvalue().startswith("\r\x1b[Kstep 2/10")
        assert "\n" not in to.getvalue()
    assert to.getvalue().endswith(" left\n")


def test_a_file_gets_no_empty_line_at_the_end(make, clock):
    to = io.StringIO()
    with make(to=to):
        pass
    assert to.getvalue() == ""


@pytest.mark.parametrize(("to", "start"), [(io.StringIO(), ""), (Terminal(), "\r\x1b[K")])
def test_a_validation_is_logged_and_shown(to, start, make, tmp_path):
    with make(to=to) as monitor:
        monitor.validated(1200, {"validation_loss": 2.0, "recall": 0.25})
        output = to.getvalue()
    assert output == f"{start}step 1,200  validation loss 2.000  recall 0.250\n"
    (row,) = read_log(tmp_path)
    assert row == {"step": 1200, "validation_loss": 2.0, "recall": 0.25}


def test_time_of_a_validation_does_not_count_for_the_next_line(make, clock):
    to = io.StringIO()
    with make(to=to) as monitor:
        monitor.add(1, stats(5.0, 1))
        clock.now += 100
        monitor.validated(1, {"validation_loss": 1.0})
        clock.now += 10
        monitor.add(2, stats(2.0, 1))
    last = to.getvalue().splitlines()[-1]
    assert "loss 2.000" in last
    assert " 4 tokens/s" in last


def test_a_perplexity_too_large_for_a_float_is_infinite():
    assert [perplexity(loss) for loss in (0.0, 699.0, 700.0)] == [1.0, math.exp(699), math.inf]


def test_a_terminal_that_is_gone_does_not_end_the_run(make, clock, tmp_path):
    with make(to=Broken()) as monitor:
        clock.now += 10
        monitor.add(1, stats(1.0, 1))
        monitor.validated(1, {"validation_loss": 1.0})
    assert len(read_log(tmp_path)) == 1


def test_the_memory_of_this_process_is_in_bytes():
    held = torch.zeros(1)
    assert held.numel() == 1
    assert 2**26 < peak_memory_bytes(CPU) < 2**37


@pytest.mark.parametrize(("platform", "factor"), [("linux", 1024), ("darwin", 1)])
def test_the_unit_of_peak_memory_depends_on_the_system(platform, factor, monkeypatch):
    usage = type("Usage", (), {"ru_maxrss": 7})
    monkeypatch.setattr(module.resource, "getrusage", lambda who: usage)
    monkeypatch.setattr(module.sys, "platform", platform)
    assert peak_memory_bytes(CPU) == 7 * factor
