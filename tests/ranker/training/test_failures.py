import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.ranker.training.failures import (
    TrainingFailed,
    explain_out_of_memory,
    explain_runtime_error,
)


def test_out_of_memory_names_the_batch_and_the_flags():
    batch = collate([[np.arange(6, 9)]] * 2, [np.arange(6, 10)] * 2, [0, 1])
    with (
        pytest.raises(TrainingFailed, match=r"step 7: .* 2 examples, 6 source tokens, 5 target"),
        explain_out_of_memory(7, batch, 500),
    ):
        raise torch.OutOfMemoryError("CUDA out of memory")
    with (
        pytest.raises(RuntimeError, match="shapes differ"),
        explain_out_of_memory(7, batch, 500),
    ):
        raise RuntimeError("shapes differ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DataLoader worker (pid 1) exited", "lower --loader-workers"),
        ("[gloo] connection closed by peer", "another process of this training is gone"),
    ],
)
def test_failures_of_other_processes_are_explained(text, message):
    found = explain_runtime_error(RuntimeError(text))
    assert isinstance(found, TrainingFailed)
    assert message in str(found)


def test_other_errors_stay_as_they_are():
    error = RuntimeError("shapes differ")
    assert explain_runtime_error(error) is error
