"""Freed memory is used again without new pages."""

import platform
import subprocess
import sys

PROGRAM = """
import resource, torch
from wikisum.models.training.allocation import keep_freed_memory
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
