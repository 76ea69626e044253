import multiprocessing
import socket

import pytest
import torch

from wikisum.ranker.training import distributed
from wikisum.ranker.training.distributed import ProcessGroup, join_processes, leave_processes

CPU = torch.device("cpu")


def test_one_process_needs_no_group(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    alone = join_processes(CPU)
    assert alone == ProcessGroup(0, 1, CPU)
    assert alone.is_main
    assert alone.all_reduce(torch.tensor([1.0, 2.0])).tolist() == [1, 2]
    assert alone.broadcast("x") == "x"
    assert alone.all_gather(5) == [5]
    assert alone.any(True)
    assert not alone.any(False)
    alone.barrier()
    leave_processes(alone)


def take_part(rank: int, port: int, results: multiprocessing.SimpleQueue) -> None:
    with pytest.MonkeyPatch.context() as patch:
        address = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
        for name, value in {**address, "WORLD_SIZE": "2", "RANK": str(rank)}.items():
            patch.setenv(name, value)
        processes = join_processes(CPU)
        found = {
            "rank": processes.rank,
            "is_main": processes.is_main,
            "sum": processes.all_reduce(torch.tensor([1.0 + rank])).tolist(),
            "broadcast": processes.broadcast(f"from {rank}"),
            "gathered": processes.all_gather(rank * 10),
            "any": [processes.any(rank == 1), processes.any(False)],
        }
        processes.barrier()
        leave_processes(processes)
        results.put((found, torch.distributed.is_initialized()))


def test_two_processes_exchange_values():
    context = multiprocessing.get_context("fork")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    results = context.SimpleQueue()
    both = [context.Process(target=take_part, args=(rank, port, results)) for rank in (0, 1)]
    for process in both:
        process.start()
    found = sorted((results.get() for _ in both), key=lambda result: result[0]["rank"])
    for process in both:
        process.join()
    shared = {"sum": [3], "broadcast": "from 0", "gathered": [0, 10], "any": [True, False]}
    assert found == [
        ({"rank": 0, "is_main": True, **shared}, False),
        ({"rank": 1, "is_main": False, **shared}, False),
    ]


def test_more_processes_than_gpus_are_refused(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(distributed.torch.cuda, "device_count", lambda: 1)
    with pytest.raises(ValueError, match="process 1 of this machine has no GPU: there are 1"):
        join_processes(torch.device("cuda"))
