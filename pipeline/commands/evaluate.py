"""The commands behind the shards: training, summaries and their evaluation. Imports no Beam."""

import argparse
import sys
from pathlib import Path

from wikisum.crawl.whitespace import printable
from wikisum.pipeline.commands.command import DONE, Commands
from wikisum.pipeline.commands.exchange.checkpoints import add_convert_flags, convert_checkpoint
from wikisum.pipeline.commands.flags import add_settings, settings_of
from wikisum.pipeline.commands.ranker import add_evaluate_ranking_flags, evaluate_ranking
from wikisum.pipeline.commands.summarize import (
    add_score_flags,
    add_summarize_flags,
    score,
    summarize,
)
from wikisum.pipeline.commands.train import (
    add_bench_flags,
    add_train_flags,
    add_train_ranker_flags,
    bench,
    train_ranker,
    train_summarizer,
)
from wikisum.pipeline.errors import JobFailed


def evaluate_summaries(args: argparse.Namespace) -> int:
    """Score files of summaries: ROUGE, perplexity, length, repetition, copying, significance.

    Each file holds the summaries of one system, as `wikisum summarize` writes them: JSON Lines or
    Parquet with at least id, title, lead and summary. --data adds baselines. --out writes the
    results as Markdown, CSV and JSON, with a page that shows every summary.
    """
    from wikisum.models.decoding.summary_files import BadSummaries
    from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
    from wikisum.models.evaluation.evaluation_files import write_evaluation
    from wikisum.models.evaluation.tables import text_table

    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise ValueError(f"--out {args.out} is not a directory")
    settings = settings_of(args, EvaluationSettings())
    try:
        evaluation, systems = evaluate(args.summaries, args.data, settings, sys.stderr)
        if args.out is not None:
            write_evaluation(args.out, evaluation, systems)
    except BadSummaries as error:
        raise JobFailed(str(error)) from error
    print(printable(text_table(evaluation)), end="")
    if args.out is not None:
        print(f"next: open {args.out}/index.html or read {args.out}/evaluation.md")
    return DONE


def _add_summaries_flags(parser: argparse.ArgumentParser) -> None:
    from wikisum.models.evaluation.evaluate import EvaluationSettings

    add = parser.add_argument
    add("summaries", nargs="*", type=Path, metavar="FILE",
        help="summaries of one system each, JSON Lines or Parquet")  # fmt: skip
    add("--data", metavar="DIR", help="folder of the dataset, to add baselines")
    add_settings(parser, EvaluationSettings)
    add("--out", type=Path, metavar="DIR", help="folder for tables and page")


def add_training(commands: Commands) -> None:
    """Add the commands that train and use summarizers."""
    train = commands.group("train", "Train a ranker or a summarizer on the shards of a dataset.")
    train.add("ranker", train_ranker, add_train_ranker_flags,
              examples=["wikisum train ranker --data data --out runs/ranker"])  # fmt: skip
    train.add(
        "summarizer",
        train_summarizer,
        late_flags=[add_train_flags],
        examples=[
            "wikisum train summarizer --preset tiny --data data --out runs/tiny",
            "wikisum train summarizer --preset ht-paper --data data --out runs/ht",
        ],
    )
    commands.add(
        "summarize",
        summarize,
        add_summarize_flags,
        examples=[
            "wikisum summarize --run runs/ht --split test --out test.jsonl",
            "wikisum summarize --run runs/ht --title 'Sea otter' --text otter.html notes.txt",
        ],
    )
    commands.add(
        "score",
        score,
        add_score_flags,
        examples=[
            "wikisum score --run runs/ht --split test --out scores.jsonl",
            "wikisum score --run runs/ht --split test --texts summaries.jsonl",
        ],
    )
    commands.add("bench", bench, late_flags=[add_bench_flags])
    commands.add(
        "convert-checkpoint",
        convert_checkpoint,
        add_convert_flags,
        examples=[
            "wikisum convert-checkpoint model_step_300000.pt --vocab spm9998_3.model --out runs/ht"
        ],
    )


def add_evaluation(commands: Commands) -> None:
    """Add the commands that score rankings and summaries."""
    evaluate = commands.group("evaluate", "Score rankings or summaries against the leads.")
    evaluate.add("ranking", evaluate_ranking, add_evaluate_ranking_flags,
                 examples=["wikisum evaluate ranking data --split test"])  # fmt: skip
    evaluate.add(
        "summaries",
        evaluate_summaries,
        late_flags=[_add_summaries_flags],
        examples=["wikisum evaluate summaries test.jsonl --data data --out scores"],
    )
