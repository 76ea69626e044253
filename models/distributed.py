"""One process a GPU, started by `torchrun`, or one alone."""

import os
from typing import NamedTuple

import torch
from torch import Tensor, distributed


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

    def wait(self) -> None:
        """Go on when all processes are here."""
        if self.size > 1:
            distributed.barrier()


def join_team(device: torch.device) -> Team:
    """The team that `torchrun`'s variables describe; GPUs talk through NCCL, processors by Gloo."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return Team(0, 1, device)
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo")
    return Team(distributed.get_rank(), size, device)


def leave_team(team: Team) -> None:
    """End what `join_team` began."""
    if team.size > 1:
        distributed.destroy_process_group()
