"""`wikisum convert-checkpoint`: checkpoints of other projects as runs."""

import argparse
from pathlib import Path

from wikisum.pipeline.commands.command import DONE
from wikisum.pipeline.errors import JobFailed


def convert_checkpoint(args: argparse.Namespace) -> int:
    """Convert a checkpoint of the code released with Liu and Lapata (2019) into a run.

    FILE is a model_step_N.pt of a hierarchical model of hiersumm. It is read as data: nothing in it
    is executed. The vocabulary is written with its special subwords at the ids used here.
    """
    from wikisum.models.convert.hiersumm import BadCheckpoint, convert
    from wikisum.ranker.runs.checkpoints import has_checkpoint

    for flag, path in (("FILE", args.checkpoint), ("--vocab", args.vocab)):
        if not path.is_file():
            raise FileNotFoundError(f"{flag}: there is no file {path}")
    if has_checkpoint(args.out):
        raise FileExistsError(f"--out {args.out} holds a run already")
    vocab = args.vocab.read_bytes()
    try:
        settings = convert(args.checkpoint, vocab, str(args.vocab), args.out, args.data)
    except BadCheckpoint as error:
        raise JobFailed(f"{args.checkpoint}: {error}") from error
    model = settings.model
    print(
        f"{args.out}: encoder layers {model.layers}, {model.decoder_layers} in the decoder, "
        f"width {model.width}, {model.vocab_size:,} subwords"
    )
    print(f"next: wikisum summarize --run {args.out} --title TITLE --text FILE")
    return DONE


def add_convert_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum convert-checkpoint`."""
    parser.add_argument("checkpoint", type=Path, metavar="FILE", help="checkpoint, model_step_N.pt")
    parser.add_argument(
        "--vocab", required=True, type=Path, metavar="FILE",
        help="SentencePiece model that it was trained with",
    )  # fmt: skip
    parser.add_argument(
        "--out", required=True, type=Path, metavar="DIR", help="folder of the run to write"
    )
    parser.add_argument(
        "--data", metavar="DIR", help="dataset that `summarize --split` reads by default"
    )
