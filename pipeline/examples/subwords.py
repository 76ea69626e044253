"""Train a SentencePiece vocabulary on the training examples, or take a given one."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
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
BYTES_PER_CHAR = 23  # of memory per sampled character, in training (benchmarks/vocab_memory.md)


def texts_of(row: dict) -> Iterator[str]:
    """Yield the title, lead and paragraphs of an example, which the vocabulary must cover."""
    yield row["title"]
    yield row["lead"]
    yield from (p["text"] for p in row["paragraphs"])


def text_hash(text: str) -> float:
    """Return a number from 0 to 1 that depends on the text only."""
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def sampled(texts: Iterable[str], share: float, max_chars: int) -> list[str]:
    """Return about `share` of the texts, of at most `max_chars` characters together, in order.

    Their hashes decide: those up to `share` are taken, and of these the ones with the largest are
    left out until the rest fits. So the sample does not depend on how texts are divided in shards.
    """
    kept: list[tuple[float, int, str]] = []  # a heap, the largest hash first
    chars = 0
    for number, text in enumerate(texts):
        if (rank := text_hash(text)) >= share:
            continue
        heapq.heappush(kept, (-rank, number, text))
        chars += len(text)
        while kept and (chars > max_chars or -kept[0][0] >= share):
            share = min(share, -kept[0][0])  # no text with this hash or a larger one fits
            chars -= len(heapq.heappop(kept)[2])
    return [text for _, _, text in sorted(kept, key=lambda item: item[1])]


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
                model = train_vocab(iter(self._sample(paths)), self.settings.vocab_size)
            except ValueError as error:
                raise JobFailed(str(error)) from error
        processor = load_model(model, MODEL)
        size = processor.get_piece_size()
        pieces = [(processor.id_to_piece(i), processor.get_score(i)) for i in range(size)]
        listing = "".join(f"{piece}\t{score:g}\n" for piece, score in pieces).encode()
        written = [_write(self.out, MODEL, model), _write(self.out, PIECES, listing)]
        return PartResult(written, {"pieces_out": size}, {"vocab_size": size})

    def _sample(self, paths: list[str]) -> list[str]:
        share = self.settings.sample / max(self.text_count, 1)
        return sampled(self._texts(paths), share, self.settings.characters)

    def _texts(self, paths: list[str]) -> Iterator[str]:
        for path in paths:
            for row in read_rows(files.join(self.out, path), ["title", "lead", "paragraphs"]):
                yield from texts_of(row)
                self.ticker.add(items=1, work=1)


def _write(out: str, path: str, data: bytes) -> ShardFile:
    with files.AtomicFile(files.join(out, path)) as file:
        file.write(data)
    return ShardFile(path, 0, file.size_bytes, file.sha256)


@lru_cache(maxsize=1)
def load_processor(path: str, _sha256: str) -> sentencepiece.SentencePieceProcessor:
    """Return the vocabulary in a file, kept for the next call; the hash tells versions apart."""
    return load_model(files.read_bytes(path), MODEL)
