"""Read the bytes features of TensorFlow's `Example` message with protobuf.

The message is a map from names to features, and a bytes feature is a list of byte strings. Other
kinds of features have field numbers that are not declared here, so these are ignored.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from wikisum.crawl.errors import BadRecord

_PACKAGE = "wikisum"


# name -> number, and the message that the field holds if it holds no bytes
_FIELDS: dict[str, dict[str, tuple[int, str | None]]] = {
    "BytesList": {"value": (1, None)},
    "Feature": {"bytes_list": (1, "BytesList")},
    # a map is encoded as a list of entries, each with a key and a value
    "Entry": {"key": (1, None), "value": (2, "Feature")},
    "Features": {"feature": (1, "Entry")},
    "Example": {"features": (1, "Features")},
}
_REPEATED = (("BytesList", "value"), ("Features", "feature"))


@cache
def _example() -> Any:
    """Return the class of the message."""
    file = descriptor_pb2.FileDescriptorProto(name="wikisum_example.proto", package=_PACKAGE)
    for message, fields in _FIELDS.items():
        added = file.message_type.add(name=message)
        for name, (number, kind) in fields.items():
            label = "LABEL_REPEATED" if (message, name) in _REPEATED else "LABEL_OPTIONAL"
            type_ = {"type_name": f".{_PACKAGE}.{kind}"} if kind else {"type": "TYPE_BYTES"}
            added.field.add(name=name, number=number, label=label, **type_)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Example"))


def bytes_features(data: bytes) -> dict[str, list[bytes]]:
    """Return the bytes features of a serialized Example by name; of duplicates, the last one.

    Raises BadRecord (`bad_example`) if the data is not such a message.
    """
    try:
        message = _example().FromString(data)
    except DecodeError as error:
        raise BadRecord("bad_example", f"not a tensorflow.Example: {error}") from error
    entries = message.features.feature
    return {e.key.decode("utf-8", "replace"): list(e.value.bytes_list.value) for e in entries}
