"""SentencePiece models of other projects, with the special subwords at the ids used here.

A model is a protocol buffer. Its pieces are field 1 of the message, in the order of their ids; a
piece is a message of its text (1), its score (2) and its type (3).
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from wikisum.ranker.data.vocab import load_model

_PIECES = 1
_VARINT, _BYTES, _WIDTHS = 0, 2, {1: 8, 5: 4}
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3


class Piece(NamedTuple):
    """One subword; `type` is the number of its type in SentencePiece."""

    text: str
    score: float
    type: int


class Reordered(NamedTuple):
    """A model whose piece i was piece `order[i]` before."""

    model: bytes
    order: list[int]


def reordered(model: bytes, name: str, special: tuple[str | None, ...]) -> Reordered:
    """Return the model with some pieces first, in this order, and the others after them.

    None stands for the piece of unknown text. The named pieces, and all others between angle
    brackets, become control pieces: no text is encoded as one of them, and none is decoded to text.
    Raises ValueError if `name` is not a model or has no such piece.
    """
    load_model(model, name)
    fields = list(_fields(model))
    pieces = [_piece(payload) for number, payload, _ in fields if number == _PIECES]
    id_by_text = {piece.text: i for i, piece in enumerate(pieces)}
    unknown = next(i for i, piece in enumerate(pieces) if piece.type == _UNKNOWN)
    if missing := [text for text in special if text is not None and text not in id_by_text]:
        raise ValueError(f"{name} has no piece {missing[0]}")
    first = [unknown if text is None else id_by_text[text] for text in special]
    order = [*first, *(i for i in range(len(pieces)) if i not in set(first))]
    written = [_field(_PIECES, _encoded(_as_control(pieces[i]))) for i in order]
    others = [raw for number, _, raw in fields if number != _PIECES]
    return Reordered(b"".join([*written, *others]), order)


def _as_control(piece: Piece) -> Piece:
    is_special = piece.text.startswith("<") and piece.text.endswith(">")
    return piece._replace(type=_CONTROL) if is_special and piece.type != _UNKNOWN else piece


def _piece(payload: bytes) -> Piece:
    text, score, type_ = "", 0.0, _NORMAL
    for number, value, _ in _fields(payload):
        if number == 1:
            text = value.decode()
        elif number == 2:
            (score,) = struct.unpack("<f", value)
        elif number == 3:
            type_ = _varint(value, 0)[0]
    return Piece(text, score, type_)


def _encoded(piece: Piece) -> bytes:
    score = b"\x15" + struct.pack("<f", piece.score)  # field 2, four bytes
    return _field(1, piece.text.encode()) + score + b"\x18" + bytes([piece.type])


def _field(number: int, payload: bytes) -> bytes:
    """Return a field of bytes; its number is below 16."""
    size, length = b"", len(payload)
    while length >= 0x80:
        size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
    return bytes([number << 3 | _BYTES]) + size + bytes([length]) + payload


def _fields(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield (number, payload, whole bytes) of each field of a message."""
    at = 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == _VARINT:
            _, end = _varint(data, at)
        elif kind == _BYTES:
            length, at = _varint(data, at)
            end = at + length
        else:
            end = at + _WIDTHS[kind]
        yield tag >> 3, data[at:end], data[start:end]
        at = end


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number that begins at `at`, seven bits per byte, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at
