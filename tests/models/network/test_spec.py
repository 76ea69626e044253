import torch

from wikisum.models.network.spec import TensorState


def test_a_state_of_tensors_follows_the_beam():
    h = torch.arange(12.0).view(2, 3, 2)
    state = TensorState({"h": h}, {"source": torch.tensor([[1.0], [2.0]])})
    state.reorder(torch.tensor([[2, 0, 0], [1, 1, 2]]))
    assert state.per_hypothesis["h"][0, :, 0].tolist() == [4, 0, 0]
    assert state.per_hypothesis["h"][1, :, 0].tolist() == [8, 8, 10]
    assert state.per_example["source"].flatten().tolist() == [1, 2]
    state.select(torch.tensor([1]))
    assert state.per_hypothesis["h"].shape == (1, 3, 2)
    assert state.per_example["source"].tolist() == [[2]]
