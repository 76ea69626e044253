"""ROUGE of greedy summaries of the first validation examples, for early stopping."""

from typing import Any

import numpy as np
import torch

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.beam import beam_search
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings
from wikisum.models.targets import split_article
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.shards import read_group
from wikisum.ranker.rouge import rouge
from wikisum.ranker.training.plan import in_length_batches

METRICS = ("rouge1", "rouge2", "rougeL")


class RougeScorer:
    """Computes mean ROUGE F1 of greedy summaries, stemmed, over some validation examples.

    `reader` must have the run's vocabulary. Of models that write whole articles, the lead counts.
    """

    def __init__(self, reader: SplitReader, settings: RunSettings) -> None:
        if reader.vocabulary is None:
            raise ValueError("scoring summaries needs a reader with the run's vocabulary")
        self._reader, self._vocabulary = reader, reader.vocabulary
        self._batch_tokens = settings.train.batch_tokens
        decoding = settings.decoding
        self._greedy = DecodingSettings(
            beam=1, min_tokens=decoding.min_tokens, max_tokens=decoding.max_tokens
        )
        self._examples: list[dict[str, Any]] = []
        lengths: list[Ints] = []
        count = settings.train.validation_summaries
        for number, group in enumerate(reader.groups):
            if len(self._examples) >= count:
                break
            rows = read_group(group, ["title", "lead", "paragraphs.text"]).to_pylist()
            self._examples += rows[: count - len(self._examples)]
            lengths.append(reader.lengths_of(number).source)
        self._lengths = np.concatenate(lengths)[: len(self._examples)]

    def __call__(self, model: SummaryModel, device: torch.device) -> dict[str, float]:
        """Return `validation_rouge1`, `_rouge2` and `_rougeL`, in 0..1."""
        model.eval()

        def rouge_of(indexes: Ints) -> list[list[float]]:
            batch = self._reader.batch(indexes).to(device)
            found = beam_search(model, batch.source, self._greedy)
            return [
                self._rouge(self._examples[index], one.tokens)
                for index, one in zip(indexes, found, strict=True)
            ]

        scores = in_length_batches(self._lengths, self._batch_tokens, rouge_of)
        means = np.mean(scores, axis=0).tolist()
        return {f"validation_{name}": value for name, value in zip(METRICS, means, strict=True)}

    def _rouge(self, example: dict[str, Any], tokens: list[int]) -> list[float]:
        texts = [paragraph["text"] for paragraph in example["paragraphs"]]
        lead, _ = split_article(tokens)
        summary = self._vocabulary.decode(lead, example["title"], texts)
        found = rouge(summary, example["lead"], stem=True)
        return [found[name]["f1"] for name in METRICS]
