import pytest
import torch

from wikisum.models.decoding.beam import beam_search, beam_search_n_best
from wikisum.models.decoding.blocking import NEVER_WRITTEN
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import END_OF_TITLE

BEGIN, END, COMMA = 2, 3, 11


def plain_search(*args, **named):
    """The best of `plain_n_best`."""
    return plain_n_best(*args, **named)[0]


def plain_n_best(model, source, settings, commas=frozenset(), start=()):
    """The same search as an obvious loop over one example: no cache, no batch, no early end.

    `start` are the subwords of the title, if each summary begins with it.
    """
    memory = model.encode(source)
    vocab = model.settings.vocab_size
    living, ended = [(0.0, [BEGIN])], []
    for _ in range(settings.max_tokens + 1):
        candidates = []
        for log, tokens in living:
            decoded = model.decode(torch.tensor([tokens]), memory)[:, -1]
            following = model.logits(decoded)[0].log_softmax(-1).tolist()
            if len(tokens) <= len(start):
                candidates.append((log, [*tokens, start[len(tokens) - 1]]))
                continue
            allowed = {t for t in range(vocab) if may_come(t, tokens[1:], settings, commas)}
            candidates += [(log + following[t], [*tokens, t]) for t in sorted(allowed)]
        candidates.sort(key=lambda c: -c[0])
        living = []
        for place, (log, tokens) in enumerate(candidates[: 2 * settings.beam]):
            if tokens[-1] == END and place >= settings.beam:
                continue
            if tokens[-1] == END:
                score = log / settings.normalizer(len(tokens) - 1)
                ended.append((score, log, tokens[1:-1]))
            elif len(living) < settings.beam:
                living.append((log, tokens))
        if settings.beam == 1 and ended:
            break
    return sorted(ended, key=lambda e: -e[0])[: settings.n_best]


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


@pytest.mark.slow
@pytest.mark.parametrize("end_bias", [1.5, 5.0, 8.5])
@pytest.mark.parametrize("name", SEARCHES)
@torch.no_grad()
def test_agrees_with_the_plain_search(name, end_bias, make_peaked, make_source):
    peaked = make_peaked(end_bias)
    settings = DecodingSettings(**{"max_tokens": 12, **SEARCHES[name]})
    commas = frozenset({COMMA})
    lengths = [[5, 3, 1], [4], [1, 2, 3, 4]]
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


@pytest.mark.slow
@pytest.mark.parametrize("end_bias", [1.5, 5.0, 8.5])
@pytest.mark.parametrize("name", ["paper", "long", "average", "trigrams"])
@torch.no_grad()
def test_the_n_best_agree_with_the_plain_search(name, end_bias, make_peaked, make_source):
    peaked = make_peaked(end_bias)
    settings = DecodingSettings(**{"max_tokens": 12, **SEARCHES[name], "n_best": 3})
    lengths = [[5, 3, 1], [4], [7, 7]]
    together = beam_search_n_best(peaked, make_source(*lengths), settings)
    ids = torch.split(make_source(*lengths).id_N, [sum(x) for x in lengths])
    for found, paragraphs, mine in zip(together, lengths, ids, strict=True):
        alone = make_source(paragraphs)._replace(id_N=mine)
        expected = plain_n_best(peaked, alone, settings)
        assert len(found) == 3
        assert [one.tokens for one in found] == [tokens for _, _, tokens in expected]
        assert [one.score for one in found] == pytest.approx([e[0] for e in expected], abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ft", "pht", "vht"])
@torch.no_grad()
def test_other_models_agree_with_the_plain_search(kind, make_peaked, make_source):
    peaked = make_peaked(5.0, kind)
    settings = DecodingSettings(beam=4, max_tokens=9)
    lengths = [[5], [4]] if kind == "ft" else [[5, 3, 1], [4]]
    together = beam_search(peaked, make_source(*lengths), settings)
    ids = torch.split(make_source(*lengths).id_N, [sum(x) for x in lengths])
    for found, paragraphs, mine in zip(together, lengths, ids, strict=True):
        alone = make_source(paragraphs)._replace(id_N=mine)
        score, _, tokens = plain_search(peaked, alone, settings)
        assert found.tokens == tokens
        assert found.score == pytest.approx(score, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("kind", ["ht", "pht"])
@torch.no_grad()
def test_summaries_begin_with_the_title(kind, beam, make_peaked, make_source):
    """Titles of 3, 0 and 1 subwords, the last one of a kind that is never written else."""
    peaked = make_peaked(5.0, kind)
    settings = DecodingSettings(beam=beam, penalty="average", max_tokens=9, prime_title=True)
    lengths, titles = [[5, 3], [4], [7, 7]], [[20, 21, 20], [], [1]]
    whole = make_source(*lengths)
    ids = list(torch.split(whole.id_N.clone(), [sum(x) for x in lengths]))
    for mine, title in zip(ids, titles, strict=True):
        mine[: len(title) + 1] = torch.tensor([*title, END_OF_TITLE])
    found = beam_search(peaked, whole._replace(id_N=torch.cat(ids)), settings)
    for one, paragraphs, mine, title in zip(found, lengths, ids, titles, strict=True):
        alone = make_source(paragraphs)._replace(id_N=mine)
        score, log, tokens = plain_search(peaked, alone, settings, start=title)
        assert one.tokens == tokens
        assert one.tokens[: len(title)] == title
        assert one.log_probability == pytest.approx(log, abs=1e-3)
        assert one.score == pytest.approx(score, abs=1e-3)


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
