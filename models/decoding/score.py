"""The log-probability of given texts under a model, token by token."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.summarize import Summarizer
from wikisum.models.decoding.summary_files import BadSummaries, read_rows
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.shards import read_group
from wikisum.ranker.data.vocab import PAD
from wikisum.ranker.training.plan import in_length_batches

CHUNK_TEXTS = 256  # texts that are sorted by length together, and written together


class TextScore(NamedTuple):
    """The log-probability of a text as the target of an example, in nats.

    `tokens` counts subwords and the end; `token_log_probs` has one value for each. A text is cut
    at the number of subwords that targets have in the run's settings (`is_cut`).
    """

    id: str
    title: str
    text: str
    is_cut: bool
    tokens: int
    log_prob: float
    log_prob_per_token: float
    perplexity: float
    token_log_probs: list[float]


class _Target(NamedTuple):
    number: int  # of the example in the split
    id: str
    title: str
    text: str
    ids: Ints | None  # None for the example's own target


def read_texts(path: Path) -> dict[str, list[str]]:
    """Return the texts in a file by the ids of their examples.

    The file is JSON Lines or Parquet with `id`, and `text` or `summary`. Raises BadSummaries naming
    the file and the row.
    """
    found: dict[str, list[str]] = {}
    for where, row in read_rows(path):
        plain = row if isinstance(row, dict) else {}
        text = plain.get("text", plain.get("summary"))
        if not isinstance(plain.get("id"), str) or not isinstance(text, str):
            raise BadSummaries(f"{path}: {where}: has no id, or no text")
        found.setdefault(plain["id"], []).append(text)
    return found


def score_texts(
    summarizer: Summarizer,
    reader: SplitReader,
    batch_tokens: int,
    texts: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[TextScore]:
    """Yield the scores of texts by the id of their example, or of the examples' own leads.

    They come in the order of the split. Raises BadSummaries if an id is not in the split.
    """
    left = set(texts or ())
    first = 0
    for number, group in enumerate(reader.groups):
        rows = read_group(group, ["id", "title", "lead"]).to_pylist()
        sources = reader.lengths_of(number).source
        targets = [
            _Target(first + index, row["id"], row["title"], text, ids)
            for index, row in enumerate(rows)
            for text, ids in _targets_of(summarizer, row, texts)
        ]
        left.difference_update(row["id"] for row in rows)
        for start in range(0, len(targets), CHUNK_TEXTS):
            yield from _chunk(
                summarizer, reader, batch_tokens, targets[start : start + CHUNK_TEXTS],
                sources, first,
            )  # fmt: skip
        first += group.rows
    if left:
        raise BadSummaries(f"{len(left)} ids are not in the split, for example {min(left)}")


def _targets_of(
    summarizer: Summarizer, row: Mapping[str, Any], texts: Mapping[str, Sequence[str]] | None
) -> list[tuple[str, Ints | None]]:
    """Return the texts to score for an example, with their subwords."""
    if texts is None:
        return [(row["lead"], None)]
    given = list(texts.get(row["id"], ()))
    ids = summarizer.vocabulary.encode_texts(given) if given else []
    return [(text, np.array(one, np.int64)) for text, one in zip(given, ids, strict=True)]


def _chunk(
    summarizer: Summarizer,
    reader: SplitReader,
    batch_tokens: int,
    targets: Sequence[_Target],
    sources: Ints,
    first: int,
) -> list[TextScore]:
    """Return the scores of some texts, computed in batches of similar length."""
    lengths = np.array([sources[target.number - first] for target in targets])

    def scores(indexes: Ints) -> list[TextScore]:
        return _scores(summarizer, reader, [targets[index] for index in indexes])

    return in_length_batches(lengths, batch_tokens, scores)


@torch.inference_mode()
def _scores(
    summarizer: Summarizer, reader: SplitReader, targets: Sequence[_Target]
) -> list[TextScore]:
    """Return the scores of the texts of one batch."""
    ids = [target.ids for target in targets]
    numbers = np.array([target.number for target in targets])
    batch = reader.batch(numbers, None if ids[0] is None else ids).to(summarizer.device)
    log_Y = summarizer.model.log_probabilities(batch, summarizer.model.encode(batch.source))
    counts = (batch.label_BS != PAD).sum(1).tolist()
    limit = reader.source.target_tokens
    return [
        _score(target, log_T.tolist(), target.ids is not None and len(target.ids) > limit)
        for target, log_T in zip(targets, torch.split(log_Y.double().cpu(), counts), strict=True)
    ]


def _score(target: _Target, logs: list[float], is_cut: bool) -> TextScore:
    total = math.fsum(logs)
    mean = total / len(logs)
    perplexity = math.exp(min(-mean, 700.0))  # finite, for JSON
    return TextScore(
        target.id, target.title, target.text, is_cut, len(logs), total, mean, perplexity, logs
    )
