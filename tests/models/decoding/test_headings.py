"""Rules for section headings, against plain state machines over single hypotheses."""

import math
import random

import pytest
import torch

from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.blocking import NEVER_WRITTEN, Blocker
from wikisum.models.decoding.headings import AnyHeadings, GivenHeadings, progress
from wikisum.models.decoding.sampling import sample
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.targets import heading_ids, split_article
from wikisum.ranker.data.vocab import BEGIN, END, PAD, UNKNOWN

T, P = 4, 5
VOCABULARY = 12
CPU = torch.device("cpu")
WORDS = set(range(6, VOCABULARY))
GIVEN = [
    [heading_ids([7], 2), heading_ids([8, UNKNOWN], 3)],
    [],
    [heading_ids([], 2), heading_ids([9], 2), heading_ids([6, 6, 6], 4)],
]


def allowed_after(rule, written, example=0, **choices):
    """The tokens that are not -inf after one hypothesis."""
    blocker = Blocker(DecodingSettings(**choices), set(), CPU, rule)
    log = torch.zeros(1, 1, VOCABULARY)
    token_EKS = torch.tensor([[[BEGIN, *written]]])
    blocker.blocked(log, token_EKS, torch.tensor([example]))
    return {t for t in range(VOCABULARY) if log[0, 0, t] > -math.inf}


def plain_any(written):
    state = "text"
    for token in written:
        state = "marks" if token == P else "text" if token == T else state
        state = "title" if state == "marks" and token != P else state
    marks = 0
    while marks < len(written) and written[-1 - marks] == P:
        marks += 1
    return {
        "text": WORDS | {P, END},
        "marks": WORDS | ({P} if marks < 5 else set()),
        "title": WORDS | {T},
    }[state]


def plain_given(written, headings, max_tokens):
    """Walk through the hypothesis text by text, heading by heading."""
    at = used = 0
    for number, heading in enumerate(headings):
        left = sum(map(len, headings[number:]))
        room, later = max_tokens - at - left, len(headings) - number
        most = room - later * (room // (4 * (later + 1)))
        used = 0
        while at < len(written) and written[at] not in (P, T):
            at, used = at + 1, used + 1
        if at == len(written):
            return {heading[0]} if used >= most else WORDS | {P}
        begun = written[at : at + len(heading)]
        if len(begun) < len(heading):
            return {heading[len(begun)]}
        at += len(heading)
    return WORDS | {END}


def walk(seed, allowed, steps):
    """Hypotheses that obey a plain rule, each one token longer than the one before."""
    draw, written = random.Random(seed), []
    for _ in range(steps):
        yield list(written)
        # marks are frequent, so that short walks reach every state
        choice = sorted(allowed(written) - {END})
        marks = [t for t in choice if t in (P, T)]
        written.append(draw.choice(marks if marks and draw.random() < 0.4 else choice))


@pytest.mark.parametrize("seed", range(8))
def test_any_headings_agree_with_the_plain_rule(seed):
    for written in walk(seed, plain_any, 25):
        assert allowed_after(AnyHeadings(), written, max_tokens=100) == plain_any(written), written


@pytest.mark.slow
@pytest.mark.parametrize("example", range(3))
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("most", [12, 17, 40])
def test_given_headings_agree_with_the_plain_rule(seed, example, most):
    rule = GivenHeadings(GIVEN, most, CPU)

    def plain(written):
        return plain_given(written, GIVEN[example], most)

    for written in walk(seed, plain, most):
        assert allowed_after(rule, written, example, max_tokens=most) == plain(written), written


def test_the_last_token_is_the_end_even_inside_a_heading():
    assert allowed_after(AnyHeadings(), [7, P, 8], max_tokens=3) == {END}


def test_a_given_heading_passes_every_other_rule():
    """Blocked n-grams and subwords that are never written are allowed where they are given."""
    rule = GivenHeadings([[heading_ids([UNKNOWN, 7], 2)]], 30, CPU)
    choices = {"max_tokens": 30, "block_ngram": 1, "min_tokens": 20}
    assert allowed_after(rule, [7, P], 0, **choices) == {UNKNOWN}
    assert allowed_after(rule, [7, P, UNKNOWN], 0, **choices) == {7}
    assert allowed_after(rule, [7, P, UNKNOWN, 7, T], 0, **choices) == WORDS - {7}


def test_a_forced_token_keeps_its_probability():
    blocker = Blocker(DecodingSettings(), set(), CPU, GivenHeadings([[[P, 7, T]]], 30, CPU))
    log = torch.arange(-VOCABULARY, 0.0)[None, None]
    blocker.blocked(log, torch.tensor([[[BEGIN, 8, P]]]))
    assert log[0, 0, 7] == 7 - VOCABULARY


def test_headings_that_do_not_fit_are_an_error():
    with pytest.raises(ValueError, match="12 subwords, more than --max-tokens 11"):
        GivenHeadings(GIVEN, 11, CPU)


def test_no_rule_writes_no_heading():
    assert set(NEVER_WRITTEN) >= {T, P}
    assert allowed_after(None, [7], max_tokens=9) == WORDS | {END}


def test_progress_by_hand():
    rows = [[BEGIN, 7, 8, 9, 9, 9, 9], [BEGIN, 7, P, P, 8, 8, 8], [BEGIN, 7, P, 8, T, 9, 9],
            [BEGIN, P, 8, T, 7, P, PAD]]  # fmt: skip
    found = progress(torch.tensor([rows]))
    assert [tuple(row) for row in torch.stack(found, -1)[0].tolist()] == [
        (0, 0, 6, 0), (0, 0, 1, 5), (1, 4, 2, 0), (1, 3, 1, 2),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
@torch.no_grad()
def test_searches_write_the_given_headings(beam, make_peaked, make_source):
    model, source = make_peaked(6.0), make_source([5, 3], [4], [7, 7])
    settings = DecodingSettings(beam=beam, max_tokens=40)
    found = beam_search(model, source, settings, headings=GivenHeadings(GIVEN, 40, CPU))
    drawn = sample(model, source, settings, headings=GivenHeadings(GIVEN, 40, CPU))
    for hypotheses in (found, drawn):
        for hypothesis, given in zip(hypotheses, GIVEN, strict=True):
            _, sections = split_article(hypothesis.tokens)
            assert [heading_ids(s.title, s.level) for s in sections] == given
            assert len(hypothesis.tokens) <= 40
            assert math.isfinite(hypothesis.log_probability)


@torch.no_grad()
def test_searches_write_headings_of_their_own(make_peaked, make_source):
    model = make_peaked(0.0)
    model.output_bias[[T, P]] += 8
    settings = DecodingSettings(beam=2, min_tokens=20, max_tokens=30)
    found = beam_search(model, make_source([5, 3], [4]), settings, headings=AnyHeadings())
    assert any(split_article(hypothesis.tokens)[1] for hypothesis in found)
    for hypothesis in found:
        for length in range(len(hypothesis.tokens)):
            assert min(hypothesis.tokens[length], 6) in plain_any(hypothesis.tokens[:length])
