"""The command line: parses the call, then imports what the chosen command needs."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from wikisum import __version__
from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.whitespace import printable
from wikisum.pipeline.commands.command import BAD_CALL, FAILED, INTERRUPTED, Commands, Parser
from wikisum.pipeline.commands.extras import missing_module
from wikisum.pipeline.errors import JobFailed
from wikisum.ranker.data.errors import BadFile

DESCRIPTION = "Rebuild the WikiSum dataset from a Wikipedia dump and a web crawl, and train on it."
EPILOG = """\
`wikisum COMMAND --help` describes a command; `wikisum --version` prints the version.

examples:
  wikisum build --articles enwiki.xml.bz2 --warcs 'crawl/*.warc.gz' --limit 1000 --out data
  wikisum train summarizer --preset tiny --data data --out runs/tiny
  wikisum summarize --run runs/tiny --split test --out test.jsonl
  wikisum evaluate summaries test.jsonl --data data --out scores"""

_IMPORTS, _JUDGE = "exchange.imports", "evaluation.judge"
PACKAGE = "wikisum.pipeline.commands"
# section of the help: commands, each with its module and its first line; a group has no module
SECTIONS: dict[str, dict[str, tuple[str, str]]] = {
    "dataset": {
        "build": ("build", "Build a dataset from a Wikipedia dump and the pages of a crawl."),
        "report": ("stages", "Write the report of a dataset again, and print its summary."),
        "validate": ("stages", "Check every file and row of a dataset; print one line per fault."),
        "doctor": ("doctor", "Show what this machine can do, and what a build would lack."),
    },
    "stages of a build, one by one": {
        "articles": ("stages", "Read a dump into articles/."),
        "locate": ("stages", "Look the wanted pages up in crawls' indexes; write captures/."),
        "fetch": ("stages", "Fetch located pages by ranged reads; write documents/."),
        "scan": ("stages", "Scan whole WARC, ARC or WET files; write documents/."),
        "examples": ("stages", "Join articles and documents; write examples/ with graphs."),
        "tokenize": ("stages", "Train or use a SentencePiece vocabulary; add subword ids."),
    },
    "pages from elsewhere": {
        "search": ("search", "Find the ten best pages of crawl files per title, into search/."),
        "live": ("live", "Fetch wanted pages that no crawl has from the web, into live/*.warc.gz."),
    },
    "other corpora and formats": {
        "import": ("", "Import another corpus into the shards of a build."),
        "import cnndm": (_IMPORTS, "CNN/DailyMail: chunks (.bin), stories, JSON Lines or Parquet."),
        "import wikihow": (_IMPORTS, "WikiHow: wikihowAll.csv."),
        "import multinews": (_IMPORTS, "Multi-News: .src and .tgt files, JSON Lines or Parquet."),
        "import wcep": (_IMPORTS, "WCEP: JSON Lines of events."),
        "import multixscience": (_IMPORTS, "Multi-XScience: JSON lists of papers."),
        "import examples": (_IMPORTS, "What `wikisum export` wrote: JSON Lines or Parquet."),
        "import table": (_IMPORTS, "JSON Lines, JSON, CSV, TSV or Parquet with named columns."),
        "export": ("exchange.exports", "Write a dataset or model in the format of another tool."),
    },
    "ranking": {"rank": ("ranker", "Rank the paragraphs of a dataset by another method.")},
    "summarizing": {
        "train": ("", "Train a ranker or a summarizer on the shards of a dataset."),
        "train ranker": ("train", "Train the learned ranker on the shards of a dataset."),
        "train summarizer": ("train", "Train a summarizer from the shards of a dataset."),
        "summarize": ("summarize", "Write summaries of a dataset, or of your own documents."),
        "score": ("summarize", "Compute the log-probability of texts under a trained model."),
        "bench": ("train", "Measure the speed and memory of models on random examples."),
        "convert-checkpoint": ("exchange.checkpoints", "Convert a checkpoint of hiersumm."),
    },
    "evaluation": {
        "evaluate": ("", "Score rankings or summaries against the leads."),
        "evaluate ranking": ("evaluate", "Compare ranking methods on a split."),
        "evaluate summaries": ("evaluate", "Score files of summaries: ROUGE, significance."),
        "judge": ("", "Let people judge summaries in the browser."),
        "judge prepare": (_JUDGE, "Write a study: sample examples and assign them to judges."),
        "judge serve": (_JUDGE, "Serve a study to its judges until interrupted; save each answer."),
        "judge report": (_JUDGE, "Write the results of a study, and a page with plots."),
    },
}


# of Beam, about a missing cloud client, as soon as it is imported
logging.getLogger().addFilter(lambda record: "apitools not found" not in record.getMessage())


def _parser() -> Parser:
    parser = Parser(prog="wikisum", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("--version", action="version", version=f"wikisum {__version__}")
    groups = {"": Commands(parser, PACKAGE)}
    for title, commands in SECTIONS.items():
        groups[""].section(title)
        for name, (module, text) in commands.items():
            group, _, last = name.rpartition(" ")
            if module:
                groups[group].add(last, module, text)
            else:
                groups[name] = groups[group].group(name, text)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0 (done), 1 (the data is wrong or a job failed) or 2 (a wrong call)."""
    # Read when torch is loaded: its waiting threads would otherwise spin and starve processes.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    words = list(sys.argv[1:] if argv is None else argv)
    cut = words.index("--") if "--" in words else len(words)
    try:
        args = _parser().parse_args(words[:cut])
    except SystemExit as leave:
        return int(leave.code or 0)
    beam_flags = words[cut + 1 :]
    if not beam_flags:  # a local run has a log of its own
        logging.getLogger().setLevel(logging.ERROR)
    return _guarded(args, beam_flags)


def _guarded(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Run the command, and print an error as one line."""
    try:
        return int(args.run(args, beam_flags))
    except KeyboardInterrupt:
        message, code = "interrupted", INTERRUPTED
    except BadFile as error:
        message, code = str(error), FAILED
    except (ValueError, FileNotFoundError, FileExistsError, IsADirectoryError) as error:
        message, code = _in_words(error), BAD_CALL
    except (JobFailed, BadAnswer, OSError) as error:
        message, code = _in_words(error), FAILED
    except ModuleNotFoundError as error:
        message, code = missing_module(error.name), FAILED
    message = printable(message)  # it may quote a page or a file of another program
    first = message.strip().splitlines()[0] if message.strip() else "failed"
    sys.stderr.write(f"{args.prog}: {first}\n")
    return code


def _in_words(error: Exception) -> str:
    """Return the message of an error; one of the operating system names the file, not a number."""
    if not isinstance(error, OSError) or error.errno is None or error.filename is None:
        return str(error)
    if isinstance(error, FileNotFoundError):
        return f"there is no file or folder {error.filename}"
    return f"{error.filename}: {(error.strerror or 'failed').lower()}"


def run() -> NoReturn:
    """Run the command as a process, and exit without shutting the interpreter down.

    All output is written by then, and threads of libraries sometimes abort a regular shutdown.
    """
    code = main()
    if workers := sys.modules.get("wikisum.pipeline.workers"):  # which loads Beam
        workers.end_server()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run()
