"""The commands that write summaries with a trained model, and score texts with it."""

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from wikisum.crawl.titles import article_id
from wikisum.crawl.whitespace import printable
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.samples import repetition_warning
from wikisum.models.decoding.score import read_texts, score_texts
from wikisum.models.decoding.split import OWN_HEADINGS, SummaryJob, job_key, split_rows
from wikisum.models.decoding.summarize import Summarizer, load_run, own_summary, paragraph_graph
from wikisum.models.decoding.summary_files import Summary
from wikisum.models.decoding.write_summaries import write_summaries
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.targets import Heading, parse_headings
from wikisum.models.training.checkpoints import BEST_ONE, LAST_ONE, best_of, best_steps, data_of
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.flags import (
    SPLITS,
    add_device_flag,
    add_path,
    add_run,
    add_settings,
    count,
    document_name,
    fetches_run,
    settings_of,
)
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.rank import rank
from wikisum.ranker.runs.atomic import atomic_write
from wikisum.ranker.runs.checkpoints import device_of, has_checkpoint
from wikisum.ranker.runs.files import VOCAB
from wikisum.ranker.runs.progress import ProgressLine
from wikisum.ranker.training.monitor import perplexity

EACH = "each"


@fetches_run
def summarize(args: argparse.Namespace) -> int:
    """Write summaries of a split of a dataset, or of your own documents.

    With --split, writes one row per example as JSON Lines (or Parquet, by the name of --out) with
    scores, the run, the decoding settings and the paragraphs that were attended to. With --text,
    ranks the paragraphs of the documents for --title and prints the summary.
    """
    _check_call(args)
    if args.checkpoint == EACH:
        return _each(args)
    checkpoint = args.checkpoint or _default_checkpoint(args.run_folder)
    loaded = load_run(args.run_folder, checkpoint, device_of(args.device), args.precision)
    if args.text:
        return _own(args, loaded)
    out = args.out or Path(f"{args.split}.jsonl")
    _split(args, loaded, out)
    print(f"next: wikisum evaluate summaries {out}")
    return DONE


def _default_checkpoint(run: Path) -> str:
    """Return `best`, or `last` for a run without validations, which is said."""
    if has_checkpoint(run) and not best_of(run):
        sys.stderr.write(f"{run} has no validated checkpoint: using the last weights\n")
        return LAST_ONE
    return BEST_ONE


def _each(args: argparse.Namespace) -> int:
    """Write a file of summaries for each of the best checkpoints, named by its step."""
    out = args.out or Path(f"{args.split}.jsonl")
    device, files = device_of(args.device), []
    for step in best_steps(args.run_folder):
        files.append(out.with_name(f"{out.stem}.step-{step}{out.suffix}"))
        _split(args, load_run(args.run_folder, str(step), device, args.precision), files[-1])
    print(f"next: wikisum evaluate summaries --mean {' '.join(map(str, files))}")
    return DONE


def _split(args: argparse.Namespace, loaded: Summarizer, out: Path) -> None:
    reader, batch_tokens = _split_reader(args, loaded)
    decoding = settings_of(args, loaded.settings.decoding)
    headings = OWN_HEADINGS if args.headings == OWN_HEADINGS else _headings(args.headings)
    job = SummaryJob(reader, decoding, batch_tokens, headings)
    group_rows = [group.rows for group in reader.groups]
    texts: list[str] = []

    def rows_from(group: int) -> Iterator[Summary]:
        done = sum(group_rows[:group])
        line = ProgressLine("summarize", "summaries", len(reader), sys.stderr, done)
        for number, row in enumerate(split_rows(loaded, job, group), done + 1):
            texts.append(row.summary)
            yield row
            line.draw(number)

    count = write_summaries(out, job_key(loaded, job), group_rows, rows_from)
    print(f"{out}: {count:,} summaries ({loaded.chosen.name})")
    sys.stderr.write(repetition_warning(texts))


def _split_reader(args: argparse.Namespace, loaded: Summarizer) -> tuple[SplitReader, int]:
    """Return the examples of the split, and the number of tokens per batch."""
    data, settings = args.data or data_of(args.run_folder), loaded.settings
    _check_vocab(args.run_folder, data)
    source = settings_of(args, settings.source)
    shards = split_shards(data, args.split)
    reader = SplitReader(shards, settings.model, source, loaded.vocabulary)
    return reader, args.batch_tokens or settings.train.batch_tokens


@fetches_run
def score(args: argparse.Namespace) -> int:
    """Compute the log-probability of texts under a trained model.

    Scores the leads of a split, or the texts of --texts as targets of its examples. Writes a JSON
    line per text: subwords with the end, log-probability in nats in total, per subword and of each
    subword, perplexity.
    """
    checkpoint = args.checkpoint or _default_checkpoint(args.run_folder)
    loaded = load_run(args.run_folder, checkpoint, device_of(args.device), args.precision)
    if args.texts is not None and loaded.spec.words(loaded.settings.model):
        raise ValueError("--texts needs a model of subwords: this one copies words")
    reader, batch_tokens = _split_reader(args, loaded)
    total, tokens, count = 0.0, 0, 0
    line = ProgressLine("score", "texts", len(reader), sys.stderr)

    def write(file: BinaryIO) -> None:
        nonlocal total, tokens, count
        texts = None if args.texts is None else read_texts(args.texts)
        for row in score_texts(loaded, reader, batch_tokens, texts):
            file.write((json.dumps(row._asdict(), ensure_ascii=False) + "\n").encode())
            total, tokens, count = total + row.log_prob, tokens + row.tokens, count + 1
            line.draw(count)

    out = args.out or Path(f"{args.split}.scores.jsonl")
    out.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(out, write)
    print(
        f"{out}: {count:,} texts, {tokens:,} tokens, log-probability {total:,.1f}, "
        f"perplexity {perplexity(-total / max(tokens, 1)):,.2f} ({loaded.chosen.name})"
    )
    return DONE


def _own(args: argparse.Namespace, loaded: Summarizer) -> int:
    from wikisum.pipeline.commands.own_documents import read_paragraphs

    paragraphs = read_paragraphs(args.text)
    order = rank("tfidf", args.title, [p.text for p in paragraphs])
    source = settings_of(args, loaded.settings.source)
    best = [paragraphs[i]._asdict() for i in order]
    example = {
        "id": article_id(args.title),
        "title": args.title,
        "paragraphs": best,
        "documents": [{"url": name} for name in args.text],
    }
    try:
        edges = paragraph_graph(loaded, best[: source.max_paragraphs])
    except ImportError as error:  # spaCy or its model is missing
        raise JobFailed(str(error)) from error
    decoding = settings_of(args, loaded.settings.decoding)
    row = own_summary(loaded, example, source, decoding, edges, _headings(args.headings))
    print(printable(row.text()))
    if args.out is not None:
        write_summaries(args.out, "own", [1], lambda _: iter([row]))
    return DONE


def _headings(value: str | None) -> list[Heading] | None:
    """Return the headings that --headings names, or those in the file that it names."""
    if value is None:
        return None
    if os.path.isfile(value):
        return parse_headings(Path(value).read_text(encoding="utf-8"), "\n")
    return parse_headings(value)


def _check_call(args: argparse.Namespace) -> None:
    """Raise ValueError for flags that do not go together, or an --out that cannot be a file."""
    if args.text and args.title is None:
        raise ValueError("--text needs --title, the topic of the summary")
    if args.text and args.checkpoint == EACH:
        raise ValueError(f"--checkpoint {EACH} goes with --split")
    if args.text and args.headings == "own":
        raise ValueError("--headings own goes with --split: --text has no article")
    for flag in ("data", "batch_tokens") if args.text else ("title",):
        if getattr(args, flag) is not None:
            raise ValueError(
                f"--{flag.replace('_', '-')} goes with {'--split' if args.text else '--text'}"
            )
    if args.out is not None and args.out.is_dir():
        raise ValueError(f"--out {args.out} is a directory")


def _check_vocab(run: Path, data: str) -> None:
    """Raise ValueError if dataset and run have different vocabularies."""
    with contextlib.suppress(FileNotFoundError):
        if find_vocab(data) != (run / VOCAB).read_bytes():
            raise ValueError(
                f"{data} has another vocabulary than the run {run}: "
                f"run `wikisum tokenize --out {data} --vocab {run / VOCAB}`"
            )


def _add_score_flags(parser: argparse.ArgumentParser) -> None:
    _add_run_flags(parser, "best, last, average (of the best ones kept) or the number of a step")
    parser.add_argument("--split", choices=SPLITS, default="test", help="default: test")
    add_path(
        parser,
        "--texts",
        "JSON Lines or Parquet with the id of an example and a text, or a file of summaries "
        "(default: the leads of the split)",
    )
    add_path(parser, "--out", "file to write (default: SPLIT.scores.jsonl)")
    _add_source_flags(parser)


def _add_run_flags(parser: argparse.ArgumentParser, checkpoints: str) -> None:
    text = "folder of a training run"
    add_run(parser, "--run", text, dest="run_folder", required=True)
    text = f"{checkpoints} (default: best, or last for a run without validations)"
    parser.add_argument("--checkpoint", metavar="NAME", help=text)
    text = "folder of the dataset (default: the one trained on)"
    parser.add_argument("--data", metavar="DIR", help=text)
    add_device_flag(parser)
    text = "auto is bf16 on a GPU (default: auto)"
    parser.add_argument("--precision", default="auto", choices=["auto", "bf16", "fp32"], help=text)
    text = "source subwords per batch (default: as in training)"
    parser.add_argument("--batch-tokens", type=count, metavar="N", help=text)


def _add_source_flags(
    parser: argparse.ArgumentParser, texts: Mapping[str, str] | None = None
) -> None:
    source = parser.add_argument_group("source (default: as in training)")
    add_settings(source, SourceSettings, texts=texts, show_defaults=False)


def _add_summarize_flags(parser: argparse.ArgumentParser) -> None:
    _add_run_flags(
        parser,
        "best, last, average (of the best ones kept), the number of a step, or each: one file for "
        "each of the best",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--split", choices=SPLITS, help="summarize this split of the dataset")
    text = "summarize these text, HTML or PDF files or URLs; - is standard input"
    what.add_argument("--text", nargs="+", metavar="FILE", type=document_name, help=text)
    parser.add_argument("--title", metavar="TEXT", help="topic of the summary, for --text")
    text = (
        "headings of the sections to write, separated by semicolons, or a file with one per "
        "line, or own: those of each article of --split (default: the model chooses them)"
    )
    parser.add_argument("--headings", metavar="TEXT", help=text)
    text = "file to write, .jsonl or .parquet (default: SPLIT.jsonl; none for --text)"
    add_path(parser, "--out", text)
    texts = {
        "lead_tokens": "maximum subwords per lead, for perplexity",
        "article_tokens": "maximum subwords per article, for perplexity",
    }
    _add_source_flags(parser, texts)
    decoding = parser.add_argument_group("decoding (default: those of the run's preset)")
    add_settings(decoding, DecodingSettings, show_defaults=False)


COMMANDS = {
    "summarize": Command(
        summarize,
        [_add_summarize_flags],
        [
            "wikisum summarize --run runs/ht --split test --out test.jsonl",
            "wikisum summarize --run runs/ht --title 'Sea otter' --text otter.html notes.txt",
        ],
    ),
    "score": Command(
        score,
        [_add_score_flags],
        [
            "wikisum score --run runs/ht --split test --out scores.jsonl",
            "wikisum score --run runs/ht --split test --texts summaries.jsonl",
        ],
    ),
}
