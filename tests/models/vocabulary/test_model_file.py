import pytest
from google.protobuf.message import DecodeError

from wikisum.models.vocabulary.model_file import CONTROL, UNKNOWN, USER_DEFINED, parse_model
from wikisum.ranker.data.shards import find_vocab
from wikisum.ranker.data.vocab import PAD, PIECES, load_model
from wikisum.ranker.data.vocab import UNKNOWN as UNKNOWN_ID


@pytest.fixture
def model(topics):
    return find_vocab(str(topics))


def test_pieces_are_those_that_sentencepiece_reads(model):
    processor, message = load_model(model, "topics"), parse_model(model)
    assert [piece.piece for piece in message.pieces] == [
        processor.id_to_piece(i) for i in range(len(processor))
    ]
    assert [piece.score for piece in message.pieces] == [
        processor.get_score(i) for i in range(len(processor))
    ]
    kinds = [piece.type for piece in message.pieces]
    assert kinds[UNKNOWN_ID] == UNKNOWN
    assert [i for i, kind in enumerate(kinds) if kind == CONTROL] == [
        i for i in range(len(processor)) if processor.is_control(i)
    ]
    assert message.trainer_spec.pad_piece == PIECES[PAD]


def test_what_is_not_named_here_is_kept(model):
    same = parse_model(model).SerializeToString()
    assert len(same) == len(model)
    text = "The Tavin bridge, ﬁnished in 1881."
    before, after = load_model(model, "before"), load_model(same, "after")
    assert after.encode(text) == before.encode(text)


def test_a_changed_model_is_read_by_sentencepiece(model):
    message = parse_model(model)
    message.pieces[PAD].piece = "<nothing>"
    message.pieces.add(piece="<Q>", score=0.0, type=USER_DEFINED)
    processor = load_model(message.SerializeToString(), "changed")
    assert processor.id_to_piece(PAD) == "<nothing>"
    assert processor.encode("<Q>")[-1] == len(processor) - 1


def test_other_bytes_are_no_model():
    with pytest.raises(DecodeError):
        parse_model(b"\xff\xff")
