"""The processes of a training run: one per GPU, started by `torchrun`, or a single one."""

import os
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, distributed

T = TypeVar("T")

_joined: list[object] = []  # see join_processes


class ProcessGroup(NamedTuple):
    """This process and the number of processes that train together.

    Every method works for a single process too, without `torch.distributed`.
    """

    rank: int
    size: int
    device: torch.device

    @property
    def is_main(self) -> bool:
        """Whether this process writes files and messages."""
        return self.rank == 0

    def all_reduce(self, values: Tensor) -> Tensor:
        """Sum a tensor over all processes, in place."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def broadcast(self, value: T) -> T:
        """Return the main process's value in every process."""
        values = [value]
        if self.size > 1:
            distributed.broadcast_object_list(values)
        return values[0]

    def all_gather(self, value: T) -> list[T]:
        """Return the values of all processes, in the order of their ranks."""
        values = [value] * self.size
        if self.size > 1:
            distributed.all_gather_object(values, value)
        return values

    def any(self, value: bool) -> bool:
        """Whether the value is true in any process; uses CPU tensors, so it waits for no GPU."""
        return bool(self.all_reduce(torch.tensor(float(value))) > 0)

    def barrier(self) -> None:
        """Wait until all processes have reached this call."""
        self.any(False)


def join_processes(device: torch.device) -> ProcessGroup:
    """Join the process group described by `torchrun`'s variables (NCCL for GPUs, Gloo for CPUs).

    Raises ValueError if a machine runs more processes than it has GPUs.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return ProcessGroup(0, 1, device)
    if device.type == "cuda":
        local, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
        if local >= count:
            raise ValueError(f"process {local} of this machine has no GPU: there are {count}")
        device = torch.device("cuda", local)
        torch.cuda.set_device(device)
    distributed.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
    # DistributedDataParallel must not be the last owner of the group: it would then wait for Gloo's
    # threads while it holds the interpreter's lock, which they may need in order to end.
    _joined.append(distributed.group.WORLD)
    return ProcessGroup(distributed.get_rank(), size, device)


def leave_processes(processes: ProcessGroup) -> None:
    """Leave the process group that `join_processes` joined."""
    if processes.size > 1:
        distributed.destroy_process_group()
