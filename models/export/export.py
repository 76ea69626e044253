"""Write a dataset in the format of another tool, into a new folder that is whole when it exists."""

from collections.abc import Callable
from pathlib import Path

from wikisum.models.export.formats import graphsum, hiersumm, jsonl, primera, text
from wikisum.models.export.hub import hf
from wikisum.models.export.source import Source
from wikisum.ranker.runs.atomic import new_folder

FORMATS: dict[str, Callable[[Source, Path], list[str]]] = {
    "hiersumm": hiersumm,
    "graphsum": graphsum,
    "text": text,
    "primera": primera,
    "jsonl": jsonl,
    "hf": hf,
}
# As many paragraphs as the data published with these two has per example
MAX_PARAGRAPHS = {"hiersumm": 40, "graphsum": 40}


def export(data: str, to: str, out: Path, max_paragraphs: int | None = None) -> list[str]:
    """Write the dataset `data` as `to`, one of `FORMATS`, into the new folder `out`.

    Returns notes on how to use it. Raises FileExistsError if `out` exists, FileNotFoundError if
    there is no dataset, ValueError if it lacks what the format needs.
    """
    if to == "hf" and max_paragraphs is not None:
        raise ValueError("--max-paragraphs does not go with --to hf, which copies the shards")
    with new_folder(out) as folder:
        source = Source(data, max_paragraphs or MAX_PARAGRAPHS.get(to))
        source.splits()
        notes = FORMATS[to](source, folder)
    return [note.replace("FOLDER", str(out)) for note in notes]
