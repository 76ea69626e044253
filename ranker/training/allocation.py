"""Freed memory: kept between the steps of training, or returned to the system."""

import ctypes
import platform

# parameters of mallopt in glibc's malloc.h
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
NEVER = 2**31 - 1


def keep_freed_memory() -> bool:
    """Let the C library keep freed memory for the next step; return whether it does.

    By default glibc returns blocks of over 32 MiB to the system when they are freed. The system
    clears the pages of each new one, which takes a tenth of a training step on a CPU. The setting
    holds for the whole process. It needs glibc; nothing changes elsewhere.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    mallopt = ctypes.CDLL(None).mallopt
    return bool(mallopt(M_MMAP_MAX, 0)) and bool(mallopt(M_TRIM_THRESHOLD, NEVER))


def return_freed_memory() -> None:
    """Return freed memory to the system, so that it no longer counts as that of this process.

    It needs glibc; nothing happens elsewhere.
    """
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)
