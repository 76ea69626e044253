"""Subword ids and the vocabulary in the form of the code published with hierarchical transformers.

Its readers look special pieces up by names that are not ours: `<S>`, `</S>`, `<PAD>`, and `<Q>`
between the sentences of a target (github.com/nlpyang/hiersumm, `train_abstractive.py`; GraphSum
has the same).
"""

import sentencepiece

from wikisum.models.export.source import Row
from wikisum.models.vocabulary.model_file import USER_DEFINED, parse_model
from wikisum.ranker.data.vocab import BEGIN, END, END_OF_TITLE, PAD, PIECES
from wikisum.ranker.sentences import sentences

RENAMED = {PAD: "<PAD>", BEGIN: "<S>", END: "</S>"}
SENTENCE = "<Q>"


def renamed_vocab(model: bytes) -> bytes:
    """Return a SentencePiece model with the readers' names and `<Q>` as its last piece."""
    message = parse_model(model)
    for index, name in RENAMED.items():
        message.pieces[index].piece = name
    message.pieces.add(piece=SENTENCE, score=0.0, type=USER_DEFINED)
    spec = message.trainer_spec
    spec.pad_piece, spec.bos_piece, spec.eos_piece = RENAMED.values()
    return message.SerializeToString()


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
