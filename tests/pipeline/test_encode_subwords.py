import pytest

from pipeline.encode_subwords import encode, is_sampled, load_model, train_vocab
from pipeline.errors import JobFailed
from tests.pipeline.test_records import EXAMPLE

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]


@pytest.fixture(scope="module")
def processor():
    return load_model(train_vocab(iter(TEXTS), 200))


def test_special_pieces_have_their_ids(processor):
    assert [processor.id_to_piece(i) for i in range(6)] == [
        "<pad>", "<unk>", "<s>", "</s>", "<T>", "<P>",
    ]  # fmt: skip
    assert processor.is_control(4)
    assert 4 not in processor.encode("<T> and <P>")


def test_small_text_gives_a_small_vocabulary_and_the_same_one_again():
    model = train_vocab(iter(TEXTS), 32_000)
    assert load_model(model).get_piece_size() < 1000
    assert model == train_vocab(iter(TEXTS), 32_000)


def test_ids_are_those_of_the_text_alone(processor):
    example = encode(EXAMPLE, processor)
    assert processor.decode(example.lead_ids) == "lead".replace("lead", processor.decode(
        processor.encode("lead")))  # fmt: skip
    assert len(example.paragraph_ids) == len(example.paragraphs)
    assert not {2, 3} & set(example.lead_ids)


def test_no_text_and_no_model_are_told_in_words():
    with pytest.raises(JobFailed, match="no vocabulary could be trained"):
        train_vocab(iter([]), 100)
    with pytest.raises(ValueError, match=r"x\.model is no SentencePiece model"):
        load_model(b"garbage", "x.model")


def test_the_sample_is_a_share_of_the_texts():
    assert sum(is_sampled(t, 0.3) for t in TEXTS) == pytest.approx(90, abs=25)
    assert all(is_sampled(t, 1.0) for t in TEXTS)
