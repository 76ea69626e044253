"""SentencePiece models of other projects, with the special subwords at the ids used here."""

from typing import Any, NamedTuple

from wikisum.models.vocabulary.model_file import CONTROL, UNKNOWN, parse_model
from wikisum.ranker.data.vocab import load_model


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
    message = parse_model(model)
    pieces = list(message.pieces)
    id_by_text = {piece.piece: i for i, piece in enumerate(pieces)}
    unknown = next(i for i, piece in enumerate(pieces) if piece.type == UNKNOWN)
    if missing := [text for text in special if text is not None and text not in id_by_text]:
        raise ValueError(f"{name} has no piece {missing[0]}")
    first = [unknown if text is None else id_by_text[text] for text in special]
    order = [*first, *(i for i in range(len(pieces)) if i not in set(first))]
    for piece in pieces:
        if _is_special(piece):
            piece.type = CONTROL
    del message.pieces[:]
    message.pieces.extend(pieces[i] for i in order)
    return Reordered(message.SerializeToString(), order)


def _is_special(piece: Any) -> bool:
    is_marked = piece.piece.startswith("<") and piece.piece.endswith(">")
    return bool(is_marked and piece.type != UNKNOWN)
