import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.ranker.learned.lstm import Ranker, SequenceEncoder, masked_max
from wikisum.ranker.learned.settings import RankerSettings

SMALL = RankerSettings(vocab_size=30, embedding_size=8, hidden_size=6, feature_size=5)
TEXTS = st.lists(st.integers(1, 29), max_size=7)


def model(seed=0, **changes):
    torch.manual_seed(seed)
    plain = RankerSettings(**{**vars(SMALL), **changes})
    return Ranker(plain).double().eval()


def padded(texts, width=None):
    width = width or max(1, *map(len, texts))
    ids = torch.zeros(len(texts), width, dtype=torch.long)
    for row, text in zip(ids, texts, strict=True):
        row[: len(text)] = torch.tensor(text)
    return ids, torch.tensor([len(text) for text in texts])


def logits(ranker, titles, article, paragraphs, more=0):
    titles, paragraphs = list(titles), list(paragraphs)
    title_ids = padded(titles, max(1, *map(len, titles)) + more)
    paragraph_ids = padded(paragraphs, max(1, *map(len, paragraphs)) + more)
    return ranker(*title_ids, torch.tensor(article), *paragraph_ids)


@pytest.mark.slow
@pytest.mark.parametrize("bidirectional", [False, True])
@settings(max_examples=15, deadline=None)
@given(
    titles=st.lists(TEXTS, min_size=2, max_size=2), texts=st.lists(TEXTS, min_size=1, max_size=5)
)
def test_padding_and_company_change_nothing(bidirectional, titles, texts):
    ranker = model(bidirectional=bidirectional)
    article = [i % 2 for i in range(len(texts))]
    together = logits(ranker, titles, article, texts, more=3)
    for i, text in enumerate(texts):
        (alone,) = logits(ranker, [titles[i % 2]], [0], [text])
        assert together[i].item() == pytest.approx(alone.item(), abs=1e-12)


def test_equations_by_hand():
    """Equations 1 to 6 of Liu & Lapata 2019, a paragraph and a token at a time."""
    ranker = model()
    title, text = [3, 4], [5, 6, 7]
    u_t = ranker.title_encoder.forward_lstm(ranker.embedding(torch.tensor(title)))[0]
    u_p = ranker.paragraph_encoder.forward_lstm(ranker.embedding(torch.tensor(text)))[0]
    best_t = u_t.max(0).values
    features = torch.stack(
        [torch.tanh(ranker.features(torch.cat([token, best_t]))) for token in u_p]
    )
    expected = ranker.score(features.max(0).values)
    assert logits(ranker, [title], [0], [text]).item() == pytest.approx(expected.item(), abs=1e-12)


@pytest.mark.parametrize("place", range(3))
def test_dropout_stands_before_both_linear_layers(place):
    """On the title's half of the features, on the tokens' half, and before the score."""

    class Drop(torch.nn.Module):
        """Drops all that comes to it in one of its places."""

        calls = 0

        def forward(self, x):
            self.calls += 1
            return x * 0 if self.calls == place + 1 else x

    ranker = model()
    ranker.dropout = Drop()
    found = logits(ranker, [[3, 4]], [0], [[5, 6, 7]]).item()
    assert ranker.dropout.calls == 3
    changed = model()
    with torch.no_grad():
        if place == 2:
            changed.score.weight.zero_()
        else:
            for_tokens, for_title = changed.features.weight.chunk(2, 1)
            (for_tokens if place else for_title).zero_()
    assert found == pytest.approx(logits(changed, [[3, 4]], [0], [[5, 6, 7]]).item(), abs=1e-12)
    assert found != pytest.approx(logits(model(), [[3, 4]], [0], [[5, 6, 7]]).item(), abs=1e-6)


def test_a_text_without_tokens_has_a_score():
    found = logits(model(), [[], [3]], [0, 0, 1, 1], [[], [4], [], [4]])
    assert torch.isfinite(found).all()
    assert found[0].item() == found[2].item()  # nothing was read, so the title tells nothing


def test_the_backward_encoder_reads_from_the_last_token():
    torch.manual_seed(0)
    encoder = SequenceEncoder(4, 3, bidirectional=True).double()
    x = torch.randn(2, 5, 4, dtype=torch.double)
    both = torch.nn.LSTM(4, 3, batch_first=True, bidirectional=True).double()
    for name, tensor in both.named_parameters():
        own = encoder.backward_lstm if name.endswith("reverse") else encoder.forward_lstm
        tensor.data = getattr(own, name.removesuffix("_reverse")).data
    lengths = torch.tensor([5, 3])
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
    expected, _ = torch.nn.utils.rnn.pad_packed_sequence(both(packed)[0], batch_first=True)
    found = encoder(x, lengths)
    assert torch.allclose(found[0], expected[0])
    assert torch.allclose(found[1, :3], expected[1, :3])


def test_the_maximum_passes_over_padding():
    x = torch.tensor([[[1.0, -2.0], [9.0, 9.0]], [[1.0, 5.0], [4.0, 2.0]]])
    assert masked_max(x, torch.tensor([1, 2])).tolist() == [[1.0, -2.0], [4.0, 5.0]]


def test_dropout_acts_in_training_only():
    ranker = model(dropout=0.5)
    once, again = (logits(ranker, [[3]], [0, 0], [[4, 5], [6]]) for _ in range(2))
    assert torch.equal(once, again)
    ranker.train()
    once, again = (logits(ranker, [[3]], [0, 0], [[4, 5], [6]]) for _ in range(2))
    assert not torch.equal(once, again)


@pytest.mark.slow
def test_a_batch_can_be_learned_by_heart():
    torch.manual_seed(1)
    ranker = Ranker(RankerSettings(**{**vars(SMALL), "dropout": 0.0, "feature_size": 16}))
    source = np.random.default_rng(0)
    texts = [source.integers(1, 30, 4).tolist() for _ in range(8)]
    labels = torch.tensor([0.0, 1.0] * 4)
    optimizer = torch.optim.Adagrad(ranker.parameters(), lr=0.15, initial_accumulator_value=0.1)
    for _ in range(150):
        found = logits(ranker, [[3, 4], [5]], [i // 4 for i in range(8)], texts)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(found, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05


@pytest.mark.parametrize("change", [{"hidden_size": 0}, {"dropout": 1.0}, {"vocab_size": -1}])
def test_wrong_settings_are_refused(change):
    with pytest.raises(ValueError, match=next(iter(change)).replace("_", "-")):
        RankerSettings(**change)


def test_it_learns_in_bfloat16_too():
    torch.manual_seed(0)
    ranker = Ranker(RankerSettings(**{**vars(SMALL), "bidirectional": True}))
    with torch.autocast("cpu", torch.bfloat16):
        found = logits(ranker, [[3, 4], []], [0, 1, 0], [[5, 6], [7], []])
    assert found.dtype == torch.bfloat16
    found.float().sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in ranker.parameters())
