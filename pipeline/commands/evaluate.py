"""The commands behind the shards: training, summaries and their evaluation. Imports no Beam."""

import argparse
import sys
from pathlib import Path

from wikisum.pipeline.commands.command import DONE, Commands
from wikisum.pipeline.commands.ranker import (
    add_evaluate_ranking_flags,
    add_train_ranker_flags,
    evaluate_ranking,
    train_ranker,
)
from wikisum.pipeline.commands.summarize import add_summarize_flags, summarize
from wikisum.pipeline.commands.train import (
    add_bench_flags,
    add_train_flags,
    bench,
    train_summarizer,
)
from wikisum.pipeline.errors import JobFailed


def evaluate_summaries(args: argparse.Namespace) -> int:
    """Score files of summaries: ROUGE, perplexity, length, repetition, copying, significance.

    Each file is a system's, as `wikisum summarize` writes it: JSON Lines or Parquet with id, title,
    lead and summary at least. With --data, baselines stand beside the systems. With --out, the
    figures are written as Markdown, CSV and JSON, with a page that shows every summary.
    """
    from wikisum.models.decoding.summary_files import BadSummaries
    from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
    from wikisum.models.evaluation.evaluation_files import write_evaluation
    from wikisum.models.evaluation.tables import text_table

    given = {
        name: value
        for name in ("samples", "seed", "split", "max_paragraphs", "page_examples")
        if (value := getattr(args, name)) is not None
    }
    if args.baselines is not None:
        given["baselines"] = tuple(filter(None, args.baselines.split(",")))
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise ValueError(f"--out {args.out} is no folder")
    settings = EvaluationSettings(stem=not args.no_stem, mean=args.mean, **given)

    try:
        evaluation, systems = evaluate(args.summaries, args.data, settings, sys.stderr)
        if args.out is not None:
            write_evaluation(args.out, evaluation, systems)
    except BadSummaries as error:
        raise JobFailed(str(error)) from error
    print(text_table(evaluation), end="")
    if args.out is not None:
        print(f"look next: {args.out}/index.html, {args.out}/evaluation.md")
    return DONE


def _add_summaries_flags(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("summaries", nargs="*", type=Path, metavar="FILE",
                        help="summaries of a system each, JSON Lines or Parquet")  # fmt: skip
    parser.add_argument("--data", metavar="DIR", help="dataset, to add baselines")
    parser.add_argument("--split", metavar="NAME", help="split of the dataset (default test)")
    parser.add_argument("--baselines", metavar="NAMES",
                        help="with commas between: lead, oracle or a ranking method "
                        "(default lead,lexrank)")  # fmt: skip
    parser.add_argument("--max-paragraphs", type=int, metavar="N",
                        help="ranked paragraphs for the baselines (default all)")  # fmt: skip
    parser.add_argument("--no-stem", action="store_true",
                        help="ROUGE of words as they are, not of their Porter stems")  # fmt: skip
    parser.add_argument("--mean", action="store_true",
                        help="a row of the files' mean too, as of a run's best checkpoints"
                        )  # fmt: skip
    parser.add_argument("--samples", type=int, metavar="N",
                        help="resamples of intervals and tests (default 10000)")  # fmt: skip
    parser.add_argument("--seed", type=int, metavar="N", help="seed of resampling (default 0)")
    parser.add_argument("--page-examples", type=int, metavar="N",
                        help="examples that the page holds, first ones (default 2000)")  # fmt: skip
    parser.add_argument("--out", type=Path, metavar="DIR", help="folder for tables and page")


def add_commands(commands: Commands) -> None:
    """Add the commands of this file, of rankers and of summarizers."""
    train = commands.group("train", "Train a model on the shards of a dataset.")
    train.add("ranker", train_ranker, add_train_ranker_flags)
    train.add("summarizer", train_summarizer, add_train_flags)
    commands.add("summarize", summarize, add_summarize_flags)
    commands.add("bench", bench, add_bench_flags)
    evaluate = commands.group(
        "evaluate", "Score rankings and summaries against the leads that they stand for."
    )
    evaluate.add("ranking", evaluate_ranking, add_evaluate_ranking_flags)
    evaluate.add("summaries", evaluate_summaries, _add_summaries_flags)
