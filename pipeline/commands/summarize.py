"""The command that writes summaries with a trained model."""

import argparse
import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from wikisum.pipeline.commands.command import DONE
from wikisum.pipeline.commands.flags import SOURCE_FLAGS, add_fields, given
from wikisum.pipeline.errors import JobFailed

if TYPE_CHECKING:
    from wikisum.graphs.edges import Edges
    from wikisum.models.decoding.settings import SearchSettings
    from wikisum.models.decoding.summarize import Loaded
    from wikisum.models.decoding.summary_files import Summary
    from wikisum.pipeline.commands.own_documents import OwnParagraph

EACH = "each"
SEARCH_FLAGS = {
    "beam": "hypotheses kept; 1 is greedy (default 5)",
    "alpha": "of the length penalty (default 0.4)",
    "penalty": "wu (default), average or none",
    "min_tokens": "subwords at least",
    "max_tokens": "subwords at most (default 256)",
    "block_ngram": "let no n-gram of this length come twice, 0 for any",
    "block_recent": "let none of the last two subwords come next",
    "sample": "draw tokens instead of searching",
    "temperature": "of the draws (default 1)",
    "top_k": "draw from the likeliest so many, 0 for all",
    "top_p": "draw from the likeliest with this share in all (default 1)",
    "seed": "of the draws",
}


def summarize(args: argparse.Namespace) -> int:
    """Write summaries: of a split of a dataset, or of documents of one's own.

    With --split, a row an example in JSON Lines (or Parquet, by the name of --out), with scores,
    the run and the search they come from, and what was attended to. With --text, the files' (or
    web pages') paragraphs are ranked for --title, and the summary is printed (the row to --out).
    """
    from wikisum.models.decoding.summarize import load
    from wikisum.ranker.runs.checkpoints import device_of

    _check_call(args)
    search = _search_settings(args)
    if args.checkpoint == EACH:
        return _each(args, search)
    loaded = load(args.run_folder, args.checkpoint, device_of(args.device), args.precision)
    if args.text:
        return _own(args, loaded, search)
    out = args.out or Path(f"{args.split}.jsonl")
    _split(args, loaded, search, out)
    print(f"look next: wikisum evaluate summaries {out}")
    return DONE


def _each(args: argparse.Namespace, search: "SearchSettings") -> int:
    """A file for each of the best checkpoints, named by its step; their scores may be averaged."""
    from wikisum.models.decoding.summarize import load
    from wikisum.models.training.checkpoints import best_steps
    from wikisum.ranker.runs.checkpoints import device_of

    out = args.out or Path(f"{args.split}.jsonl")
    device, files = device_of(args.device), []
    for step in best_steps(args.run_folder):
        files.append(out.with_name(f"{out.stem}.step-{step}{out.suffix}"))
        _split(args, load(args.run_folder, str(step), device, args.precision), search, files[-1])
    print(f"look next: wikisum evaluate summaries --mean {' '.join(map(str, files))}")
    return DONE


def _split(args: argparse.Namespace, loaded: "Loaded", search: "SearchSettings", out: Path) -> None:
    from wikisum.models.data.batches import SplitReader
    from wikisum.models.decoding.summarize import Job, job_key, split_rows
    from wikisum.models.decoding.write_summaries import write_summaries
    from wikisum.models.training.checkpoints import data_of
    from wikisum.ranker.data.shards import split_shards
    from wikisum.ranker.runs.progress import ProgressLine

    data = args.data or data_of(args.run_folder)
    _check_vocab(args.run_folder, data)
    settings = loaded.chosen.settings
    source = dataclasses.replace(settings.source, **given(args, SOURCE_FLAGS))
    reader = SplitReader(split_shards(data, args.split), settings.model, source)
    job = Job(reader, search, args.batch_tokens or settings.train.batch_tokens)
    group_rows = [group.rows for group in reader.groups]

    def rows_from(group: int) -> Iterator["Summary"]:
        done = sum(group_rows[:group])
        line = ProgressLine("summarize", "summaries", len(reader), sys.stderr, done)
        for number, row in enumerate(split_rows(loaded, job, group), done + 1):
            yield row
            line.draw(number)

    count = write_summaries(out, job_key(loaded, job), group_rows, rows_from)
    print(f"{out}: {count:,} summaries ({loaded.chosen.name})")


def _own(args: argparse.Namespace, loaded: "Loaded", search: "SearchSettings") -> int:
    from wikisum.crawl.titles import article_id
    from wikisum.models.decoding.summarize import own_summary
    from wikisum.models.decoding.write_summaries import write_summaries
    from wikisum.pipeline.commands.own_documents import read_paragraphs
    from wikisum.ranker.rank import rank

    paragraphs = read_paragraphs(args.text)
    order = rank("tfidf", args.title, [p.text for p in paragraphs])
    source = dataclasses.replace(loaded.chosen.settings.source, **given(args, SOURCE_FLAGS))
    best = [paragraphs[i] for i in order]
    example = {
        "id": article_id(args.title),
        "title": args.title,
        "paragraphs": [p._asdict() for p in best],
        "documents": [{"url": name} for name in args.text],
    }
    edges = _edges(loaded.chosen.settings.model.graph, best[: source.max_paragraphs])
    row = own_summary(loaded, example, source, search, edges)
    print(row.summary)
    if args.out is not None:
        write_summaries(args.out, "own", [1], lambda _: iter([row]))
    return DONE


def _edges(graph: str, paragraphs: "list[OwnParagraph]") -> "Edges | None":
    """The graph that a model follows, among one's own paragraphs."""
    if graph == "similarity":
        from wikisum.graphs.similarity import similarity_graph

        return similarity_graph([p.text for p in paragraphs])
    if graph == "discourse":
        from wikisum.graphs.discourse import discourse_graph

        texts, documents, positions = (list(part) for part in zip(*paragraphs, strict=True))
        try:
            return discourse_graph(texts, documents, positions)
        except ImportError as error:  # no model of spaCy's
            raise JobFailed(str(error)) from error
    return None


def _check_call(args: argparse.Namespace) -> None:
    """Raises ValueError for flags that do not go together, or an --out that cannot be a file."""
    if args.text and args.title is None:
        raise ValueError("--text needs --title")
    if args.text and args.checkpoint == EACH:
        raise ValueError(f"--checkpoint {EACH} is for --split")
    for flag in ("data", "batch_tokens") if args.text else ("title",):
        if getattr(args, flag) is not None:
            raise ValueError(
                f"--{flag.replace('_', '-')} is for {'--split' if args.text else '--text'}"
            )
    if args.out is not None and args.out.is_dir():
        raise ValueError(f"--out {args.out} is a folder")


def _check_vocab(run: Path, data: str) -> None:
    """Raises ValueError if the dataset's subwords are not the run's; without a vocabulary, none."""
    from wikisum.models.training.checkpoints import vocab_path
    from wikisum.ranker.data.shards import find_vocab

    with contextlib.suppress(FileNotFoundError):
        if find_vocab(data) != vocab_path(run).read_bytes():
            raise ValueError(
                f"{data} has another vocabulary than {run} was trained with: give it the run's "
                f"with `wikisum tokenize --vocab {vocab_path(run)}`"
            )


def _search_settings(args: argparse.Namespace) -> "SearchSettings":
    from wikisum.models.decoding.settings import SearchSettings

    return SearchSettings(**given(args, SEARCH_FLAGS))


def add_summarize_flags(parser: argparse.ArgumentParser) -> None:
    """The flags of `wikisum summarize`."""
    from wikisum.models import configs
    from wikisum.models.decoding.settings import SearchSettings

    parser.add_argument("--run", dest="run_folder", required=True, type=Path, metavar="DIR",
                        help="folder of a training run")  # fmt: skip
    parser.add_argument("--checkpoint", default="best", metavar="NAME",
                        help="best (default), last, average (of the best kept), a step, or "
                        "each (of the best: a file each)")  # fmt: skip
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--split", metavar="NAME", help="train, validation or test")
    what.add_argument("--text", nargs="+", metavar="FILE", help="text or HTML files, or URLs")
    parser.add_argument("--data", metavar="DIR", help="dataset (default that of the training)")
    parser.add_argument("--title", metavar="TITLE", help="what the summary is about, for --text")
    parser.add_argument("--out", type=Path, metavar="FILE",
                        help=".jsonl or .parquet (default the split's name, or none)")  # fmt: skip
    parser.add_argument("--device", default="auto", metavar="NAME", help="auto, cpu or cuda")
    parser.add_argument("--precision", default="auto", choices=["auto", "bf16", "fp32"],
                        help="auto (bf16 on a GPU), bf16 or fp32")  # fmt: skip
    parser.add_argument("--batch-tokens", type=int, metavar="N",
                        help="source subwords of a batch (default as in training)")  # fmt: skip
    source = parser.add_argument_group("source, where not as in training")
    add_fields(source, configs.SourceSettings,
               SOURCE_FLAGS | {"lead_tokens": "subwords of a lead to measure perplexity on"}
               )  # fmt: skip
    add_fields(parser.add_argument_group("search"), SearchSettings, SEARCH_FLAGS)
