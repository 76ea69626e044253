"""The vocabulary of a training run, prepared once by its main process."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import sentencepiece

from wikisum.models.settings.run import RunSettings
from wikisum.models.table import spec_of
from wikisum.models.vocabulary.run_vocabulary import (
    WORDS,
    Vocabulary,
    WordSettings,
    count_words,
    load_words,
    save_words,
)
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import Shard
from wikisum.ranker.runs.checkpoints import has_checkpoint
from wikisum.ranker.training.distributed import ProcessGroup


def prepare_vocabulary(
    run: Path,
    train: Sequence[Shard],
    settings: RunSettings,
    processor: sentencepiece.SentencePieceProcessor,
    init_from: Path | None,
    processes: ProcessGroup,
    to: TextIO = sys.stderr,
) -> Vocabulary:
    """Return what the run reads: subwords, or words, counted once and kept in its folder.

    A run that starts from the weights of another takes its words. Raises FileNotFoundError if that
    one has none, and for a missing file of word vectors; ValueError for one that cannot be used.
    """
    size = spec_of(settings.model).words(settings.model)
    if not size:
        return Subwords(processor)
    if processes.is_main and not (has_checkpoint(run) and (run / WORDS).is_file()):
        if init_from is not None:
            words = load_words(init_from)
        else:
            model: Any = settings.model
            about = WordSettings(
                size, settings.source.source_tokens, model.word_vectors, model.embedding
            )
            words = count_words(train, about, to)
        save_words(run, words)
    processes.barrier()
    return load_words(run)
