"""Subword ids and the vocabulary in the form of the code published with hierarchical transformers.

Its readers look special pieces up by names that are not ours: `<S>`, `</S>`, `<PAD>`, and `<Q>`
between the sentences of a target (github.com/nlpyang/hiersumm, `train_abstractive.py`; GraphSum
has the same).
"""

from functools import cache
from typing import Any

import sentencepiece
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

from wikisum.models.export.source import Row
from wikisum.ranker.data.vocab import BEGIN, END, END_OF_TITLE, PAD, PIECES
from wikisum.ranker.sentences import sentences

RENAMED = {PAD: "<PAD>", BEGIN: "<S>", END: "</S>"}
SENTENCE = "<Q>"
_USER_DEFINED = 4  # a piece that is decoded as it is written
_PACKAGE = "wikisum_vocab"


def _field(name: str, number: int, type_: str, repeated: bool = False) -> dict[str, Any]:
    is_message = type_[0] == "."
    return {
        "name": name,
        "number": number,
        "label": "LABEL_REPEATED" if repeated else "LABEL_OPTIONAL",
        **({"type": "TYPE_MESSAGE", "typeName": type_} if is_message else {"type": type_}),
    }


# The fields of SentencePiece's ModelProto that are changed; protobuf keeps all others as they are.
_FILE = {
    "name": "wikisum_vocab.proto",
    "package": _PACKAGE,
    "messageType": [
        {
            "name": "Piece",
            "field": [
                _field("piece", 1, "TYPE_STRING"),
                _field("score", 2, "TYPE_FLOAT"),
                _field("type", 3, "TYPE_INT32"),
            ],
        },
        {
            "name": "TrainerSpec",
            "field": [
                _field("bos_piece", 46, "TYPE_STRING"),
                _field("eos_piece", 47, "TYPE_STRING"),
                _field("pad_piece", 48, "TYPE_STRING"),
            ],
        },
        {
            "name": "Model",
            "field": [
                _field("pieces", 1, f".{_PACKAGE}.Piece", repeated=True),
                _field("trainer_spec", 2, f".{_PACKAGE}.TrainerSpec"),
            ],
        },
    ],
}


@cache
def _model_class() -> Any:
    file = json_format.ParseDict(_FILE, descriptor_pb2.FileDescriptorProto())
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Model"))


def renamed_vocab(model: bytes) -> bytes:
    """Return a SentencePiece model with the readers' names and `<Q>` as its last piece."""
    message = _model_class().FromString(model)
    for index, name in RENAMED.items():
        message.pieces[index].piece = name
    message.pieces.add(piece=SENTENCE, score=0.0, type=_USER_DEFINED)
    spec = message.trainer_spec
    spec.pad_piece, spec.bos_piece, spec.eos_piece = RENAMED.values()
    data: bytes = message.SerializeToString()
    return data


def source_ids(row: Row) -> list[list[int]]:
    """Return the subword ids of each paragraph; the title and `<T>` begin the first.

    Raises ValueError if the dataset has no subword ids.
    """
    if row["paragraph_ids"] is None:
        raise ValueError("the examples have no subword ids: run `wikisum tokenize` first")
    first, *rest = row["paragraph_ids"]
    title = [*row["title_ids"], END_OF_TITLE] if row["title_ids"] else []
    return [[*title, *first], *rest]


def target_ids(row: Row, processor: sentencepiece.SentencePieceProcessor) -> list[int]:
    """Return `<S> sentence <Q> sentence </S>` of the lead, by the dataset's vocabulary."""
    between = processor.get_piece_size()  # where `renamed_vocab` adds the piece
    ids: list[int] = []
    for sentence in sentences(row["lead"]):
        ids += [between] * bool(ids) + processor.encode(sentence)
    return [BEGIN, *ids, END]


assert PIECES[END_OF_TITLE] == "<T>", "the readers look for this name too"
