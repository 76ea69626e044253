"""Shared fixtures."""

import os
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with real pages and dumps, or a skip with the reason."""
    default = Path(__file__).parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("WIKISUM_REAL_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is absent (set WIKISUM_REAL_DATA)")
    return folder
