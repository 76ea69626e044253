"""Summaries of all examples of a split, and the hash of everything that decides them."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.summarize import (
    Summarizer,
    SummaryResult,
    encode_headings,
    heading_rule,
    row_settings,
    summaries,
    summary_row,
    with_headings,
)
from wikisum.models.decoding.summary_files import Summary
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import ARTICLE
from wikisum.models.targets import Heading
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.shards import read_group
from wikisum.ranker.training.lengths import reader_key
from wikisum.ranker.training.plan import in_length_batches

OWN_HEADINGS = "own"
CHUNK_ROWS = 64  # examples that are sorted by length together, and written together
_COLUMNS = ("id", "title", "lead", "paragraphs.text", "paragraphs.document", "documents.url")


class SummaryJob(NamedTuple):
    """A split to summarize, and how.

    Models that write whole articles choose their `headings`, or get them: the same for every
    example, or with OWN_HEADINGS those of its article.
    """

    reader: SplitReader
    decoding: DecodingSettings
    batch_tokens: int
    headings: Sequence[Heading] | str | None = None


def split_rows(summarizer: Summarizer, job: SummaryJob, first_group: int = 0) -> Iterator[Summary]:
    """Yield the rows of a split in its order, from a row group on."""
    first = sum(group.rows for group in job.reader.groups[:first_group])
    settings = row_settings(summarizer, job.reader.source, job.decoding, job.headings)
    is_article = job.reader.source.target == ARTICLE
    columns = [*_COLUMNS, "sections"] if is_article else _COLUMNS
    for index, group in enumerate(job.reader.groups[first_group:], first_group):
        texts = read_group(group, columns).to_pylist()
        lengths = job.reader.lengths_of(index).source
        for start in range(0, group.rows, CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            numbers = first + np.arange(group.rows)[chunk]
            results = _chunk_results(summarizer, job, numbers, lengths[chunk], texts[chunk])
            for example, result in zip(texts[chunk], results, strict=True):
                yield summary_row(summarizer, settings, example, result)
        first += group.rows


def _chunk_results(
    summarizer: Summarizer,
    job: SummaryJob,
    numbers: Ints,
    lengths: Ints,
    examples: Sequence[dict[str, Any]],
) -> list[SummaryResult]:
    """Return the results of examples of these lengths, made in batches of similar length."""

    def results(indexes: Ints) -> list[SummaryResult]:
        batch = job.reader.batch(numbers[indexes])
        given = _headings_of(summarizer, job, [examples[i] for i in indexes])
        rule = heading_rule(summarizer, job.reader.source.target, job.decoding, given)
        found = summaries(summarizer, batch, job.decoding, rule)
        return found if given is None else list(map(with_headings, found, given))

    return in_length_batches(lengths, job.batch_tokens, results)


def _headings_of(
    summarizer: Summarizer, job: SummaryJob, examples: Sequence[dict[str, Any]]
) -> list[list[Heading]] | None:
    """Return the headings that each example gets; of an article's own, as many as there is room."""
    if job.headings is None:
        return None
    if not isinstance(job.headings, str):
        return [list(job.headings)] * len(examples)
    return [
        _fitting(summarizer, example["sections"], job.decoding.max_tokens) for example in examples
    ]


def _fitting(
    summarizer: Summarizer, sections: Sequence[dict[str, Any]], max_tokens: int
) -> list[Heading]:
    headings = [Heading(s["title"], s["level"]) for s in sections]
    ends = accumulate(map(len, encode_headings(summarizer, headings)))
    return [h for h, end in zip(headings, ends, strict=True) if end <= max_tokens]


def job_key(summarizer: Summarizer, job: SummaryJob) -> str:
    """Return a hash of everything that decides the rows; 8 hex digits."""
    settings = row_settings(summarizer, job.reader.source, job.decoding, job.headings)
    precision = str(next(summarizer.model.parameters()).dtype)
    decisive = [summarizer.chosen.fingerprint, settings, precision, job.batch_tokens]
    decisive.append(reader_key(job.reader))
    return hashlib.sha256(json.dumps(decisive).encode()).hexdigest()[:8]
