"""The subwords of a dataset, as models read and write them."""

import hashlib
from collections.abc import Sequence

import numpy as np
import sentencepiece

from wikisum.models.sources import Ids
from wikisum.ranker.data.vocab import END_OF_PARAGRAPH, END_OF_TITLE

SENTENCE_ENDS = frozenset(".!?")


class Subwords:
    """A SentencePiece vocabulary. `sentence_ends` are the ids of tokens that end a sentence."""

    vectors = None

    def __init__(self, processor: sentencepiece.SentencePieceProcessor) -> None:
        self.processor = processor
        self.size: int = processor.get_piece_size()
        marks = self.ids([*SENTENCE_ENDS])
        self.sentence_ends = frozenset({END_OF_TITLE, END_OF_PARAGRAPH, *marks})

    def fingerprint(self) -> str:
        """Return a hash of the vocabulary."""
        return hashlib.sha256(self.processor.serialized_model_proto()).hexdigest()

    def ids(self, tokens: Sequence[str]) -> frozenset[int]:
        """Return the ids of those tokens that the vocabulary has."""
        unknown = self.processor.unk_id()
        found = (self.processor.piece_to_id(t) for token in tokens for t in (token, f"▁{token}"))
        return frozenset(i for i in found if i != unknown)

    def encode(self, title: str, paragraphs: Sequence[str]) -> tuple[Ids, list[Ids]]:
        """Return the ids of a title and of paragraphs."""
        first, *others = self.encode_texts([title, *paragraphs])
        return np.array(first, np.uint16), [np.array(ids, np.uint16) for ids in others]

    def encode_texts(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text."""
        return self.processor.encode(texts, num_threads=1)

    def decode(self, tokens: Sequence[int], title: str, paragraphs: Sequence[str]) -> str:
        """Return the text of a summary; the source it is written from is of no use here."""
        return str(self.processor.decode(list(tokens)))
