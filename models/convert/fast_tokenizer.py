"""The SentencePiece vocabulary of a run as a tokenizer of transformers, with the same ids."""

from typing import Any

from wikisum.models.vocabulary.model_file import parse_model
from wikisum.models.vocabulary.pretrained import load_transformers
from wikisum.ranker.data.vocab import BEGIN, END, PAD, PIECES, UNKNOWN

_UNIGRAM = 1  # of trainer_spec.model_type


def fast_tokenizer(model: bytes) -> Any:
    """Return the tokenizer; it puts `</s>` after a text, as sources end here.

    Raises ValueError for a vocabulary that is not of unigrams or byte pairs.
    """
    from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers, processors

    message = parse_model(model)
    tokenizer = Tokenizer(_model(message))
    steps = [normalizers.Strip(), normalizers.Replace(Regex(" {2,}"), " ")]
    if charsmap := message.normalizer_spec.precompiled_charsmap:
        steps = [normalizers.Precompiled(charsmap), *steps]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"$A {PIECES[END]}", special_tokens=[(PIECES[END], END)]
    )
    return load_transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=PIECES[PAD], unk_token=PIECES[UNKNOWN],
        bos_token=PIECES[BEGIN], eos_token=PIECES[END],
        additional_special_tokens=list(PIECES[END + 1 :]),
    )  # fmt: skip


def _model(message: Any) -> Any:
    from tokenizers import models

    pieces = [(piece.piece, piece.score) for piece in message.pieces]
    if message.trainer_spec.model_type == _UNIGRAM:
        return models.Unigram(pieces, unk_id=UNKNOWN, byte_fallback=False)
    ids = {piece: index for index, (piece, _) in enumerate(pieces)}
    return models.BPE(ids, _merges(pieces, ids), unk_token=PIECES[UNKNOWN], fuse_unk=True)


def _merges(pieces: list[tuple[str, float]], ids: dict[str, int]) -> list[tuple[str, str]]:
    """Return the pairs that make up each piece, the best piece first.

    SentencePiece joins the neighbors whose joint piece has the best score; pieces stand in the
    order of their scores, so the id of the result is the rank of a pair.
    """
    pairs = [
        (ids[piece], ids[piece[:at]], ids[piece[at:]], (piece[:at], piece[at:]))
        for piece, _ in pieces[len(PIECES) :]
        for at in range(1, len(piece))
        if piece[:at] in ids and piece[at:] in ids
    ]
    return [pair for *_, pair in sorted(pairs)]
