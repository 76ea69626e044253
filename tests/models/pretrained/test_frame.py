"""Sources in the ids of a model: special tokens around them, separators between."""

import numpy as np

from tests.models.pretrained.tiny_models import BOS, SEP
from wikisum.models.network.packing import pack
from wikisum.models.pretrained.frame import Frame, encoder_frame, rows
from wikisum.models.vocabulary.pretrained import load_config, load_tokenizer
from wikisum.ranker.data.vocab import END, END_OF_TITLE


def source_of(*examples):
    return pack([[np.array(ids)] for ids in examples])


def test_a_source_by_hand():
    frame = Frame([90], [91, 92], [93], [], end=93, pad=99, marks=[])
    found = rows(source_of([10, END_OF_TITLE, 11, END], [12, END]), frame)
    assert found.id_BT.tolist() == [[90, 4, 91, 92, 5, 93], [90, 6, 93, 99, 99, 99]]
    assert found.mask_BT.tolist() == [[1] * 6, [1, 1, 1, 0, 0, 0]]
    assert found.slot_BL.tolist() == [[1, 2, 4, 5], [1, 2, 0, 0]]
    left = rows(source_of([10, END_OF_TITLE, 11, END], [12, END]), frame, is_left=True)
    assert left.id_BT[1].tolist() == [99, 99, 99, 90, 6, 93]
    assert left.slot_BL[1].tolist() == [4, 5, 0, 0]


def test_tokens_without_a_meaning_keep_a_place():
    frame = Frame([90], [], [], [], end=93, pad=99, marks=[])
    found = rows(source_of([10, END_OF_TITLE, 11, END]), frame)
    assert found.id_BT.tolist() == [[90, 4, 5]]
    assert found.slot_BL.tolist() == [[1, 1, 2, 2]]


def frames(pretrained, settings_for, kind, **changes):
    settings = settings_for(kind, **changes).model
    tokenizer, config = load_tokenizer(settings.pretrained), load_config(settings.pretrained)
    return encoder_frame(settings, tokenizer, config), tokenizer


def test_separators_are_those_of_documents_or_the_end_or_given(pretrained, settings_for):
    assert frames(pretrained, settings_for, "led")[0].separator == [SEP]
    given, tokenizer = frames(pretrained, settings_for, "bart", separator=" | ")
    assert tokenizer.decode(given.separator) == " | "
    assert given.prefix == [BOS]
    assert given.suffix == [given.end]
