"""What this machine has: memory, and the folder whose file system a path will be on."""

import os
from pathlib import Path

GIB = 1 << 30
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def memory_bytes() -> int:
    """Return the memory that this process may use: the machine's, or its container's limit."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.is_file() else "max"
    return min(total, int(limit)) if limit.isdecimal() else total


def existing_folder(path: str) -> Path:
    """Return the folder of that name, or the nearest one above it that exists."""
    folder = Path(path).absolute()
    return next(p for p in (folder, *folder.parents) if p.is_dir())
