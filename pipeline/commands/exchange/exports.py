"""`wikisum export`: a dataset or a trained model in the formats of other tools."""

import argparse

from wikisum.models.export.export import FORMATS
from wikisum.models.export.export import export as write
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import add_dataset, add_path, count, dataset_of, run_path

MODEL = "transformers"


def export(args: argparse.Namespace) -> int:
    """Write a dataset in the format of another tool, into a new folder.

    With `--to transformers`, DIR is the run of a flat transformer (ft), and its best weights are
    written as a model that AutoModelForSeq2SeqLM reads.
    """
    if args.to == MODEL:
        return _export_model(args)
    for note in write(dataset_of(args), args.to, args.out, args.max_paragraphs):
        print(f"next: {note}")
    return DONE


def _export_model(args: argparse.Namespace) -> int:
    # datasets are exported without torch
    from wikisum.models.convert.pegasus import to_transformers
    from wikisum.models.training.checkpoints import best_of
    from wikisum.ranker.runs.remote import local_copy

    if args.max_paragraphs is not None:
        raise ValueError(f"--max-paragraphs does not go with --to {MODEL}, which exports a model")
    with local_copy(run_path(dataset_of(args))) as run:
        to_transformers(run, args.out, "best" if best_of(run) else "last")
    print(f"next: AutoModelForSeq2SeqLM.from_pretrained({str(args.out)!r})")
    return DONE


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("--to", required=True, choices=(*FORMATS, MODEL), help="format to write")
    add_path(parser, "--out", "new folder to write", "DIR", required=True)
    text = (
        "maximum paragraphs per example, best first (default: 40 for hiersumm and graphsum, "
        "all for the others)"
    )
    parser.add_argument("--max-paragraphs", type=count, metavar="N", help=text)


COMMANDS = {"export": Command(export, [_add_flags], ["wikisum export data --to hf --out hub"])}
