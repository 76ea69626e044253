"""`wikisum import`: other corpora into the shards of a build."""

import argparse
import os
import sys
from dataclasses import replace

from wikisum.pipeline import build as flow
from wikisum.pipeline.commands import settings as flags
from wikisum.pipeline.commands.command import DONE, Command
from wikisum.pipeline.commands.extras import check_build
from wikisum.pipeline.commands.flags import (
    add_job_flags,
    add_paths,
    add_settings,
    add_verify,
    settings_of,
)
from wikisum.pipeline.commands.job import check_out, open_job
from wikisum.pipeline.corpora.corpus import CORPORA, table
from wikisum.pipeline.corpora.read import check_files
from wikisum.pipeline.corpora.settings import ColumnSettings, CorpusSettings
from wikisum.pipeline.engine.verify import verify
from wikisum.pipeline.examples.settings import (
    ExampleSettings,
    GraphSettings,
    VocabSettings,
)
from wikisum.pipeline.report import summary
from wikisum.pipeline.setting import ANY_LANGUAGE, Settings
from wikisum.pipeline.stages import stages

# A corpus comes as its authors chose it: nothing is dropped as a copy, as a duplicate, for its
# language, its size or its number, and its order is kept.
FOR_CORPORA = Settings(
    ExampleSettings(
        language=ANY_LANGUAGE,
        keep_duplicates=True,
        min_document_words=0,
        recurring_articles=0,
        near_duplicate_threshold=1.0,
        ranking="given",
        clone_threshold=1.0,
        paragraph_clone_threshold=1.0,
        max_documents=100_000,
        max_paragraphs=1000,
    ),
    GraphSettings(entity_paragraphs=None),
)


def import_corpus(args: argparse.Namespace, beam_flags: list[str]) -> int:
    """Import a corpus."""
    name = args.import_command
    columns = settings_of(args, ColumnSettings()) if name == "table" else None
    corpus = CORPORA[name] if columns is None else table(columns)
    base = replace(CorpusSettings(), units=corpus.unit)
    entries = settings_of(args, base)
    settings = flags.build_settings(
        args, ExampleSettings, GraphSettings, VocabSettings, default=FOR_CORPORA
    )
    check_out(args.out)
    inputs = flags.input_files("FILE", _stories(args.files))
    lists = flags.input_files("--lists", args.lists)
    check_files(corpus, inputs, lists)
    check_build(needs_spacy=settings[GraphSettings].needs_spacy)
    vocab = flags.vocab_file(settings[VocabSettings].vocab)
    with open_job(args, beam_flags) as job:
        if args.verify:
            verify(job, stages())
        manifest = flow.import_corpus(
            job, corpus, entries, settings, inputs=inputs, lists=lists, vocab=vocab, columns=columns
        )
        summary.write_summary(manifest, job.workspace.out, sys.stdout)
    return DONE


def _stories(paths: list[str]) -> list[str]:
    """The paths, with each local folder replaced by the stories in it."""
    return [os.path.join(p, "**", "*.story") if os.path.isdir(p) else p for p in paths]


def _add_input_flags(parser: argparse.ArgumentParser) -> None:
    text = "files or globs, also compressed or in a tar archive; or a folder of stories"
    parser.add_argument("files", nargs="+", metavar="FILE", help=text)
    text = (
        "lists of the URLs of stories or the titles of articles in each split, with the split in "
        "the name of the file (all_train.txt)"
    )
    add_paths(parser, "--lists", text)
    add_settings(parser.add_argument_group("corpus"), CorpusSettings)


def _add_example_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("examples")
    names = ["ranking", "max_paragraphs", "max_words", "shards"]
    texts = {
        "ranking": "order of the paragraphs: as in the documents (given, the default), or by "
        "tf-idf with the title",
        "max_paragraphs": "maximum paragraphs per entry (default: 1000)",
    }
    add_settings(group, ExampleSettings, only=names, texts=texts, show_defaults=False)
    add_settings(group, GraphSettings)


_FLAGS = [
    _add_input_flags,
    _add_example_flags,
    flags.settings_flags("subwords", VocabSettings),
    add_job_flags,
    add_verify,
]
_COLUMNS = flags.settings_flags("columns", ColumnSettings)
_TABLE = "wikisum import table data.jsonl --text article --summary abstract --out data"
COMMANDS = {
    f"import {name}": Command(
        import_corpus, _FLAGS, [f"wikisum import {name} FILE... --out {name}"]
    )
    for name in CORPORA
} | {"import table": Command(import_corpus, [_COLUMNS, *_FLAGS], [_TABLE])}
