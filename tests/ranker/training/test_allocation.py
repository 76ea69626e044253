"""Freed memory is used again without new pages, or goes back to the system."""

import ctypes
import platform
import subprocess
import sys

import psutil
import pytest

from wikisum.ranker.training.allocation import return_freed_memory

PROGRAM = """
import resource, torch
from wikisum.ranker.training.allocation import keep_freed_memory
kept = {keep}
def pages():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    torch.ones(1 << 24)  # 64 MiB, freed at once
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
pages()
print(int(kept), sum(pages() for _ in range(16)))
"""


def run(keep: str) -> list[int]:
    """Return whether memory is kept, and the fresh pages of 16 blocks, each freed at once."""
    program = PROGRAM.format(keep=keep)
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return [int(number) for number in found.stdout.split()]


def test_freed_blocks_are_used_again():
    is_glibc = platform.libc_ver()[0] == "glibc"
    kept, pages = run("keep_freed_memory()")
    assert kept == is_glibc
    if is_glibc:
        assert pages < 0.75 * run("False")[1]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs malloc_trim of glibc")
def test_freed_memory_goes_back_to_the_system():
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    size, count = 100_000, 1_000  # too small to be returned as soon as they are freed
    blocks = [libc.malloc(size) for _ in range(count + 1)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for block in blocks[:-1]:  # the last one stands at the end of the heap, which cannot shrink
        libc.free(block)
    process = psutil.Process()
    before = process.memory_info().rss
    return_freed_memory()
    returned = before - process.memory_info().rss
    libc.free(blocks[-1])
    assert returned > size * count // 2
