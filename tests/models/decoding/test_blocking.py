import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.models.decoding.blocking import NEVER_WRITTEN, Blocker
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END

COMMA = 11
VOCABULARY = 20


def forbidden_after(written, **choices):
    """The tokens that are -inf after one hypothesis."""
    log = torch.zeros(1, 1, VOCABULARY)
    blocker = Blocker(DecodingSettings(**choices), {COMMA}, torch.device("cpu"))
    assert blocker.blocked(log, torch.tensor([[[BEGIN, *written]]])) is log
    return {t for t in range(VOCABULARY) if log[0, 0, t] == -math.inf}


@pytest.mark.parametrize(
    ("written", "choices", "forbidden"),
    [
        ([10, 11, 12, 10, 11], {"block_ngram": 3}, {12}),
        ([10, 11, 12, 10, 11], {"block_ngram": 2}, {12}),
        ([10, 10], {"block_ngram": 2}, {10}),
        ([10], {"block_ngram": 3}, set()),
        ([10, 12], {"block_ngram": 1}, {10, 12}),
        ([10, 12, 11, 13], {"block_recent": True}, {12, 13}),
        ([10, 11, 11, 13], {"block_recent": True}, {10, 13}),
        ([12, 11, 11, 11, 11], {"block_recent": True}, set()),
        ([], {"min_tokens": 1}, {END}),
        ([10], {"min_tokens": 1}, set()),
        ([10], {"max_tokens": 1}, set(range(20)) - {END}),
        ([10, 12], {"max_tokens": 1}, set(range(20)) - {END}),
        ([10], {"max_tokens": 2}, set()),
        ([10, 11, 12], {"block_ngram": 3}, set()),
        ([10, 10, 10], {"block_ngram": 3}, {10}),
        ([10, 12], {"block_ngram": 0}, set()),
        ([10, 12, 10], {}, set()),
        ([10, 12, 13, 14, 15], {"block_recent": True}, {14, 15}),
        ([10], {"block_recent": True}, {10}),
        ([], {"block_recent": True}, set()),
    ],
)
def test_what_may_not_come(written, choices, forbidden):
    assert forbidden_after(written, **choices) == forbidden | set(NEVER_WRITTEN)


def test_the_padding_and_the_marks_of_the_source_are_never_written():
    pieces = {"pad": 0, "unknown": 1, "begin": 2, "end of title": 4, "end of paragraph": 5}
    assert set(NEVER_WRITTEN) == set(pieces.values())


def test_hypotheses_do_not_affect_each_other():
    log = torch.zeros(2, 2, VOCABULARY)
    blocker = Blocker(DecodingSettings(block_ngram=1), set(), torch.device("cpu"))
    tokens = torch.tensor([[[BEGIN, 8, 9], [BEGIN, 9, 10]], [[BEGIN, 11, 12], [BEGIN, 13, 13]]])
    blocker.blocked(log, tokens)
    blocked = [[(row == -math.inf).nonzero().flatten().tolist() for row in rows] for rows in log]
    never = sorted(NEVER_WRITTEN)
    assert blocked == [[[*never, 8, 9], [*never, 9, 10]], [[*never, 11, 12], [*never, 13]]]


def test_other_tokens_keep_their_values():
    log = torch.arange(float(VOCABULARY)).view(1, 1, -1)
    blocker = Blocker(DecodingSettings(block_recent=True), set(), torch.device("cpu"))
    blocker.blocked(log, torch.tensor([[[BEGIN, 10]]]))
    kept = [t for t in range(VOCABULARY) if t not in (*NEVER_WRITTEN, 10)]
    assert log[0, 0, kept].tolist() == kept


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(6, 9), max_size=12), st.integers(1, 4))
def test_exactly_the_repeated_ngrams_are_forbidden(written, size):
    there = {tuple(written[i : i + size]) for i in range(len(written) - size + 1)}
    start = tuple(written[len(written) - size + 1 :])
    expected = {t for t in range(6, VOCABULARY) if len(written) >= size and (*start, t) in there}
    assert forbidden_after(written, block_ngram=size) == expected | set(NEVER_WRITTEN)
