"""SentencePiece models as protocol buffers: the fields that are read or changed here.

protobuf keeps all other fields of a model as they are. The class that sentencepiece itself brings
needs the very release of protobuf that it was generated with.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

UNKNOWN, CONTROL, USER_DEFINED = 2, 3, 4  # types of pieces

_PACKAGE = "wikisum_vocab"
_FIELDS = {
    "Piece": {"piece": (1, "STRING"), "score": (2, "FLOAT"), "type": (3, "INT32")},
    "TrainerSpec": {
        "model_type": (3, "INT32"), "bos_piece": (46, "STRING"), "eos_piece": (47, "STRING"),
        "pad_piece": (48, "STRING"),
    },
    "NormalizerSpec": {"precompiled_charsmap": (2, "BYTES")},
    "Model": {
        "pieces": (1, "Piece"), "trainer_spec": (2, "TrainerSpec"),
        "normalizer_spec": (3, "NormalizerSpec"),
    },
}  # fmt: skip
_REPEATED = "pieces"


@cache
def _model_class() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name=f"{_PACKAGE}.proto", package=_PACKAGE)
    for message, fields in _FIELDS.items():
        added = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            label = "LABEL_REPEATED" if name == _REPEATED else "LABEL_OPTIONAL"
            is_message = kind in _FIELDS
            type_ = {"type_name": f".{_PACKAGE}.{kind}"} if is_message else {"type": f"TYPE_{kind}"}
            added.field.add(name=name, number=number, label=label, **type_)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Model"))


def parse_model(model: bytes) -> Any:
    """Return the message of a SentencePiece model: `pieces` in the order of ids, and its specs."""
    return _model_class().FromString(model)
