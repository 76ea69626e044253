import io

import pytest
import sentencepiece

from wikisum.models.convert.vocabulary import reordered
from wikisum.ranker.data.vocab import load_model

SPECIAL = ("<PAD>", None, "<S>", "</S>", "<T>")


@pytest.fixture(scope="module")
def model():
    """A model of another project: unknown text comes first, and special pieces have its names."""
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the old bridge over the river ."] * 20), model_writer=out,
        vocab_size=40, hard_vocab_limit=False, unk_id=0, bos_id=1, eos_id=2,
        user_defined_symbols=["<T>", "<S>", "</S>", "<PAD>", "<Q>"], minloglevel=2,
    )  # fmt: skip
    return out.getvalue()


def test_the_named_pieces_come_first_and_the_others_keep_their_order(model):
    before = load_model(model, "before")
    found = reordered(model, "spm.model", SPECIAL)
    after = load_model(found.model, "after")
    assert sorted(found.order) == list(range(len(before)))
    assert [after.id_to_piece(i) for i in range(len(after))] == [
        before.id_to_piece(i) for i in found.order
    ]
    names = [after.id_to_piece(i) for i in range(5)]
    assert names == ["<PAD>", "<unk>", "<S>", "</S>", "<T>"]
    assert found.order[5:] == sorted(found.order[5:])


def test_texts_have_the_same_pieces_and_special_names_are_plain_text(model):
    before, found = load_model(model, "before"), reordered(model, "spm.model", SPECIAL)
    after = load_model(found.model, "after")
    ids = after.encode("the old river")
    assert [found.order[i] for i in ids] == before.encode("the old river")
    assert after.unk_id() == 1
    for name in ("<S>", "<Q>", "<s>"):
        assert after.is_control(after.piece_to_id(name))
        assert after.piece_to_id(name) not in after.encode(name)


def test_a_piece_that_is_missing_is_named(model):
    with pytest.raises(ValueError, match=r"spm\.model has no piece <P>"):
        reordered(model, "spm.model", ("<S>", "<P>"))
    with pytest.raises(ValueError, match="x is not"):
        reordered(b"no model", "x", SPECIAL)
