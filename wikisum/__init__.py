"""Rebuild the WikiSum dataset from a Wikipedia dump and a web crawl, and train on it."""

from pathlib import Path

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
