"""A vocabulary of words, and ids for the words of an example that it lacks. Knows no torch.

Words are lower case, marks of punctuation are words. A word that the vocabulary lacks has an id of
its own in each example: the size of the vocabulary plus the number of such words that came before
it in the title and the paragraphs (See et al. 2017, section 2.2). Only words of the source have
one; other unknown words of a lead are UNKNOWN.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import numpy.typing as npt

from wikisum.models.sources import Ids
from wikisum.models.vocabulary.subwords import SENTENCE_ENDS
from wikisum.ranker.data.vocab import END_OF_PARAGRAPH, END_OF_TITLE, PIECES, UNKNOWN

Vectors = npt.NDArray[np.float32]

_WORD = re.compile(r"\w+(?:[-.,'’]\w+)*|[^\w\s]")
_BEFORE_MARK = re.compile(r" ([.,;:!?)\]}%’”])")
_AFTER_MARK = re.compile(r"([(\[{“]) ")


def split_words(text: str) -> list[str]:
    """Return the words and marks of a text in lower case.

    >>> split_words("It cost 1,500 pounds (in 1831).")
    ['it', 'cost', '1,500', 'pounds', '(', 'in', '1831', ')', '.']
    """
    return _WORD.findall(text.lower())


def join_words(words: Sequence[str]) -> str:
    """Return the text of words, without spaces before closing marks.

    >>> join_words(["it", "cost", "1,500", "pounds", "."])
    'it cost 1,500 pounds.'
    """
    return _AFTER_MARK.sub(r"\1", _BEFORE_MARK.sub(r"\1", " ".join(words)))


class Extension:
    """The ids of the words of one example that a vocabulary lacks, by first occurrence."""

    def __init__(self, first: int) -> None:
        self.first = first
        self._ids: dict[str, int] = {}

    def add(self, word: str) -> int:
        """Return the id of a word of the source, a new one for a new word."""
        return self._ids.setdefault(word, self.first + len(self._ids))

    def find(self, word: str) -> int:
        """Return the id of a word, UNKNOWN if the source does not have it."""
        return self._ids.get(word, UNKNOWN)

    def word(self, id_: int) -> str:
        """Return the word that has an id. Raises KeyError if none has."""
        index = id_ - self.first
        if not 0 <= index < len(self._ids):
            raise KeyError(id_)
        return next(islice(self._ids, index, None))


class Words:
    """A vocabulary of words; the first ids are those of the subword vocabulary's special tokens.

    `vectors` [size, D] are the first values of word vectors, or None.

    >>> words = Words([*PIECES, "the", "mill", "."])
    >>> title, paragraphs = words.encode("Tavin", ["The mill Tavin ."])
    >>> title.tolist(), paragraphs[0].tolist()
    ([9], [6, 7, 9, 8])
    >>> words.decode([6, 9, 8], "Tavin", ["The mill Tavin ."])
    'the tavin.'
    """

    def __init__(self, words: Sequence[str], vectors: Vectors | None = None) -> None:
        self.words, self.vectors = list(words), vectors
        self.size = len(self.words)
        self._ids = {word: i for i, word in enumerate(self.words)}
        marks = self.ids([*SENTENCE_ENDS])
        self.sentence_ends = frozenset({END_OF_TITLE, END_OF_PARAGRAPH, *marks})

    def fingerprint(self) -> str:
        """Return a hash of the words."""
        return hashlib.sha256("\n".join(self.words).encode()).hexdigest()

    def ids(self, tokens: Sequence[str]) -> frozenset[int]:
        """Return the ids of those tokens that the vocabulary has."""
        return frozenset(self._ids[token] for token in tokens if token in self._ids)

    def encode(self, title: str, paragraphs: Sequence[str]) -> tuple[Ids, list[Ids]]:
        """Return the ids of a title and of paragraphs."""
        title_ids, found, _ = self.encode_example(title, paragraphs, "")
        return title_ids, found

    def encode_example(
        self, title: str, paragraphs: Sequence[str], lead: str, max_tokens: int | None = None
    ) -> tuple[Ids, list[Ids], Ids]:
        """Return the ids of title, paragraphs and lead.

        Paragraphs after the first `max_tokens` words are left out.
        """
        extension = Extension(self.size)
        title_ids = self._source_ids(title, extension)
        found: list[Ids] = []
        left = float("inf") if max_tokens is None else max_tokens
        for text in paragraphs:
            if left <= 0:
                break
            found.append(self._source_ids(text, extension))
            left -= len(found[-1])
        ids = [self._ids.get(word) or extension.find(word) for word in split_words(lead)]
        return title_ids, found, np.array(ids, np.int32)

    def encode_texts(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text; words that the vocabulary lacks are UNKNOWN."""
        return [[self._ids.get(word, UNKNOWN) for word in split_words(text)] for text in texts]

    def decode(self, tokens: Sequence[int], title: str, paragraphs: Sequence[str]) -> str:
        """Return the text of a summary that was written from this title and these paragraphs.

        Special tokens are left out. Raises KeyError for an id that no word of the source has.
        """
        extension = Extension(self.size)
        if any(token >= self.size for token in tokens):
            for text in (title, *paragraphs):
                self._source_ids(text, extension)
        return join_words(
            [
                self.words[token] if token < self.size else extension.word(token)
                for token in tokens
                if token >= len(PIECES)
            ]
        )

    def _source_ids(self, text: str, extension: Extension) -> Ids:
        ids = (self._ids.get(word) or extension.add(word) for word in split_words(text))
        return np.fromiter(ids, np.int32)


def most_frequent(texts: Iterator[str], size: int) -> list[str]:
    """Return a vocabulary of at most `size` words, special tokens included, most frequent first.

    Words of the same frequency are in alphabetic order.
    """
    counts = Counter(word for text in texts for word in split_words(text))
    order = sorted(counts, key=lambda word: (-counts[word], word))
    return [*PIECES, *order[: max(0, size - len(PIECES))]]


def first_words(paragraphs: Sequence[str], max_tokens: int) -> Iterator[str]:
    """Yield the first paragraphs, up to the one in which the count of words reaches the limit."""
    left = max_tokens
    for text in paragraphs:
        if left <= 0:
            return
        yield text
        left -= len(text.split())
