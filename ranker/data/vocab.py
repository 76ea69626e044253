"""The subword vocabulary of a dataset: a SentencePiece model and what its first ids mean."""

import io
from collections.abc import Iterator

import sentencepiece

PAD, UNKNOWN, BEGIN, END, END_OF_TITLE, END_OF_PARAGRAPH = range(6)
PIECES = ("<pad>", "<unk>", "<s>", "</s>", "<T>", "<P>")
THREADS = 16  # part of the result: the trainer's sums depend on it, so it is no matter of cores


def train_vocab(texts: Iterator[str], vocab_size: int, model_type: str = "unigram") -> bytes:
    """Return a SentencePiece model of at most `vocab_size` pieces, fewer if the texts have less.

    `model_type` is `unigram` or `bpe`. The first ids are those of `PIECES`. Raises
    ValueError if there is no text.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=texts,
            model_writer=model,
            model_type=model_type,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            character_coverage=0.9995,
            max_sentence_length=1 << 20,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=BEGIN,
            eos_id=END,
            pad_piece=PIECES[PAD],
            unk_piece=PIECES[UNKNOWN],
            bos_piece=PIECES[BEGIN],
            eos_piece=PIECES[END],
            control_symbols=list(PIECES[END_OF_TITLE:]),
            num_threads=THREADS,
            minloglevel=2,
        )
    except RuntimeError as error:
        lines = str(error).strip().splitlines()
        cause = lines[-1] if lines else error
        raise ValueError(f"no vocabulary could be trained: {cause}") from error
    return model.getvalue()


def load_model(model: bytes, name: str) -> sentencepiece.SentencePieceProcessor:
    """Return the model. Raises ValueError for another file, or one with more than 65,536 ids."""
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(model)
    except RuntimeError as error:
        raise ValueError(f"{name} is not a SentencePiece model") from error
    if processor.get_piece_size() > 1 << 16:
        raise ValueError(f"{name}: {processor.get_piece_size()} subwords do not fit 16 bits")
    return processor
