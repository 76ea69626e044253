import pytest

from wikisum.ranker.data.vocab import load_model, train_vocab

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]


def test_special_pieces_have_their_ids():
    processor = load_model(train_vocab(iter(TEXTS), 200), "a.model")
    assert [processor.id_to_piece(i) for i in range(6)] == [
        "<pad>", "<unk>", "<s>", "</s>", "<T>", "<P>",
    ]  # fmt: skip
    assert processor.is_control(4)
    assert 4 not in processor.encode("<T> and <P>")


def test_small_text_gives_a_small_vocabulary_and_the_same_one_again():
    model = train_vocab(iter(TEXTS), 32_000)
    assert load_model(model, "a.model").get_piece_size() < 1000
    assert model == train_vocab(iter(TEXTS), 32_000)


def test_no_text_and_no_model_are_reported_in_words():
    with pytest.raises(ValueError, match="no vocabulary could be trained"):
        train_vocab(iter([]), 100)
    with pytest.raises(ValueError, match=r"x\.model is not a SentencePiece model"):
        load_model(b"garbage", "x.model")
