import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from wikisum.models.data.batches import collate
from wikisum.models.decoding.beam import beam_search
from wikisum.models.pointer.pointer_generator import PointerGenerator
from wikisum.models.pointer.settings import PointerSettings
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END, UNKNOWN

sys.path.insert(0, str(Path(__file__).parent))
import literal_pointer as literal

V = 30
LUONG = {"attention": "luong", "embedding": 6, "width": 5}
WINDOWS = {**LUONG, "window_tokens": 4, "window_stride": 3}
STATIC = {**WINDOWS, "windows": "static", "summary_share": 0.4, "window_k": 0.3}
FORMS = {
    "See et al.": {},
    "without pointer": {"pointer": False},
    "coverage": {"coverage": True},
    "Stan": LUONG,
    "Stan with coverage": {**LUONG, "coverage": True},
    "SWM": STATIC,
    "SWM, falling fast": {**STATIC, "window_k": 0.8, "window_d": 1.4, "coverage": True},
    "DWM": {**WINDOWS, "windows": "dynamic"},
    "DWM without pointer": {**WINDOWS, "windows": "dynamic", "pointer": False},
    "DWM of See et al.": {**WINDOWS, "windows": "dynamic", "attention": "bahdanau"},
}
# 31 and 32 are words that the vocabulary lacks, 30 another one in another example
SOURCES = [8, 31, 9, 30, 8, 12, 32, 13, 9, 10, 31, 11, 7], [6, 30, 7], [9, 20, 21, 22, 30, 24]
LEADS = [9, 2, 31, 12, 2, 10, 11], [30, 25, 6], [9, 2, 22, 20]


@pytest.fixture
def make_pointer():
    def make(**changes):
        torch.manual_seed(1)
        sizes = {"vocab_size": V, "embedding": 6, "width": 5, **changes}
        model = PointerGenerator(PointerSettings(**sizes)).eval()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += 0.4 * torch.randn_like(parameter)
        return model

    return make


@pytest.fixture
def batch():
    return make_batch(SOURCES, LEADS)


def make_batch(sources, leads):
    return collate(
        [[np.array(s)] for s in sources], [np.array(t) for t in leads], range(len(leads))
    )


def steps_of(model, batch):
    """[B, S] rows of log-probabilities of the extended vocabulary, by stepping."""
    state = model.start(model.encode(batch.source), 1, batch.target_BS.shape[1])
    return torch.cat([model.step(token_B[:, None], state) for token_B in batch.target_BS.T], 1)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_agrees_with_the_equations_in_steps_attention_and_gradients(form, make_pointer, batch):
    model = make_pointer(**FORMS[form])
    log_BSX = steps_of(model, batch)
    weight_BSL = model.source_attention(batch, model.encode(batch.source))
    expected_loss = []
    for row, (source, lead) in enumerate(zip(SOURCES, LEADS, strict=True)):
        p, weights, again = literal.decode(model, source, [BEGIN, *lead])
        steps = len(lead) + 1
        size = min(p.shape[1], log_BSX.shape[2])
        torch.testing.assert_close(
            log_BSX[row, :steps, :size].exp(), p[:, :size], rtol=1e-4, atol=1e-6
        )
        torch.testing.assert_close(
            weight_BSL[row, :steps, : len(source)], weights, rtol=1e-4, atol=1e-6
        )
        for step, label in enumerate([*lead, END]):
            reachable = label < V or (model.settings.pointer and p[step, label] > 0)
            expected_loss.append(-p[step, label if reachable else UNKNOWN].log())
            if model.settings.coverage:
                expected_loss.append(again[step])
    total = sum(expected_loss)
    loss = model(batch, 0.0).total
    torch.testing.assert_close(loss, total, rtol=1e-4, atol=1e-4)
    loss.backward()
    found = {name: p.grad.clone() for name, p in model.named_parameters()}
    model.zero_grad()
    total.backward()
    for name, parameter in model.named_parameters():
        expected = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        torch.testing.assert_close(found[name], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("form", FORMS)
@torch.no_grad()
def test_distributions_sum_to_1(form, make_pointer, batch):
    log_BSX = steps_of(make_pointer(**FORMS[form]), batch)
    sums = log_BSX.exp().sum(-1)
    torch.testing.assert_close(sums, torch.ones_like(sums), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_a_word_outside_the_vocabulary_is_written_if_the_source_has_it(make_pointer, batch):
    model = make_pointer()
    model.decoder.generate.bias.fill_(-20.0)  # always copy
    log_BSX = steps_of(model, batch)
    assert log_BSX.shape[2] == 33  # 30 in the vocabulary, 3 more in the first source
    assert (log_BSX[0, :, 30:33] > -10).all()
    assert (log_BSX[1, :, 30] > -10).all()
    assert log_BSX[1, :, 31:].isneginf().all()  # the second source has one such word
    (found, *_) = beam_search(model, batch.source, DecodingSettings(beam=2, max_tokens=6))
    assert set(found.tokens) <= set(SOURCES[0])
    assert {30, 31, 32} & set(found.tokens)


@torch.no_grad()
def test_without_a_pointer_no_such_word_is_written(make_pointer, batch):
    assert steps_of(make_pointer(pointer=False), batch).shape[2] == V


@torch.no_grad()
def test_only_words_of_the_current_window_are_copied(make_pointer):
    model = make_pointer(**FORMS["DWM"])
    source = [*range(8, 8 + 3), 30, 12, 31, 13]  # windows 0..3 and 3..6
    log_BSX = steps_of(model, make_batch([source], [[9, BEGIN, 9]]))
    before, after = log_BSX[0, 1], log_BSX[0, 2]
    assert before[30] > -20
    assert before[31].isneginf()
    assert after[30] > -20  # in both windows
    assert after[31] > -20
    assert after[BEGIN].isneginf()  # no shift out of the last window
    assert before[BEGIN] > -20


@torch.no_grad()
def test_a_label_out_of_reach_counts_as_unknown(make_pointer):
    model = make_pointer(**FORMS["DWM"])
    source = [8, 9, 10, 11, 12, 30]  # 30 is in the second window only
    lost, unknown = (
        model.log_probabilities(batch, model.encode(batch.source))[0]
        for batch in (make_batch([source], [[token]]) for token in (30, UNKNOWN))
    )
    assert lost == unknown
    moved = make_batch([source], [[BEGIN, 30]])
    assert model.log_probabilities(moved, model.encode(moved.source))[1] != unknown


@torch.no_grad()
def test_coverage_loss_by_hand(make_pointer):
    """Attention that never moves over two tokens: 0 at first, then all of it, 1."""
    model = make_pointer(coverage=True, coverage_weight=0.5)
    model.decoder.score.weight.zero_()  # attends evenly
    batch = make_batch([[8, 9]], [[10, 11]])
    loss = model(batch, 0.0)
    assert loss.figures["coverage_loss"].total == pytest.approx(0 + 1 + 1)
    assert loss.figures["coverage_loss"].weight == 3
    assert float(loss.total - loss.target) == pytest.approx(0.5 * 2)


def test_coverage_starts_from_weights_without_it(make_pointer):
    before, after = make_pointer(), make_pointer(coverage=True)
    after.load_state_dict(before.state_dict())


@torch.no_grad()
def test_smoothing_without_a_pointer_is_that_of_other_models(make_pointer, batch):
    from wikisum.models.network.loss import cross_entropy

    model = make_pointer(**LUONG, pointer=False)
    known = make_batch(SOURCES, [[t for t in lead if t < V] for lead in LEADS])
    memory = model.encode(known.source)
    x = model._target_logs(known, memory).steps.x_BQX.flatten(0, 1)[known.label_slot_Y]
    expected = cross_entropy(x, model.embedding.weight, None, known.label_Y, 0.1)
    torch.testing.assert_close(model(known, 0.1).total, expected.smoothed, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_slices_of_labels_change_nothing(make_pointer, batch, monkeypatch):
    model = make_pointer()
    whole = model(batch, 0.1)
    monkeypatch.setattr("wikisum.models.pointer.mixture.SLICE_LOGITS", 2 * V)
    sliced = model(batch, 0.1)
    torch.testing.assert_close(sliced.total, whole.total)
    torch.testing.assert_close(sliced.target, whole.target)


@pytest.mark.parametrize("form", ["SWM", "DWM", "DWM of See et al."])
@torch.no_grad()
def test_windows_follow_their_hypothesis_through_the_beam(form, make_pointer):
    """Two hypotheses, of which only one shifts, change places; each keeps its window."""
    model = make_pointer(**FORMS[form])
    batch = make_batch(SOURCES[:1], LEADS[:1])
    state = model.start(model.encode(batch.source), 2, 9)
    model.step(torch.tensor([[BEGIN, BEGIN]]), state)
    model.step(torch.tensor([[BEGIN, 9]]), state)
    moved = state.per_hypothesis["window_BK"].tolist()
    assert moved == ([[1, 1]] if form == "SWM" else [[1, 0]])
    state.reorder(torch.tensor([[1, 1]]))
    both = model.step(torch.tensor([[9, BEGIN]]), state)
    for hypothesis, token in enumerate((9, BEGIN)):
        alone = model.start(model.encode(batch.source), 1, 9)
        for one in (BEGIN, 9, token):
            expected = model.step(torch.tensor([[one]]), alone)
        torch.testing.assert_close(both[:, hypothesis], expected[:, 0])


@torch.no_grad()
def test_sources_far_longer_than_those_of_training_are_walked_through(make_pointer):
    """A decoder that shifts after each token reaches the end of 400 windows."""
    model = make_pointer(**FORMS["DWM"])
    source = np.random.default_rng(0).integers(6, V, 1_200)
    lead = [BEGIN, 9] * 420
    weights = model.source_attention(
        (batch := make_batch([source.tolist()], [lead])), model.encode(batch.source)
    )[0]
    centers = (weights * torch.arange(1_200)).sum(1)
    assert centers[0] < 4
    assert centers[-1] > 1_190
    assert (centers.diff() > -4).all()


@torch.no_grad()
def test_a_search_shifts_through_a_long_source_and_no_further(make_pointer):
    """Shifts are by far the likeliest token, but the last of 67 windows has none."""
    model = make_pointer(**FORMS["DWM of See et al."])
    model.output.bias[BEGIN] = 30.0
    model.decoder.generate.bias += 8.0
    source = [*np.random.default_rng(0).integers(6, V, 199).tolist(), 40, 41]
    settings = DecodingSettings(beam=2, min_tokens=70, max_tokens=75)
    (found,) = beam_search(model, make_batch([source], [[9]]).source, settings)
    assert found.tokens[:66] == [BEGIN] * 66
    assert BEGIN not in found.tokens[66:]
    written = {token for token in found.tokens[66:] if token >= V}
    assert written <= {40, 41}
