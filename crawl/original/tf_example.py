"""Read the bytes features of TensorFlow's `Example` message with protobuf.

The message is a map from names to features, and a bytes feature is a list of byte strings. Other
kinds of features have field numbers that are not declared here, so these are ignored.
"""

from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import DecodeError

from wikisum.crawl.errors import BadRecord

_PACKAGE = "wikisum"


def _field(name: str, number: int, kind: str = "", repeated: bool = False) -> dict[str, Any]:
    """A field of bytes, or of the message `kind`."""
    return {
        "name": name,
        "number": number,
        "label": "LABEL_REPEATED" if repeated else "LABEL_OPTIONAL",
        "type": "TYPE_MESSAGE" if kind else "TYPE_BYTES",
        **({"typeName": f".{_PACKAGE}.{kind}"} if kind else {}),
    }


_FILE = {
    "name": "wikisum_example.proto",
    "package": _PACKAGE,
    "messageType": [
        {"name": "BytesList", "field": [_field("value", 1, repeated=True)]},
        {"name": "Feature", "field": [_field("bytes_list", 1, "BytesList")]},
        # a map is encoded as a list of entries, each with a key and a value
        {"name": "Entry", "field": [_field("key", 1), _field("value", 2, "Feature")]},
        {"name": "Features", "field": [_field("feature", 1, "Entry", repeated=True)]},
        {"name": "Example", "field": [_field("features", 1, "Features")]},
    ],
}


@cache
def _example() -> Any:
    """Return the class of the message."""
    file = json_format.ParseDict(_FILE, descriptor_pb2.FileDescriptorProto())
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
