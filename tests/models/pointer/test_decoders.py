import pytest
import torch

from wikisum.models.pointer.decoders import BahdanauDecoder, LuongDecoder
from wikisum.models.pointer.encoder import Memory
from wikisum.models.pointer.settings import PointerSettings

B, L, S, E, W = 2, 5, 4, 3, 6
KINDS = [
    (BahdanauDecoder, {"attention": "bahdanau"}),
    (BahdanauDecoder, {"attention": "bahdanau", "coverage": True}),
    (LuongDecoder, {"attention": "luong"}),
    (LuongDecoder, {"attention": "luong", "pointer": False}),
]


def decoder_of(kind, changes):
    torch.manual_seed(0)
    decoder = kind(PointerSettings(vocab_size=20, embedding=E, width=W, **changes))
    value = torch.randn(B, L, 2 * W)
    is_source = torch.tensor([[True] * 5, [True, True, True, False, False]])
    states = torch.randn(B, 2 * W), torch.randn(B, 2 * W)
    ids, shifts = torch.zeros(B, L, dtype=torch.long), torch.zeros(B, 0, dtype=torch.long)
    with torch.no_grad():
        if hasattr(decoder, "covered"):
            decoder.covered.normal_()
        return decoder, Memory(value, decoder.key(value), is_source, ids, *states, shifts)


@pytest.mark.parametrize(("kind", "changes"), KINDS)
@torch.no_grad()
def test_a_whole_target_is_its_steps(kind, changes):
    decoder, memory = decoder_of(kind, changes)
    embedded = torch.randn(B, S, E)
    is_seen = memory.is_source_BL[:, None].expand(B, S, L)
    whole = decoder.sequence(embedded, memory, is_seen)
    state = decoder.start(memory, 1)
    for step in range(S):
        found, state = decoder.step(embedded[:, step, None], state, memory, is_seen[:, :1])
        for one, all_of_them in zip(found, whole, strict=True):
            torch.testing.assert_close(one[:, 0], all_of_them[:, step])
    torch.testing.assert_close(state.coverage_BKL[:, 0], whole.weight_BQL.sum(1))


@pytest.mark.parametrize(("kind", "changes"), KINDS)
@torch.no_grad()
def test_attention_is_on_what_is_seen_and_coverage_on_what_was_seen_before(kind, changes):
    decoder, memory = decoder_of(kind, changes)
    is_seen = memory.is_source_BL[:, None].repeat(1, S, 1)
    is_seen[:, 1] = torch.tensor([True, False, False, False, False])
    steps = decoder.sequence(torch.randn(B, S, E), memory, is_seen)
    torch.testing.assert_close(steps.weight_BQL.sum(-1), torch.ones(B, S))
    assert not steps.weight_BQL[~is_seen].any()
    first, second = steps.weight_BQL[:, 0], steps.weight_BQL[:, 1]
    assert not steps.again_BQ[:, 0].any()
    torch.testing.assert_close(steps.again_BQ[:, 1], torch.minimum(first, second).sum(-1))


@torch.no_grad()
def test_hypotheses_of_an_example_are_decoded_apart():
    for kind, changes in KINDS:
        decoder, memory = decoder_of(kind, changes)
        embedded = torch.randn(B, 3, E)
        is_seen = memory.is_source_BL[:, None].expand(B, 3, L)
        together, _ = decoder.step(embedded, decoder.start(memory, 3), memory, is_seen)
        for k in range(3):
            part = embedded[:, k, None], decoder.start(memory, 1), memory, is_seen[:, :1]
            alone, _ = decoder.step(*part)
            for one, other in zip(alone, together, strict=True):
                torch.testing.assert_close(one[:, 0], other[:, k])


def test_a_model_that_never_copies_has_no_gate():
    decoder, memory = decoder_of(LuongDecoder, {"attention": "luong", "pointer": False})
    is_seen = memory.is_source_BL[:, None]
    steps = decoder.sequence(torch.randn(B, 1, E), memory, is_seen)
    assert decoder.generate is None
    assert steps.generate_BQ.tolist() == [[0], [0]]
