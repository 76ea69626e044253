"""The vocabulary of a training run, prepared once by its main process."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

import sentencepiece

from wikisum.models.pretrained.lengths import check_lengths
from wikisum.models.settings.run import RunSettings
from wikisum.models.table import spec_of
from wikisum.models.vocabulary.pretrained import FOLDER, PretrainedVocabulary, keep_pretrained
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
    """Return what the run reads: subwords, or what is prepared once and kept in its folder.

    That is the tokenizer of a pretrained model, or words, which are counted. A run that starts from
    the weights of another takes its words. Raises FileNotFoundError if that
    one has none, and for a missing file of word vectors; ValueError for one that cannot be used.
    """
    spec = spec_of(settings.model)
    if spec.pretrained is not None:
        return _prepare_pretrained(run, spec.pretrained(settings.model), settings, processes)
    size = spec.words(settings.model)
    if not size:
        return Subwords(processor)
    if processes.is_main and not (has_checkpoint(run) and (run / WORDS).is_file()):
        if init_from is not None:
            words = load_words(init_from)
        else:
            model: Any = settings.model
            word_settings = WordSettings(
                size, settings.source.source_tokens, model.word_vectors, model.embedding
            )
            words = count_words(train, word_settings, to)
        save_words(run, words)
    processes.barrier()
    return load_words(run)


def _prepare_pretrained(
    run: Path, folder: str, settings: RunSettings, processes: ProcessGroup
) -> PretrainedVocabulary:
    """Return the tokenizer of a pretrained model, kept in the run's folder.

    Raises ValueError or FileNotFoundError for a folder that cannot be used, and for sources or
    targets that are longer than the model's.
    """
    if not has_checkpoint(run):
        PretrainedVocabulary(folder)  # raises for a folder that cannot be used
        check_lengths(settings)
        if processes.is_main:
            keep_pretrained(folder, run)
    processes.barrier()
    return PretrainedVocabulary(str(run / FOLDER))
