import pytest
import torch

from wikisum.models.decoder_only.sequences import Layout
from wikisum.models.decoder_only.windows import Ring, window_mask, with_previous


def test_blocks_are_preceded_by_those_before_them():
    x_CHbD = torch.arange(1.0, 7.0).view(3, 1, 2, 1)  # blocks (1 2), (3 4), (5 6)
    windows = with_previous(x_CHbD, 2)[:, 0, :, 0]
    assert windows.tolist() == [[0, 0, 0, 0, 1, 2], [0, 0, 1, 2, 3, 4], [1, 2, 3, 4, 5, 6]]


@pytest.mark.parametrize(("size", "memory"), [(3, 0), (3, 2), (3, 3), (3, 5), (1, 2), (4, 4)])
def test_a_window_shows_what_the_definition_says(size, memory):
    lengths, lookback = [7, 1, 5], -(-memory // size)
    layout = Layout(lengths, torch.device("cpu"))
    blocks = layout.blocks(size)
    mask_CbG = window_mask(blocks, lookback, memory)[:, 0]
    token_of_slot = {slot: n for n, slot in enumerate(blocks.slot_N.tolist())}
    first = [0, 7, 8]
    for n, (example, q) in enumerate(
        zip(layout.example_N.tolist(), layout.position_N.tolist(), strict=True)
    ):
        block, row = divmod(blocks.slot_N[n].item(), size)
        slots = [(block - lookback) * size + g for g in range((lookback + 1) * size)]
        seen = {token_of_slot[s] for s, v in zip(slots, mask_CbG[block, row], strict=True) if v}
        oldest = max(0, q // size * size - memory)
        assert seen == {first[example] + p for p in range(oldest, q + 1)}


def test_a_ring_holds_the_last_positions_and_shows_those_in_reach():
    ring = Ring(block=2, lookback=1, memory=1)
    assert ring.size == 4
    layout = Layout([3, 6], torch.device("cpu"))
    x_NE = torch.cat([torch.arange(1.0, 4.0), torch.arange(11.0, 17.0)])[:, None]
    filled = ring.filled(x_NE, layout, beam=2, heads=1)
    assert filled.shape == (2, 2, 1, 4, 1)
    assert filled[:, 1, 0, :, 0].tolist() == [[1, 2, 3, 0], [15, 16, 13, 14]]
    position_B = torch.tensor([3, 6])
    ring.write(position_B, filled, torch.tensor([4.0, 17.0]).view(2, 1, 1, 1).expand(2, 2, 1, 1))
    assert filled[:, 0, 0, :, 0].tolist() == [[1, 2, 3, 4], [15, 16, 17, 14]]
    assert ring.distances(position_B).tolist() == [[3, 2, 1, 0], [2, 1, 0, 3]]
    # position 3 is in block (2 3) and sees 1 too; position 6 begins block (6 7) and sees 5 too
    assert ring.visible_slots(position_B).tolist() == [[False, True, True, True],
                                                 [False, True, True, False]]  # fmt: skip
    assert ring.visible_slots(torch.tensor([0])).tolist() == [[True, False, False, False]]


def test_visibility_by_position_is_that_of_the_ring():
    ring = Ring(block=3, lookback=2, memory=4)
    position = torch.arange(12)
    visible_QM = ring.is_visible(position, position)
    for q in range(12):
        distance = ring.distances(torch.tensor([q]))[0]
        seen = {q - d for d in distance[ring.visible_slots(torch.tensor([q]))[0]].tolist()}
        assert seen == set(position[visible_QM[q]].tolist())
