"""Train a SentencePiece vocabulary on the training examples, or take a given one."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import sentencepiece

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.progress import Ticker
from wikisum.pipeline.engine.shards import ShardFile, read_rows
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.settings import VocabSettings
from wikisum.ranker.data.vocab import load_model, train_vocab

MODEL = "vocab/wikisum.model"
PIECES = "vocab/wikisum.vocab"


def texts_of(row: dict) -> Iterator[str]:
    """Yield the title, lead and paragraphs of an example, which the vocabulary must cover."""
    yield row["title"]
    yield row["lead"]
    yield from (p["text"] for p in row["paragraphs"])


def is_sampled(text: str, share: float) -> bool:
    """Whether a text is in the sample. Its hash decides, so order and shards do not matter."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") < share * 2**64


@dataclass(frozen=True)
class TrainVocab:
    """Paths of training shards -> a vocabulary in `vocab/`, or the given one copied there."""

    out: str
    settings: VocabSettings
    text_count: int
    ticker: Ticker

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        if self.settings.vocab:
            model = files.read_bytes(self.settings.vocab)
        else:
            try:
                model = train_vocab(self._sample(paths), self.settings.vocab_size)
            except ValueError as error:
                raise JobFailed(str(error)) from error
        processor = load_model(model, MODEL)
        size = processor.get_piece_size()
        pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(size)]
        listing = "".join(f"{piece}\t{score:g}\n" for piece, score in pieces).encode()
        written = [_write(self.out, MODEL, model), _write(self.out, PIECES, listing)]
        return PartResult(written, {"pieces_out": size}, {"vocab_size": size})

    def _sample(self, paths: list[str]) -> Iterator[str]:
        share = self.settings.sample / max(self.text_count, 1)
        for path in paths:
            for row in read_rows(files.join(self.out, path), ["title", "lead", "paragraphs"]):
                yield from (t for t in texts_of(row) if share >= 1 or is_sampled(t, share))
                self.ticker.add(items=1, work=1)


def _write(out: str, path: str, data: bytes) -> ShardFile:
    with files.AtomicFile(files.join(out, path)) as file:
        file.write(data)
    return ShardFile(path, 0, file.size_bytes, file.sha256)


@lru_cache(maxsize=1)
def load_processor(path: str, _sha256: str) -> sentencepiece.SentencePieceProcessor:
    """Return the vocabulary in a file, kept for the next call; the hash tells versions apart."""
    return load_model(files.read_bytes(path), MODEL)
