"""Where targets move to the next window: by the similarity of their sentences to the source's.

Schueller et al. 2020, section 2.2. A shift is the token BEGIN: it begins what is written from the
next window, as the first one begins what is written from the first. Letters: T sentences of the
target, U sentences of the source, D distinct tokens or the width of word vectors.
"""

from collections.abc import Collection, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from wikisum.models.pointer.windows import window_count
from wikisum.models.sources import Ids
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.vocab import BEGIN

SHIFT = BEGIN
Span = tuple[int, int]
Vectors = npt.NDArray[np.float32]


def sentence_spans(ids: Ids, ends: Collection[int]) -> list[Span]:
    """Return start and end of each sentence; `ends` are the tokens that end one."""
    stops = (np.flatnonzero(np.isin(ids, list(ends))) + 1).tolist()
    if len(ids) and stops[-1:] != [len(ids)]:
        stops.append(len(ids))
    return list(pairwise([0, *stops]))


def sentence_similarities(
    source: Ids, source_spans: Sequence[Span], lead: Ids, lead_spans: Sequence[Span],
    vectors: Vectors | None,
) -> npt.NDArray[np.float64]:  # fmt: skip
    """Return the cosine of each sentence of the lead and each of the source, [T, U].

    A sentence is the sum of the vectors of its tokens. `vectors` is [vocabulary, D]; tokens beyond
    it count nothing. Without vectors each token is a dimension of its own.
    """
    sums = [
        _sums(ids, spans, vectors, np.union1d(source, lead))
        for ids, spans in ((lead, lead_spans), (source, source_spans))
    ]
    lead_TD, source_UD = (x / np.maximum(np.linalg.norm(x, axis=1), 1e-12)[:, None] for x in sums)
    return np.asarray(lead_TD @ source_UD.T)


def _sums(
    ids: Ids, spans: Sequence[Span], vectors: Vectors | None, known: Ids
) -> npt.NDArray[np.float64]:
    """Return the sum of the vectors of each sentence, [sentences, D]."""
    sentence = np.repeat(np.arange(len(spans)), [end - start for start, end in spans])
    if vectors is None:
        sums = np.zeros((len(spans), len(known)))
        np.add.at(sums, (sentence, np.searchsorted(known, ids)), 1.0)
        return sums
    sums = np.zeros((len(spans), vectors.shape[1]))
    has_vector = ids < len(vectors)
    np.add.at(sums, sentence[has_vector], vectors[ids[has_vector]])
    return sums


def window_of_span(span: Span, length: int, size: int, stride: int) -> int:
    """Return the window of a sentence: of those that hold most of its tokens, the last.

    Windows overlap; where several hold the whole sentence, it belongs to the last (footnote 5).
    """
    starts = stride * np.arange(window_count(length, size, stride))
    held = np.minimum(span[1], starts + size) - np.maximum(span[0], starts)
    return int(np.flatnonzero(held == held.max())[-1])


def sentence_windows(
    source: Ids, lead: Ids, spans: Sequence[Span], size: int, stride: int,
    ends: Collection[int], vectors: Vectors | None,
) -> Ints:  # fmt: skip
    """Return the window of each sentence of the lead, never falling, [T]."""
    source_spans = sentence_spans(source, ends)
    best_T = sentence_similarities(source, source_spans, lead, spans, vectors).argmax(1)
    windows = [window_of_span(source_spans[u], len(source), size, stride) for u in best_T]
    return np.maximum.accumulate(np.array(windows, dtype=np.int64))


def insert_shifts(lead: Ids, spans: Sequence[Span], window_T: Ints, repeat: bool) -> Ids:
    """Return the lead with shifts between sentences of different windows.

    The paper puts one shift wherever the window changes. With `repeat` there is one for each
    window that is moved on, also before the first sentence, so that the decoder is in the window
    of every sentence.
    """
    parts: list[Ids] = []
    before = 0 if repeat or not len(window_T) else int(window_T[0])
    for (start, end), window in zip(spans, window_T.tolist(), strict=True):
        moves = window - before
        parts += [
            np.full(moves if repeat else min(moves, 1), SHIFT, lead.dtype), lead[start:end]
        ]  # fmt: skip
        before = window
    return np.concatenate(parts) if parts else lead
