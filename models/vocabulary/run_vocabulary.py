"""The vocabulary of a training run: the dataset's subwords, or what the run's folder keeps.

words.txt     a word per line, the most frequent first; its id is the number of the line, from 0
vectors.npy   the first values of their vectors, if there was a file of word vectors
pretrained/   the tokenizer and the configuration of a pretrained model
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import numpy as np
import sentencepiece

from wikisum.models.vocabulary.pretrained import FOLDER, PretrainedVocabulary
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.models.vocabulary.vectors import read_vectors
from wikisum.models.vocabulary.words import Words, first_words, most_frequent
from wikisum.ranker.data.shards import Shard, read_group, row_groups
from wikisum.ranker.runs.atomic import atomic_write, write_text
from wikisum.ranker.runs.progress import ProgressLine

WORDS, VECTORS = "words.txt", "vectors.npy"
TEXT_COLUMNS = ("title", "lead", "paragraphs.text")

Vocabulary = Subwords | Words | PretrainedVocabulary


class WordSettings(NamedTuple):
    """How a vocabulary of words is made: its size, the file of vectors and their width."""

    size: int
    max_tokens: int  # words of the paragraphs of an example that are counted
    vectors: str = ""
    width: int = 0


def load_words(run: Path) -> Words:
    """Return the words of a run. Raises FileNotFoundError if its folder has none."""
    path = run / WORDS
    if not path.is_file():
        raise FileNotFoundError(f"{run} has no vocabulary of words: no {WORDS}")
    vectors = np.load(run / VECTORS) if (run / VECTORS).is_file() else None
    return Words(path.read_text(encoding="utf-8").splitlines(), vectors)


def save_words(run: Path, words: Words) -> None:
    """Write the words of a run."""
    run.mkdir(parents=True, exist_ok=True)
    write_text(run / WORDS, "".join(f"{word}\n" for word in words.words))
    if (vectors := words.vectors) is not None:
        atomic_write(run / VECTORS, lambda file: np.save(file, vectors))


def count_words(shards: Sequence[Shard], settings: WordSettings, to: TextIO = sys.stderr) -> Words:
    """Return the most frequent words of a training split, with their vectors if there is a file.

    Of the paragraphs of an example the first `max_tokens` words are counted, as many as are read.
    Raises ValueError or FileNotFoundError for a file of vectors that cannot be used.
    """
    words = most_frequent(_texts(shards, settings.max_tokens, to), settings.size)
    if not settings.vectors:
        return Words(words)
    vectors, found = read_vectors(Path(settings.vectors), words, settings.width)
    to.write(f"{settings.vectors} has vectors of {found:,} of {len(words):,} words\n")
    return Words(words, vectors)


def _texts(shards: Sequence[Shard], max_tokens: int, to: TextIO) -> Iterator[str]:
    groups = row_groups(shards)
    line = ProgressLine("words", "row groups", len(groups), to)
    for done, group in enumerate(groups, 1):
        for row in read_group(group, TEXT_COLUMNS).to_pylist():
            yield from (row["title"], row["lead"])
            yield from first_words([p["text"] for p in row["paragraphs"]], max_tokens)
        line.draw(done)


def vocabulary_of(run: Path, reads_text: bool, processor: Any) -> Vocabulary:
    """Return what a run reads and writes; `processor` holds the subwords of its dataset."""
    if (run / FOLDER).is_dir():
        return PretrainedVocabulary(str(run / FOLDER))
    if reads_text:
        return load_words(run)
    assert isinstance(processor, sentencepiece.SentencePieceProcessor)
    return Subwords(processor)
