"""Greedy summaries of the first validation examples, which show in TensorBoard what is learned."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.beam import beam_search
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings
from wikisum.models.targets import split_article
from wikisum.ranker.data.shards import read_group

MAX_SAMPLES = 4


class SampleSummary(NamedTuple):
    """A summary beside the gold lead."""

    title: str
    lead: str
    summary: str


class SummarySampler:
    """Writes summaries of the first validation examples; `reader` must have a vocabulary."""

    def __init__(self, reader: SplitReader, settings: RunSettings) -> None:
        if reader.vocabulary is None:
            raise ValueError("sample summaries need a reader with the run's vocabulary")
        self._reader, self._vocabulary = reader, reader.vocabulary
        # no longer than what is learned, which fits every model
        longest = min(settings.decoding.max_tokens, settings.source.target_tokens)
        self._greedy = DecodingSettings(beam=1, max_tokens=longest)
        columns = ["title", "lead", "paragraphs.text"]
        rows = read_group(reader.groups[0], columns).slice(0, MAX_SAMPLES)
        self._examples: list[dict[str, Any]] = rows.to_pylist()

    def __call__(self, model: SummaryModel, device: torch.device) -> list[SampleSummary]:
        """Return a summary of each example."""
        model.eval()
        batch = self._reader.batch(np.arange(len(self._examples))).to(device)
        found = beam_search(model, batch.source, self._greedy)
        return [
            SampleSummary(row["title"], row["lead"], self._text(row, one.tokens))
            for row, one in zip(self._examples, found, strict=True)
        ]

    def _text(self, row: dict[str, Any], tokens: list[int]) -> str:
        texts = [paragraph["text"] for paragraph in row["paragraphs"]]
        return self._vocabulary.decode(split_article(tokens)[0], row["title"], texts)


def markdown(samples: list[SampleSummary]) -> str:
    """Return the samples as Markdown: title, gold lead and summary of each."""
    return "\n\n".join(
        f"**{s.title}**\n\n- gold lead: {s.lead}\n- summary: {s.summary}" for s in samples
    )


def repetition_warning(texts: Sequence[str], what: str = "summaries") -> str:
    """Return a warning if there are several summaries and all have the same text."""
    if len(texts) < 2 or len(set(texts)) > 1:
        return ""
    return (
        f"warning: all {len(texts):,} {what} are the same text: the model does not use its "
        "source. Train it for more --steps, or on more examples\n"
    )
