"""The commands of the learned ranker and of rankings: train one, rank with it, judge the result."""

import argparse
import sys
from pathlib import Path
from typing import Any

from wikisum.pipeline.commands.command import DONE
from wikisum.pipeline.commands.job import open_job
from wikisum.pipeline.errors import JobFailed


def train_ranker(args: argparse.Namespace) -> int:
    """Train the learned ranker on a dataset's shards; a run that was killed goes on.

    A run's folder holds settings.json, log.jsonl (and the same for TensorBoard), the dataset's
    vocabulary, last.pt to go on from and best.pt to rank with. On a GPU in bfloat16. The same
    seed, data and machine give the same model.
    """
    from dataclasses import replace

    from wikisum.ranker.learned.train import PRESETS, train

    if args.preset not in PRESETS:
        raise ValueError(f"no preset {args.preset!r}: one of {', '.join(PRESETS)}")
    model, fit = PRESETS[args.preset]
    model = replace(model, **_given(args, "model"))
    fit = replace(fit, **_given(args, "fit"))
    try:
        train(args.data, args.out, model, fit, args.device, sys.stderr)
    except FloatingPointError as error:
        raise JobFailed(str(error)) from error
    return DONE


def rank(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Rank the paragraphs of a dataset again, by any method or the learned ranker, and cut them.

    Graphs and subword ids follow the new order; vocabulary, report and card are carried along. A
    run that was killed goes on. Flags after -- are Beam's.
    """
    from wikisum.pipeline.options import RankSettings
    from wikisum.pipeline.rerank.stage import rank_dataset

    settings = RankSettings(args.method or "", **_given(args, "rank"))
    with open_job(args, beam_flags) as job:
        manifest = rank_dataset(job, args.data, settings, args.model, args.device)
    counts = manifest["counts"]["rank"]
    kept, total = counts.get("paragraphs_out", 0), counts.get("paragraphs_in", 0)
    print(f"{args.out}: {counts.get('examples_out', 0):,} examples, "
          f"{kept:,} of {total:,} paragraphs kept")  # fmt: skip
    return DONE


def evaluate_ranking(args: argparse.Namespace) -> int:
    """Judge every ranking of a split's paragraphs: recall, time, and summaries made of the best.

    ROUGE-L recall of the best 5, 10, 20 and 40 paragraphs against the lead, and ROUGE F1 of as many
    words of them as the lead has. Paragraphs are ranked anew from the order of their pages;
    `stored` is the order of the shards. With --run, by a trained ranker too.
    """
    from wikisum.ranker.evaluate import evaluate_ranking as rows_of
    from wikisum.ranker.evaluate import markdown
    from wikisum.ranker.rank import METHODS
    from wikisum.ranker.runs.atomic import write_json

    methods = args.methods.split(",") if args.methods else list(METHODS)
    rows = rows_of(
        args.data, args.split, args.run_folder, methods, args.limit, args.device, sys.stderr
    )
    print(markdown(rows), end="")
    if args.out is not None:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        write_json(args.out, rows)
    return DONE


def _given(args: argparse.Namespace, group: str) -> dict[str, Any]:
    """The values of the flags of a group that stand in the call."""
    return {
        name.partition(".")[2]: value
        for name, value in vars(args).items()
        if name.startswith(f"{group}.") and value is not None
    }


def add_train_ranker_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum train ranker`."""
    parser.add_argument("--data", required=True, metavar="DIR",
                        help="dataset, or its folder examples; local, gs:// or s3://")  # fmt: skip
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder of the run")
    parser.add_argument("--preset", default="paper", metavar="NAME",
                        help="paper (default: two LSTMs of 256) or tiny")  # fmt: skip
    flags: list[tuple[str, type, str]] = [
        ("fit.steps", int, "optimizer steps"),
        ("fit.seed", int, "of weights, order and dropout"),
        ("fit.learning_rate", float, "of Adagrad (default 0.15)"),
        ("fit.initial_accumulator", float, "of Adagrad (default 0.1)"),
        ("fit.batch_tokens", int, "subwords a batch holds, with its padding"),
        ("fit.max_title_tokens", int, "subwords read of a title (default 64)"),
        ("fit.max_paragraph_tokens", int, "subwords read of a paragraph (default 256)"),
        ("fit.pool_articles", int, "articles held in memory and shuffled (default 2048)"),
        ("fit.evaluate_every", int, "steps between evaluations, each with a checkpoint"),
        ("fit.evaluate_articles", int, "articles an evaluation takes, in whole row groups"),
        ("model.embedding_size", int, "width of subword embeddings"),
        ("model.hidden_size", int, "width of each LSTM"),
        ("model.feature_size", int, "width of the features behind the LSTMs"),
        ("model.dropout", float, "before linear layers (default 0.2)"),
    ]
    for name, kind, text in flags:
        flag = "--" + name.rpartition(".")[2].replace("_", "-")
        parser.add_argument(flag, dest=name, type=kind, metavar=kind.__name__.upper(), help=text)
    parser.add_argument("--bidirectional", dest="model.bidirectional", action="store_true",
                        default=None, help="LSTMs in both directions")  # fmt: skip
    add_device_flag(parser)


def add_rank_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum rank`."""
    parser.add_argument("--data", required=True, metavar="DIR",
                        help="dataset, or its folder examples; local, gs:// or s3://")  # fmt: skip
    by = parser.add_mutually_exclusive_group(required=True)
    by.add_argument("--method", metavar="NAME",
                    help="identity, random, tfidf, tfidf_cosine, textrank, lexrank, "
                    "lexrank_continuous, sumbasic; with the lead, as bounds: cheating, oracle"
                    )  # fmt: skip
    by.add_argument("--model", metavar="RUN", help="folder of a trained ranker")
    parser.add_argument("--max-paragraphs", dest="rank.max_paragraphs", type=int, metavar="N",
                        help="paragraphs to keep, best first (default 40)")  # fmt: skip
    parser.add_argument("--seed", dest="rank.seed", type=int, metavar="N",
                        help="of the method random (default 0)")  # fmt: skip
    add_device_flag(parser)


def add_evaluate_ranking_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of `wikisum evaluate ranking`."""
    parser.add_argument("--data", required=True, metavar="DIR",
                        help="dataset, or its folder examples; local, gs:// or s3://")  # fmt: skip
    parser.add_argument("--split", default="test", metavar="NAME",
                        help="train, validation or test (default)")  # fmt: skip
    parser.add_argument("--run", dest="run_folder", type=Path, metavar="RUN",
                        help="folder of a trained ranker, judged too")  # fmt: skip
    parser.add_argument("--methods", metavar="NAMES", help="with commas between (default all)")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N articles only")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON too")
    add_device_flag(parser)


def add_device_flag(parser: argparse.ArgumentParser) -> None:
    """Add `--device`."""
    parser.add_argument("--device", default="auto", metavar="NAME",
                        help="cpu, cuda or auto (default): a GPU if there is one")  # fmt: skip
