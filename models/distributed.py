"""One process a GPU, started by `torchrun`, or one alone."""

import os
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, distributed

T = TypeVar("T")


class Team(NamedTuple):
    """This process among those that train together; the first writes and speaks."""

    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def sum(self, values: Tensor) -> Tensor:
        """The sum over all processes, in place."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def told_by_first(self, value: T) -> T:
        """What the first process has."""
        values = [value]
        if self.size > 1:
            distributed.broadcast_object_list(values)
        return values[0]

    def gathered(self, value: T) -> list[T]:
        """What each process has, in the order of ranks."""
        values = [value] * self.size
        if self.size > 1:
            distributed.all_gather_object(values, value)
        return values

    def any(self, value: bool) -> bool:
        """Whether any process says so; asked among processors, so that no GPU is waited for."""
        return bool(self.sum(torch.tensor(float(value))) > 0)

    def wait(self) -> None:
        """Go on when all processes are here."""
        self.any(False)


def join_team(device: torch.device) -> Team:
    """The team that `torchrun`'s variables describe; GPUs talk through NCCL, processors by Gloo.

    Raises ValueError for more processes than GPUs.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return Team(0, 1, device)
    if device.type == "cuda":
        local, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local >= count:
            raise ValueError(f"process {local} of this machine has no GPU: there are {count}")
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    return Team(distributed.get_rank(), size, device)


def leave_team(team: Team) -> None:
    """End what `join_team` began."""
    if team.size > 1:
        distributed.destroy_process_group()
