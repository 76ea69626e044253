import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from wikisum.models.pointer.settings import PointerSettings
from wikisum.models.pointer.windows import (
    NEVER,
    batch_shift_steps,
    expected_length,
    share_of_lengths,
    shift_steps,
    window_count,
    window_counts,
    window_mask,
    window_weights,
)


def static(size, stride, k, d, share=0.5):
    return PointerSettings(
        windows="static", window_tokens=size, window_stride=stride, window_k=k, window_d=d,
        summary_share=share,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("length", "count"),
    [(1, 1), (200, 1), (201, 2), (380, 2), (381, 3), (560, 3), (740, 4), (741, 5)],
)
def test_windows_of_200_at_180(length, count):
    assert window_count(length, 200, 180) == count
    assert window_counts(torch.tensor([length]), 200, 180).tolist() == [count]


# 10 tokens in windows of 4 at 2 are four windows, which divide evenly; of 9 the last has half a
# stride. Weights before they are normalized are in the comments.
@pytest.mark.parametrize(
    ("length", "k", "d", "weights"),
    [
        (10, 0, 1, [0.25, 0.25, 0.25, 0.25]),
        (10, 3, 0, [0.25, 0.25, 0.25, 0.25]),  # i * 0^i is 0 for every window
        (10, np.log(2), 1, [8 / 15, 4 / 15, 2 / 15, 1 / 15]),  # 1, 1/2, 1/4, 1/8
        (9, np.log(2), 1, [16 / 29, 8 / 29, 4 / 29, 1 / 29]),  # 1, 1/2, 1/4, 1/8 * 1/2
        (9, 0, 1, [2 / 7, 2 / 7, 2 / 7, 1 / 7]),
        # exponents 0, 1/2, 2/4, 3/8: the weights fall, then rise again
        (10, np.log(2), 0.5, np.array([1, 2**-0.5, 2**-0.5, 2**-0.375])),
        (10, np.log(2), 2, np.array([1, 2**-2.0, 2**-8.0, 2**-24.0])),
        (4, 2, 3, [1.0]),
    ],
)
def test_weights_by_hand(length, k, d, weights):
    expected = np.array(weights) / np.sum(weights)
    assert window_weights(length, static(4, 2, k, d)) == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    ("length", "k", "d", "share", "steps"),
    [
        (10, 0, 1, 0.8, [2, 4, 6]),  # 8 tokens, 2 per window
        (9, 0, 1, 0.8, [2, 4, 6]),  # 7 tokens: 2, 2, 2 and 1 for the half window
        (10, np.log(2), 1, 1.5, [8, 12, 14]),  # 15 tokens: 8, 4, 2, 1
        (9, np.log(2), 1, 3.3, [16, 24, 28]),  # 29 tokens: 16, 8, 4, 1
        (10, np.log(2), 1, 0.3, [1, 2, 2]),  # 3 tokens: floors of 1.6, 2.4 and 2.8
        (4, 0, 1, 0.8, []),
        (10, 50, 2, 0.8, [8, 8, 8]),  # the first window gets all but the last rounding
    ],
)
def test_shifts_by_hand(length, k, d, share, steps):
    assert shift_steps(length, static(4, 2, k, d, share)) == steps


@given(
    st.integers(1, 3_000), st.integers(1, 400), st.integers(1, 400), st.floats(0, 5),
    st.floats(0, 3), st.floats(0.01, 1),
)  # fmt: skip
def test_every_schedule_is_within_the_expected_length(length, size, stride, k, d, share):
    settings = static(max(size, stride), stride, k, d, share)
    weights = window_weights(length, settings)
    assert sum(weights) == pytest.approx(1)
    assert min(weights) >= 0
    steps = shift_steps(length, settings)
    assert len(steps) == window_count(length, settings.window_tokens, stride) - 1
    assert steps == sorted(steps)
    assert all(0 <= step <= expected_length(length, settings) for step in steps)


def test_schedules_of_a_batch_are_padded():
    steps = batch_shift_steps(torch.tensor([10, 4, 8]), static(4, 2, 0, 1, 0.5))
    # 5 tokens in 4 windows: 1.25, 2.5, 3.75; 4 tokens in 3: 1.33, 2.67
    assert steps.tolist() == [[1, 2, 3], [NEVER] * 3, [1, 2, NEVER]]


def test_a_mask_has_the_tokens_of_the_window():
    is_source = torch.tensor([[True] * 7, [True] * 3 + [False] * 4])
    mask = window_mask(torch.tensor([[0, 1, 2], [0, 0, 1]]), is_source, 4, 3)
    rows = [["".join("x" if seen else "." for seen in row) for row in one] for one in mask.tolist()]
    assert rows == [["xxxx...", "...xxxx", "......x"], ["xxx....", "xxx....", "......."]]


def test_the_share_is_the_ratio_of_90th_percentiles():
    assert share_of_lengths(np.arange(1, 11) * 100, np.arange(1, 11)) == 9 / 900
    assert share_of_lengths(np.array([50]), np.array([20])) == 0.4


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"window_stride": 401}, "--window-stride 401 would leave tokens out"),
        ({"windows": "moving"}, "--windows must be one of none, static, dynamic"),
        ({"attention": "dot"}, "--attention must be one of bahdanau, luong"),
        ({"word_vectors": "a.vec"}, "--word-vectors needs --words"),
        ({"window_k": -1.0}, "--window-k must be at least 0"),
    ],
)
def test_wrong_settings_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        PointerSettings(**changes)
