import pytest
import torch

from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.blocking import NEVER_WRITTEN
from wikisum.models.decoding.sampling import likely, sample
from wikisum.models.network.spec import SummaryModel, TensorState
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END

VOCABULARY = 10
WORDS = [END, 6, 7, 8, 9]  # what may be written


class Table(SummaryModel):
    """Draws the next token from a fixed row of probabilities per last token."""

    def __init__(self, rows):
        super().__init__()
        self.log_VV = torch.full((VOCABULARY, VOCABULARY), 1e-9)
        for token, following in rows.items():
            for other, probability in following.items():
                self.log_VV[token, other] = probability
        self.log_VV = self.log_VV.log()
        self.seen, self.started = [], None

    def encode(self, source):
        return source

    def start(self, memory, beam, max_steps):
        self.started = beam, max_steps
        return TensorState({}, {})

    def step(self, token_BK, state):
        self.seen.append(token_BK[:, 0].tolist())
        return self.log_VV[token_BK]


CHAIN = {BEGIN: {6: 1.0}, 6: {7: 1.0}, 7: {8: 1.0}, 8: {END: 1.0}}
COIN = {token: {6: 0.5, 7: 0.25, END: 0.25} for token in (BEGIN, 6, 7)}


def drawn(rows, source, first_draw=0, **choices):
    settings = DecodingSettings(sample=True, **choices)
    return sample(Table(rows), source, settings, first_draw=first_draw)


def test_drawing_from_the_most_likely_token_alone_is_greedy_search(make_peaked, make_source):
    peaked = make_peaked(8.5)
    source = make_source([5, 3, 1], [4], [7, 7])
    drawn = sample(peaked, source, DecodingSettings(sample=True, top_k=1, max_tokens=9))
    greedy = beam_search(peaked, source, DecodingSettings(beam=1, penalty="average", max_tokens=9))
    assert [f.tokens for f in drawn] == [f.tokens for f in greedy]
    assert len({len(f.tokens) for f in drawn}) > 1
    for a, b in zip(drawn, greedy, strict=True):
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)
        assert a.score == pytest.approx(b.score, abs=1e-4)


@pytest.mark.slow
def test_draws_depend_on_the_seed_and_the_number_of_the_example(peaked, make_source):
    source = make_source([5, 3, 1], [4], [7, 7])

    def drawn(seed, first=0):
        settings = DecodingSettings(sample=True, seed=seed, max_tokens=20, temperature=3.0)
        return [f.tokens for f in sample(peaked, source, settings, first_draw=first)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1) != drawn(1, first=3)


def test_the_tokens_to_draw_from_by_hand():
    log = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
    assert (likely(log, DecodingSettings(top_k=2)) > 0).tolist() == [[False, True, False, True]]
    assert (likely(log, DecodingSettings(top_p=0.7)) > 0).tolist() == [[False, True, False, True]]
    assert (likely(log, DecodingSettings(top_p=0.4)) > 0).tolist() == [[False, True, False, False]]
    warm = likely(log, DecodingSettings(temperature=100.0))
    torch.testing.assert_close(warm, torch.full((1, 4), 0.25), atol=0.01, rtol=0)


def test_probabilities_to_draw_from_are_tempered():
    log = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
    whole = likely(log, DecodingSettings())
    torch.testing.assert_close(whole, log.exp())
    squared = torch.tensor([[0.01, 0.25, 0.0225, 0.0625]])
    cold = likely(log, DecodingSettings(temperature=0.5))
    torch.testing.assert_close(cold, squared / squared.sum())


def test_both_cuts_count_and_rows_are_cut_apart():
    log = torch.tensor([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]]).log()
    found = likely(log, DecodingSettings(top_k=2, top_p=0.95))
    torch.testing.assert_close(found, torch.tensor([[0.4, 0.3, 0, 0], [0, 0, 0.3, 0.4]]))
    found = likely(log, DecodingSettings(top_k=3, top_p=0.65))
    assert (found > 0).sum(1).tolist() == [2, 2]
    assert (likely(log, DecodingSettings(top_k=9)) > 0).all()


def test_a_token_at_the_exact_total_is_out():
    log = torch.tensor([[0.5, 0.25, 0.25]]).log()
    assert (likely(log, DecodingSettings(top_p=0.5)) > 0).tolist() == [[True, False, False]]
    assert (likely(log, DecodingSettings(top_p=0.75)) > 0).tolist() == [[True, True, False]]


def test_ties_are_cut_by_number():
    log = torch.zeros(1, 4).log_softmax(-1)
    assert (likely(log, DecodingSettings(top_k=2)) > 0).tolist() == [[True, True, False, False]]


def test_tokens_that_may_not_come_are_not_drawn_from():
    log = torch.tensor([[0.5, 0.5, 0.5]]).log()
    log[0, 1] = -torch.inf
    assert likely(log, DecodingSettings(temperature=50.0))[0, 1] == 0


def test_a_certain_chain_is_followed_to_its_end(make_source):
    (found,) = drawn(CHAIN, make_source([3]))
    assert found.tokens == [6, 7, 8]
    assert found.log_probability == pytest.approx(0, abs=1e-5)


def test_the_score_is_the_mean_over_tokens_and_the_end(make_source):
    """The coin has three sides; its log-probabilities can be added up by hand."""
    logs = torch.tensor(COIN[6][6]).log().item(), torch.tensor(COIN[6][7]).log().item()
    for found in drawn(COIN, make_source([3], [2], [4], [1]), seed=3):
        log = sum(logs[token == 7] for token in found.tokens) + logs[1]
        assert found.log_probability == pytest.approx(log, rel=1e-4)
        assert found.score == pytest.approx(log / (len(found.tokens) + 1), rel=1e-4)


def test_draws_come_as_often_as_they_are_likely(make_source):
    source = make_source(*[[1]] * 400)
    tokens = [token for found in drawn(COIN, source) for token in [*found.tokens, END]]
    assert tokens.count(6) / len(tokens) == pytest.approx(0.5, abs=0.05)
    assert tokens.count(7) / len(tokens) == pytest.approx(0.25, abs=0.05)


def test_every_summary_ends_at_its_maximum(make_source):
    rows = {token: {6: 0.5, 7: 0.5} for token in (BEGIN, 6, 7)}
    model = Table(rows)
    settings = DecodingSettings(sample=True, max_tokens=4)
    found = sample(model, make_source([3], [2]), settings)
    assert [len(one.tokens) for one in found] == [4, 4]
    assert model.started == (1, 5)
    assert len(model.seen) == 5
    assert model.seen[0] == [BEGIN, BEGIN]


def test_nothing_is_read_after_all_have_ended(make_source):
    model = Table(CHAIN)
    sample(model, make_source([3]), DecodingSettings(sample=True, max_tokens=99))
    assert model.seen == [[BEGIN], [6], [7], [8]]


def test_an_example_that_ended_waits_without_changing(make_source):
    source = make_source(*[[1]] * 6)
    found = drawn(COIN, source, seed=1)
    assert len({len(one.tokens) for one in found}) > 2
    assert all(token in (6, 7) for one in found for token in one.tokens)


def test_what_is_blocked_is_never_drawn(make_source):
    even = {token: dict.fromkeys(range(VOCABULARY), 0.1) for token in range(VOCABULARY)}
    for found in drawn(even, make_source(*[[1]] * 20), min_tokens=2, block_ngram=1):
        assert len(found.tokens) >= 2
        assert len(set(found.tokens)) == len(found.tokens)
        assert not set(found.tokens) & {*NEVER_WRITTEN, END}


def test_each_first_example_has_its_own_draws(make_source):
    source = make_source(*[[1]] * 8)

    def tokens(seed, first_draw):
        return [one.tokens for one in drawn(COIN, source, first_draw, seed=seed)]

    runs = [tokens(seed, first) for seed in (0, 1) for first in (0, 1, 2)]
    assert all(a != b for i, a in enumerate(runs) for b in runs[:i])
    assert runs[0] == tokens(0, 0)
