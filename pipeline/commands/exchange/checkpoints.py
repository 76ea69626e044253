"""`wikisum convert-checkpoint`: checkpoints of other projects as runs."""

import argparse

from wikisum.models.convert.hiersumm import BadCheckpoint, convert
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import add_path
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.runs.checkpoints import has_checkpoint


def convert_checkpoint(args: argparse.Namespace) -> int:
    """Convert a checkpoint of the code released with Liu and Lapata (2019) into a run.

    FILE is a model_step_N.pt of a hierarchical model of hiersumm. It is read as data: nothing in it
    is executed. The vocabulary is written with its special subwords at the ids used here.
    """
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


def _add_flags(parser: argparse.ArgumentParser) -> None:
    add_path(parser, "checkpoint", "checkpoint, model_step_N.pt")
    text = "SentencePiece model that it was trained with"
    add_path(parser, "--vocab", text, required=True)
    add_path(parser, "--out", "folder of the run to write", "DIR", required=True)
    text = "dataset that `summarize --split` reads by default"
    parser.add_argument("--data", metavar="DIR", help=text)


COMMANDS = {
    "convert-checkpoint": Command(
        convert_checkpoint,
        [_add_flags],
        ["wikisum convert-checkpoint model_step_300000.pt --vocab spm9998_3.model --out runs/ht"],
    )
}
