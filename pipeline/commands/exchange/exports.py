"""`wikisum export`: a dataset in the formats of other tools."""

import argparse
from pathlib import Path

from wikisum.pipeline.commands.command import DONE, Commands
from wikisum.pipeline.commands.flags import count
from wikisum.pipeline.commands.job import add_dataset, dataset_of

FORMATS = ("hiersumm", "graphsum", "text", "primera", "jsonl", "hf")


def export(args: argparse.Namespace) -> int:
    """Write a dataset in the format of another tool, into a new folder."""
    from wikisum.models.export.export import export as write

    for note in write(dataset_of(args), args.to, Path(args.out), args.max_paragraphs):
        print(f"next: {note}")
    return DONE


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("--to", required=True, choices=FORMATS, help="format to write")
    parser.add_argument("--out", required=True, metavar="DIR", help="new folder to write")
    parser.add_argument(
        "--max-paragraphs",
        type=count,
        metavar="N",
        help="maximum paragraphs per example, best first (default: 40 for hiersumm and graphsum, "
        "all for the others)",
    )


def add_commands(commands: Commands) -> None:
    """Add `wikisum export`."""
    commands.add("export", export, _add_flags, examples=["wikisum export data --to hf --out hub"])
