"""The commands of rankings: rank a dataset, evaluate rankings."""

import argparse
import sys
from pathlib import Path

from wikisum.pipeline.commands.command import DONE, Commands
from wikisum.pipeline.commands.flags import add_settings, count, names, settings_of
from wikisum.pipeline.commands.job import (
    add_dataset,
    add_job_flags,
    add_verify,
    dataset_of,
    open_job,
)
from wikisum.pipeline.rerank.settings import RankSettings

SPLITS = ("train", "validation", "test")


def rank(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Rank the paragraphs of a dataset by another method, into a new dataset.

    Graphs and subword ids follow the new order; vocabulary, report and card are copied. If a run
    is killed, run the same command to resume. Flags after -- are passed to Beam.
    """
    from wikisum.pipeline.engine.verify import verify
    from wikisum.pipeline.rerank.stage import RANK, open_source, rank_dataset

    settings = settings_of(args, RankSettings(args.method or ""))
    data = dataset_of(args)
    open_source(data)  # raises before --out is created
    with open_job(args, beam_flags) as job:
        if args.verify:
            verify(job, [RANK])
        manifest = rank_dataset(job, data, settings, args.model, args.device)
    counts = manifest["counts"]["rank"]
    kept, total = counts.get("paragraphs_out", 0), counts.get("paragraphs_in", 0)
    print(
        f"{args.out}: {counts.get('examples_out', 0):,} examples, "
        f"{kept:,} of {total:,} paragraphs kept"
    )
    return DONE


def evaluate_ranking(args: argparse.Namespace) -> int:
    """Compare ranking methods on a split: recall, time, and summaries of the best paragraphs.

    Recall is ROUGE-L recall of the best 5, 10, 20 and 40 paragraphs against the lead. Summaries
    are the best paragraphs, cut to the number of words of the lead, and scored by ROUGE F1.
    Paragraphs are ranked starting from the order of their pages; `stored` is the order of the
    shards. With --run, a trained ranker is compared too.
    """
    from wikisum.ranker.evaluate import evaluate_ranking as rows_of
    from wikisum.ranker.evaluate import markdown
    from wikisum.ranker.rank import METHODS
    from wikisum.ranker.runs.atomic import write_json

    data = dataset_of(args)
    methods = list(args.methods or METHODS)
    rows = rows_of(data, args.split, args.run_folder, methods, args.limit, args.device, sys.stderr)
    print(markdown(rows), end="")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(args.out, rows)
    return DONE


def add_rank_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum rank`."""
    add_dataset(parser)
    by = parser.add_mutually_exclusive_group(required=True)
    by.add_argument(
        "--method",
        metavar="NAME",
        help="identity, random, tfidf, tfidf_cosine, textrank, bm25, lexrank, lexrank_threshold, "
        "sumbasic, or an upper bound that reads the lead: cheating, oracle",
    )
    by.add_argument("--model", metavar="DIR", help="folder of a trained ranker")
    add_settings(parser, RankSettings)
    add_device_flag(parser)


def add_evaluate_ranking_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum evaluate ranking`."""
    add_dataset(parser)
    parser.add_argument("--split", default="test", choices=SPLITS, help="default: test")
    parser.add_argument("--run", dest="run_folder", type=Path, metavar="DIR",
                        help="folder of a trained ranker to compare too")  # fmt: skip
    parser.add_argument("--methods", type=names, metavar="NAME,...",
                        help="methods to compare (default: all)")  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="use the first N articles only")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON too")
    add_device_flag(parser)


def add_device_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--device`."""
    parser.add_argument(
        "--device",
        default="auto",
        metavar="NAME",
        help="cpu, cuda, cuda:1, ..., or auto: a GPU if there is one (default: auto)",
    )


def add_commands(commands: Commands) -> None:
    """Add `wikisum rank`."""
    commands.add_beam(
        "rank",
        rank,
        add_rank_flags,
        add_job_flags,
        add_verify,
        examples=["wikisum rank data --method lexrank --out ranked"],
    )
