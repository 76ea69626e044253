import os
import subprocess
import sys

import pytest

from benchmarks.speed_samples import (
    SpeedSample,
    process_cpu_seconds,
    read_samples,
    sampling,
    scaled_seconds,
)

SAMPLES = [SpeedSample(1.0, 0.5), SpeedSample(2.0, 1.0), SpeedSample(4.0, 1.0)]


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (0.0, 1.0, 0.5),  # before the first sample: its speed
        (1.0, 2.0, 0.75),  # between two: their mean
        (1.5, 3.0, 0.5 * 0.75 + 1.0),
        (5.0, 6.0, 1.0),  # after the last
        (2.0, 2.0, 0.0),
    ],
)
def test_cpu_time_is_scaled_by_the_speed_of_its_interval(start, end, expected):
    assert scaled_seconds(SAMPLES, start, end) == pytest.approx(expected)


def test_the_pieces_of_a_time_add_up_to_it():
    pieces = [scaled_seconds(SAMPLES, index / 2, (index + 1) / 2) for index in range(10)]
    assert sum(pieces) == pytest.approx(scaled_seconds(SAMPLES, 0.0, 5.0))


def test_a_speed_is_the_median_of_it_and_its_neighbors():
    samples = read_samples(["1.0 0.5", "2.0 9.0", "3.0 0.7", "4.0 0.6"])
    assert [sample.speed for sample in samples] == pytest.approx([4.75, 0.7, 0.7, 0.65])


def test_cpu_times_never_decrease():
    samples = read_samples(["1.00 1.0", "0.99 1.0", "1.50 1.0"])
    assert [sample.cpu_seconds for sample in samples] == [1.0, 1.0, 1.5]


def test_the_cpu_time_of_ended_and_living_children_counts():
    before = process_cpu_seconds(os.getpid())
    work = "import time\nwhile time.process_time() < 0.3: pass\n"
    subprocess.run([sys.executable, "-c", work], check=True)
    ended = process_cpu_seconds(os.getpid())
    assert ended - before >= 0.25
    wait = work + "print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", wait], **pipes) as child:
        child.stdout.readline()
        assert process_cpu_seconds(os.getpid()) - ended >= 0.28
        child.communicate(b"\n")


def test_each_core_is_sampled_until_the_process_ends():
    cores = sorted(os.sched_getaffinity(0))[:2]
    work = "import time\nwhile time.process_time() < 4: pass\n"
    with (
        subprocess.Popen([sys.executable, "-c", work]) as process,
        sampling(process.pid, cores) as samples,
    ):
        process.wait()
    assert len(samples) == len(cores)
    for of_core in samples:
        assert of_core[-1].cpu_seconds > 0.3
        assert all(sample.speed > 0 for sample in of_core)
