"""`wikisum rank`: rank the paragraphs of a dataset by another method."""

import argparse

from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import (
    add_dataset,
    add_device_flag,
    add_job_flags,
    add_settings,
    add_verify,
    dataset_of,
    settings_of,
)
from wikisum.pipeline.commands.job import open_job
from wikisum.pipeline.engine.verify import verify
from wikisum.pipeline.rerank.settings import RankSettings
from wikisum.pipeline.rerank.stage import RANK, open_source, rank_dataset


def rank(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Rank the paragraphs of a dataset by another method, into a new dataset.

    Graphs and subword ids follow the new order; vocabulary, report and card are copied. If a run
    is killed, run the same command to resume. Flags after -- are passed to Beam.
    """
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


def add_rank_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum rank`."""
    add_dataset(parser)
    by = parser.add_mutually_exclusive_group(required=True)
    text = (
        "identity, random, tfidf, tfidf_cosine, textrank, bm25, lexrank, lexrank_threshold, "
        "sumbasic, or an upper bound that reads the lead: cheating, oracle"
    )
    by.add_argument("--method", metavar="NAME", help=text)
    by.add_argument("--model", metavar="DIR", help="folder of a trained ranker")
    add_settings(parser, RankSettings)
    add_device_flag(parser)


COMMANDS = {
    "rank": Command(
        rank,
        [add_rank_flags, add_job_flags, add_verify],
        ["wikisum rank data --method lexrank --out ranked"],
    )
}
