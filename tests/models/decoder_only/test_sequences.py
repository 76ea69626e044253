import torch

from wikisum.models.data.batches import collate
from wikisum.models.decoder_only.sequences import SEPARATOR, Layout, from_batch, prompts
from wikisum.ranker.data.vocab import END, PAD


def batch():
    return collate([[[11, 12, 13]], [[21]]], [[31, 32], [41, 42, 43]], range(2))


def test_a_sequence_is_source_separator_and_target():
    sequences = from_batch(batch())
    assert sequences.lengths == (7, 6)
    first, second = sequences.id_N.split(sequences.lengths)
    assert first.tolist() == [PAD, 11, 12, 13, SEPARATOR, 31, 32]
    assert second.tolist() == [PAD, 21, SEPARATOR, 41, 42, 43]
    first, second = sequences.label_N.split(sequences.lengths)
    assert first.tolist() == [11, 12, 13, SEPARATOR, 31, 32, END]
    assert second.tolist() == [21, SEPARATOR, 41, 42, 43, END]
    first, second = sequences.is_target_N.split(sequences.lengths)
    assert first.tolist() == [False] * 4 + [True] * 3
    assert second.tolist() == [False] * 2 + [True] * 4


def test_a_prompt_ends_before_the_separator():
    sequences = prompts(batch().source)
    assert sequences.lengths == (4, 2)
    assert sequences.id_N.tolist() == [PAD, 11, 12, 13, PAD, 21]
    assert not sequences.is_target_N.any()


def test_layouts_of_two_examples_by_hand():
    layout = Layout([5, 2], torch.device("cpu"))
    assert layout.longest == 5
    assert layout.example_N.tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert layout.position_N.tolist() == [0, 1, 2, 3, 4, 0, 1]
    assert layout.slot_in_row_N.tolist() == [0, 1, 2, 3, 4, 5, 6]
    blocks = layout.blocks(2)  # (0 1) (2 3) (4 -) and (0 1)
    assert blocks.slot_N.tolist() == [0, 1, 2, 3, 4, 6, 7]
    assert blocks.rank_C.tolist() == [0, 1, 2, 0]
    assert layout.blocks(2) is blocks
    assert layout.memory_rows(2) == 3
    assert layout.memory_rows(5) == 1
    assert layout.slots_by_row(2).tolist() == [0, 1, 2, 3, 4, 6, 7]
    # phase 0 holds positions 0 2 4, phase 1 holds 1 3
    assert layout.slots_by_phase(2).tolist() == [0, 3, 1, 4, 2, 6, 9]
