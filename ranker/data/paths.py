"""Paths and URLs of files. Imports no library, so that the command line loads it quickly."""

from pathlib import Path


def is_remote(path: str | Path) -> bool:
    """Whether a path is a URL (`s3://`, `gs://`, `https://`, ...). A `Path` is always local."""
    return isinstance(path, str) and "://" in path
