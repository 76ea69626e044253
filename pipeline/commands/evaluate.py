"""The commands that score rankings and summaries."""

import argparse
import sys

from wikisum.crawl.whitespace import printable
from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
from wikisum.models.evaluation.evaluation_files import write_evaluation
from wikisum.models.evaluation.tables import text_table
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import (
    SPLITS,
    add_dataset,
    add_device_flag,
    add_run,
    add_settings,
    count,
    dataset_of,
    fetches_run,
    local_path,
    names,
    settings_of,
)
from wikisum.ranker.evaluate import evaluate_ranking as rows_of
from wikisum.ranker.evaluate import markdown
from wikisum.ranker.rank import METHODS
from wikisum.ranker.runs.atomic import write_json


@fetches_run
def evaluate_ranking(args: argparse.Namespace) -> int:
    """Compare ranking methods on a split: recall, time, and summaries of the best paragraphs.

    Recall is ROUGE-L recall of the best 5, 10, 20 and 40 paragraphs against the lead. Summaries
    are the best paragraphs, cut to the number of words of the lead, and scored by ROUGE F1.
    Paragraphs are ranked starting from the order of their pages; `stored` is the order of the
    shards. With --run, a trained ranker is compared too.
    """
    data = dataset_of(args)
    methods = list(args.methods or METHODS)
    rows = rows_of(data, args.split, args.run_folder, methods, args.limit, args.device, sys.stderr)
    print(markdown(rows), end="")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(args.out, rows)
    return DONE


def evaluate_summaries(args: argparse.Namespace) -> int:
    """Score files of summaries: ROUGE, perplexity, length, repetition, copying, significance.

    Each file holds the summaries of one system, as `wikisum summarize` writes them: JSON Lines or
    Parquet with at least id, title, lead and summary. --data adds baselines. --out writes the
    results as Markdown, CSV and JSON, with a page that shows every summary.
    """
    if args.out is not None and args.out.exists() and not args.out.is_dir():
        raise ValueError(f"--out {args.out} is not a directory")
    settings = settings_of(args, EvaluationSettings())
    evaluation, systems = evaluate(args.summaries, args.data, settings, sys.stderr)
    print(printable(text_table(evaluation)), end="")
    if args.out is not None:
        write_evaluation(args.out, evaluation, systems)
        print(f"next: open {args.out}/index.html or read {args.out}/evaluation.md")
    return DONE


def _add_ranking_flags(parser: argparse.ArgumentParser) -> None:
    add_dataset(parser)
    parser.add_argument("--split", default="test", choices=SPLITS, help="default: test")
    add_run(parser, "--run", "folder of a trained ranker to compare too", dest="run_folder")
    parser.add_argument("--methods", type=names, metavar="NAME,...",
                        help="methods to compare (default: all)")  # fmt: skip
    parser.add_argument("--limit", type=count, metavar="N", help="use the first N articles only")
    parser.add_argument("--out", type=local_path, metavar="FILE",
                        help="write the results as JSON too")  # fmt: skip
    add_device_flag(parser)


def _add_summaries_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("summaries", nargs="*", type=local_path, metavar="FILE",
        help="summaries of one system each, JSON Lines or Parquet")  # fmt: skip
    add("--data", metavar="DIR", help="folder of the dataset, to add baselines")
    add_settings(parser, EvaluationSettings)
    add("--out", type=local_path, metavar="DIR", help="folder for tables and page")


COMMANDS = {
    "evaluate ranking": Command(
        evaluate_ranking, [_add_ranking_flags], ["wikisum evaluate ranking data --split test"]
    ),
    "evaluate summaries": Command(
        evaluate_summaries,
        [_add_summaries_flags],
        ["wikisum evaluate summaries test.jsonl --data data --out scores"],
    ),
}
