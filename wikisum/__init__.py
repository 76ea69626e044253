"""Rebuild the WikiSum dataset from a Wikipedia dump and a web crawl, and train on it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wikisum.api import (
        Dataset,
        Split,
        edges,
        extract,
        graph,
        load_run,
        open_dataset,
        rank,
        rouge,
    )

__all__ = (
    "Dataset", "Split", "__version__", "edges", "extract", "graph", "load_run", "open_dataset",
    "rank", "rouge",
)  # fmt: skip
__version__ = "0.1.0"

# In a checkout, wikisum/crawl and its four neighbors are symbolic links. Where links are not
# supported, git and some unpackers write small text files in their place.
_BROKEN = [
    name
    for name in ("crawl", "ranker", "graphs", "pipeline", "models")
    if not (Path(__file__).parent / name).is_dir()
]
if _BROKEN:
    raise ImportError(
        f"{Path(__file__).parent / _BROKEN[0]} is not a folder: the checkout has lost its symbolic"
        " links. Clone it again with `git clone -c core.symlinks=true` on a file system that"
        " supports links."
    )


def __getattr__(name: str) -> Any:
    """Load the interface when one of its names is used: `import wikisum` alone loads nothing."""
    if name in __all__:
        from wikisum import api

        return getattr(api, name)
    raise AttributeError(f"module 'wikisum' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
