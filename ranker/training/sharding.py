"""Fully sharded training (FSDP2): each process keeps a part of every parameter.

Gradients and the optimizer's state are divided too, which is what fills the memory of large models.
Checkpoints hold whole tensors, gathered when they are written and divided again when they are read.
So a run resumes under either kind of parallel training, and in any number of processes.

`torch.distributed.fsdp` is imported only where a model is divided: it takes a third of the time in
which a training process starts.
"""

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from wikisum.ranker.training.distributed import ProcessGroup

if TYPE_CHECKING:
    from torch.distributed.fsdp import FSDPModule


def shard(model: nn.Module, layers: Iterable[nn.Module], processes: ProcessGroup) -> "FSDPModule":
    """Divide the parameters of a model among all processes, in place.

    Those of `layers` are gathered only while the layer computes, the rest for the whole step.
    """
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    # the loss is a view, which nobody changes in place
    warnings.filterwarnings("ignore", message=".*returned a view tensor", category=UserWarning)
    mesh = init_device_mesh(processes.device.type, (processes.size,))
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def gather(value: Any) -> Any:
    """Return nested plain values with whole tensors in place of divided ones.

    All processes must call it.
    """
    if _is_divided(value):
        return value.full_tensor()
    if isinstance(value, Mapping):
        return {key: gather(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [gather(inner) for inner in value]
    return value


def load_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Load whole tensors into a model, divided as its parameters are."""
    state = model.state_dict()
    model.load_state_dict({name: _like(state.get(name), t) for name, t in weights.items()})


def load_optimizer(optimizer: torch.optim.Optimizer, state: Mapping[str, Any]) -> None:
    """Load whole tensors into an optimizer, divided as the parameters that they belong to."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    divided = {
        index: {name: _like(parameters[index], value) for name, value in values.items()}
        for index, values in state["state"].items()
    }
    optimizer.load_state_dict({**state, "state": divided})


def _like(parameter: Any, value: Any) -> Any:
    """Return a tensor divided as a parameter of the same shape is; anything else as it is."""
    if not _is_divided(parameter) or value.shape != parameter.shape:
        return value
    from torch.distributed.tensor import distribute_tensor

    return distribute_tensor(value, parameter.device_mesh, parameter.placements)


def _is_divided(value: Any) -> bool:
    """Return whether a value is a `DTensor`, as parameters become in `shard`."""
    return isinstance(value, Tensor) and hasattr(value, "full_tensor")
