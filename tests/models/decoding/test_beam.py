import math

import pytest
import torch

from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.blocking import NEVER_WRITTEN, Blocker
from wikisum.models.decoding.sampling import likely, sample
from wikisum.models.settings.decoding import DecodingSettings

BEGIN, END, COMMA = 2, 3, 11


def plain_search(model, source, settings, commas=frozenset()):
    """The same search as an obvious loop over one example: no cache, no batch, no early end."""
    memory = model.encode(source)
    vocab = model.settings.vocab_size
    living, best = [(0.0, [BEGIN])], None
    for _ in range(settings.max_tokens + 1):
        candidates = []
        for log, tokens in living:
            decoded = model.decode(torch.tensor([tokens]), memory)[:, -1]
            following = model.logits(decoded)[0].log_softmax(-1).tolist()
            allowed = {t for t in range(vocab) if may_come(t, tokens[1:], settings, commas)}
            candidates += [(log + following[t], [*tokens, t]) for t in sorted(allowed)]
        candidates.sort(key=lambda c: -c[0])
        living = []
        for place, (log, tokens) in enumerate(candidates[: 2 * settings.beam]):
            if tokens[-1] == END and place >= settings.beam:
                continue
            if tokens[-1] == END:
                score = log / settings.normalizer(len(tokens) - 1)
                if best is None or score > best[0]:
                    best = score, log, tokens[1:-1]
            elif len(living) < settings.beam:
                living.append((log, tokens))
        if settings.beam == 1 and best is not None:
            break
    return best


def may_come(token, written, settings, commas):
    if token == END:
        return len(written) >= settings.min_tokens
    if token in NEVER_WRITTEN or len(written) >= settings.max_tokens:
        return False
    n = settings.block_ngram
    if n:
        new = [*written, token]
        grams = [tuple(new[i : i + n]) for i in range(len(new) - n + 1)]
        if len(grams) > len(set(grams)) and grams[-1] in grams[:-1]:
            return False
    if settings.block_recent:
        recent = [t for t in written[-4:] if t not in commas][-2:]
        if token in recent:
            return False
    return True


SEARCHES = {
    "greedy": {"beam": 1},
    "paper": {"beam": 5, "alpha": 0.4},
    "long": {"beam": 3, "alpha": 2.0},
    "average": {"beam": 4, "penalty": "average"},
    "none": {"beam": 4, "penalty": "none"},
    "lengths": {"beam": 3, "min_tokens": 6, "max_tokens": 9},
    "trigrams": {"beam": 3, "block_ngram": 3, "min_tokens": 8},
    "bigrams": {"beam": 2, "block_ngram": 2, "min_tokens": 8},
    "unigrams": {"beam": 2, "block_ngram": 1, "min_tokens": 8},
    "recent": {"beam": 3, "block_recent": True, "min_tokens": 8},
}


@pytest.fixture
def make_peaked(make_model):
    """A model that repeats itself and ends sooner or later, so that every rule has work to do."""

    def make(end_bias):
        model = make_model()
        with torch.no_grad():
            model.embedding.weight *= 3
            model.output_bias[END] += end_bias
            model.output_bias[10:14] += 2
        return model

    return make


@pytest.fixture
def peaked(make_peaked):
    """One whose summaries are of many lengths."""
    return make_peaked(5.0)


@pytest.mark.parametrize("end_bias", [1.5, 5.0, 8.5])
@pytest.mark.parametrize("name", SEARCHES)
@torch.no_grad()
def test_agrees_with_the_plain_search(name, end_bias, make_peaked, make_source):
    peaked = make_peaked(end_bias)
    settings = DecodingSettings(**{"max_tokens": 12, **SEARCHES[name]})
    commas = frozenset({COMMA})
    lengths = [[5, 3, 1], [4], [7, 7], [1, 2, 3, 4], [2]]
    together = beam_search(peaked, make_source(*lengths), settings, commas)
    rng_source = make_source(*lengths)
    starts = torch.tensor([0, *[sum(x) for x in lengths]]).cumsum(0)
    for row, paragraphs in enumerate(lengths):
        alone = make_source(paragraphs)
        ids = rng_source.id_N[starts[row] : starts[row + 1]]
        score, log, tokens = plain_search(peaked, alone._replace(id_N=ids), settings, commas)
        assert together[row].tokens == tokens
        assert together[row].log_probability == pytest.approx(log, abs=1e-3)
        assert together[row].score == pytest.approx(score, abs=1e-3)


@torch.no_grad()
def test_the_examples_of_a_batch_end_each_at_its_own_time(make_peaked, make_source, monkeypatch):
    """What has ended is worked on no more, once that is half of the batch."""
    peaked = make_peaked(8.5)
    sizes, step = [], peaked.step

    def counting(token_BK, *rest):
        sizes.append(len(token_BK))
        return step(token_BK, *rest)

    monkeypatch.setattr(peaked, "step", counting)
    source = make_source([5, 3, 1], [4], [7, 7], [1, 2, 3, 4], [2])
    found = beam_search(peaked, source, DecodingSettings(beam=1, max_tokens=12))
    assert len({len(f.tokens) for f in found}) > 2
    assert sizes[0] == 5
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 3


def test_normalisers():
    assert DecodingSettings(alpha=0.4).normalizer(7) == pytest.approx(2**0.4)
    assert DecodingSettings(penalty="average").normalizer(7) == 7
    assert DecodingSettings(penalty="none").normalizer(7) == 1


@pytest.mark.parametrize(
    ("written", "settings", "forbidden"),
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
        ([10], {"max_tokens": 1}, set(range(20)) - {END}),
    ],
)
def test_what_may_not_come(written, settings, forbidden):
    log = torch.zeros(1, 1, 20)
    blocker = Blocker(DecodingSettings(**settings), {COMMA}, torch.device("cpu"))
    blocker.blocked(log, torch.tensor([[[BEGIN, *written]]]))
    found = {t for t in range(20) if log[0, 0, t] == -math.inf}
    assert found == forbidden | set(NEVER_WRITTEN)


@pytest.mark.parametrize(
    ("flags", "message"),
    [({"beam": 0}, "--beam"), ({"alpha": -1}, "--alpha"), ({"penalty": "x"}, "--penalty"),
     ({"min_tokens": 9, "max_tokens": 3}, "--min-tokens"), ({"top_p": 0}, "--top-p"),
     ({"temperature": 0}, "--temperature")],
)  # fmt: skip
def test_a_wrong_setting_is_named(flags, message):
    with pytest.raises(ValueError, match=message):
        DecodingSettings(**flags)


def test_the_likeliest_token_drawn_each_time_is_greedy_search(make_peaked, make_source):
    peaked = make_peaked(8.5)
    source = make_source([5, 3, 1], [4], [7, 7])
    drawn = sample(peaked, source, DecodingSettings(sample=True, top_k=1, max_tokens=9))
    greedy = beam_search(peaked, source, DecodingSettings(beam=1, penalty="average", max_tokens=9))
    assert [f.tokens for f in drawn] == [f.tokens for f in greedy]
    assert len({len(f.tokens) for f in drawn}) > 1
    for a, b in zip(drawn, greedy, strict=True):
        assert a.log_probability == pytest.approx(b.log_probability, abs=1e-4)
        assert a.score == pytest.approx(b.score, abs=1e-4)


def test_draws_hang_on_the_seed(peaked, make_source):
    source = make_source([5, 3, 1], [4], [7, 7])

    def drawn(seed, first=0):
        settings = DecodingSettings(sample=True, seed=seed, max_tokens=20, temperature=3.0)
        return [f.tokens for f in sample(peaked, source, settings, first_draw=first)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)
    assert drawn(1) != drawn(1, first=3)


def test_what_is_drawn_from():
    log = torch.tensor([[0.1, 0.5, 0.15, 0.25]]).log()
    assert (likely(log, DecodingSettings(top_k=2)) > 0).tolist() == [[False, True, False, True]]
    assert (likely(log, DecodingSettings(top_p=0.7)) > 0).tolist() == [[False, True, False, True]]
    assert (likely(log, DecodingSettings(top_p=0.4)) > 0).tolist() == [[False, True, False, False]]
    warm = likely(log, DecodingSettings(temperature=100.0))
    torch.testing.assert_close(warm, torch.full((1, 4), 0.25), atol=0.01, rtol=0)
