import copy

import pytest
import torch
from torch import distributed, nn
from torch.distributed.tensor import DTensor

from wikisum.ranker.training.distributed import ProcessGroup
from wikisum.ranker.training.sharding import gather, load_optimizer, load_weights, shard


@pytest.fixture
def alone():
    """A process group of one process, in which parameters are divided into one part."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield ProcessGroup(0, 1, torch.device("cpu"))
    distributed.destroy_process_group()


def a_model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


def trained(model, optimizer, steps):
    torch.manual_seed(1)
    for x in torch.randn(steps, 5, 3):
        model(x).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_state_goes_from_plain_to_divided_and_back(alone):
    plain = a_model()
    optimizer = torch.optim.Adam(plain.parameters(), 0.1)
    trained(plain, optimizer, 3)
    weights, state = copy.deepcopy((plain.state_dict(), optimizer.state_dict()))
    divided = a_model()
    shard(divided, [divided[0]], alone)
    again = torch.optim.Adam(divided.parameters(), 0.1)
    load_weights(divided, weights)
    load_optimizer(again, state)
    assert all(isinstance(p, DTensor) for p in divided.parameters())
    assert isinstance(again.state_dict()["state"][0]["exp_avg"], DTensor)
    for _ in range(2):
        found = gather(divided.state_dict())
        assert not any(isinstance(t, DTensor) for t in found.values())
        assert all(torch.equal(found[name], t) for name, t in plain.state_dict().items())
        moments = gather(again.state_dict())["state"]
        for index, values in optimizer.state_dict()["state"].items():
            assert all(torch.equal(moments[index][name], t) for name, t in values.items())
        trained(plain, optimizer, 2)
        trained(divided, again, 2)


def test_plain_values_stay_as_they_are():
    value = {"step": 3, "cursor": [0, 1], "weight": torch.ones(2), "none": None}
    found = gather(value)
    assert found.keys() == value.keys()
    assert found["weight"] is value["weight"]
    assert (found["step"], found["cursor"], found["none"]) == (3, [0, 1], None)
