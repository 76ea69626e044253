"""From the ids of a batch to those of a pretrained model: what stands around and between texts.

Letters: B examples, L tokens of the longest example in our ids, T in those of the model.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from wikisum.models.network.packing import Source
from wikisum.models.pretrained.settings import SOURCE, PretrainedSettings
from wikisum.models.vocabulary.pretrained import OFFSET
from wikisum.ranker.data.vocab import END, END_OF_PARAGRAPH, END_OF_TITLE

DOCUMENT_SEPARATOR = "<doc-sep>"  # of PRIMERA


class Frame(NamedTuple):
    """The ids, as the model has them, that stand around texts.

    `prefix` and `suffix` stand around a source, `separator` follows each of its paragraphs.
    `start` are the first inputs of the decoder, none of which it learns to predict; `end` ends a
    summary. `marks` are the ids that get global attention wherever they are.
    """

    prefix: list[int]
    separator: list[int]
    suffix: list[int]
    start: list[int]
    end: int
    pad: int
    marks: list[int]


class Rows(NamedTuple):
    """Sources as a model reads them: ids and mask [B, T], and where in T each token is, [B, L]."""

    id_BT: Tensor
    mask_BT: Tensor
    slot_BL: Tensor


def encoder_frame(settings: PretrainedSettings, tokenizer: Any, config: Any) -> Frame:
    """Return the frame of an encoder-decoder: the special tokens of its tokenizer.

    A target begins with the decoder's start token and with what the tokenizer puts before texts,
    such as `<s>` of BART. Raises ValueError if the configuration names no start or end.
    """
    before, after = _around(tokenizer)
    end = _end(settings, tokenizer, config)
    start = config.decoder_start_token_id
    if start is None:
        raise ValueError(f"--pretrained {settings.pretrained}: no decoder_start_token_id")
    known = tokenizer.get_vocab()
    mark = known.get(DOCUMENT_SEPARATOR)
    if settings.separator:
        separator = _plain(tokenizer, settings.separator)
    elif mark is not None:
        separator = [mark]
    else:
        separator = [end if tokenizer.sep_token_id is None else tokenizer.sep_token_id]
    return Frame(
        before, separator, after, [start, *before], end, _pad(tokenizer, config, end),
        [] if mark is None else [mark],
    )  # fmt: skip


def prompt_frame(settings: PretrainedSettings, tokenizer: Any, config: Any) -> Frame:
    """Return the frame of a decoder-only model: its instruction.

    Raises ValueError if neither the configuration nor the tokenizer names an end.
    """
    before, after = settings.instruction.split(SOURCE)
    special, _ = _around(tokenizer)
    end = _end(settings, tokenizer, config)
    return Frame(
        [*special, *_plain(tokenizer, before)],
        _plain(tokenizer, settings.separator or "\n"),
        _plain(tokenizer, after), [], end, _pad(tokenizer, config, end), [],
    )  # fmt: skip


def _plain(tokenizer: Any, text: str) -> list[int]:
    return tokenizer(text, add_special_tokens=False)["input_ids"] if text else []


def _around(tokenizer: Any) -> tuple[list[int], list[int]]:
    """Return the special tokens that the tokenizer puts before and after a text."""
    plain = _plain(tokenizer, "a")
    framed: list[int] = tokenizer("a")["input_ids"]
    at = next(i for i in range(len(framed)) if framed[i : i + len(plain)] == plain)
    return framed[:at], framed[at + len(plain) :]


def _end(settings: PretrainedSettings, tokenizer: Any, config: Any) -> int:
    for found in (tokenizer.eos_token_id, config.get_text_config().eos_token_id):
        if isinstance(found, list):
            found = found[0]
        if found is not None:
            return int(found)
    raise ValueError(f"--pretrained {settings.pretrained}: the tokenizer has no end of a text")


def _pad(tokenizer: Any, config: Any, end: int) -> int:
    found = (config.get_text_config().pad_token_id, tokenizer.pad_token_id, end)
    return int(next(token for token in found if token is not None))


def rows(source: Source, frame: Frame, is_left: bool = False) -> Rows:
    """Return the sources in the ids of the model, padded at the right or at the left."""
    counts = source.is_source_BL.sum(1).tolist()
    found = [_row(part.tolist(), frame) for part in torch.split(source.id_N.cpu(), counts)]
    longest = max(len(ids) for ids, _ in found)
    shape = len(found), longest
    id_BT = torch.full(shape, frame.pad)
    mask_BT = torch.zeros(shape, dtype=torch.long)
    slot_BL = torch.zeros(source.is_source_BL.shape, dtype=torch.long)
    for row, (ids, slots) in enumerate(found):
        first = longest - len(ids) if is_left else 0
        id_BT[row, first : first + len(ids)] = torch.tensor(ids)
        mask_BT[row, first : first + len(ids)] = 1
        slot_BL[row, : len(slots)] = torch.tensor(slots) + first
    device = source.id_N.device
    return Rows(id_BT.to(device), mask_BT.to(device), slot_BL.to(device))


def _row(ids: Sequence[int], frame: Frame) -> tuple[list[int], list[int]]:
    """Return a source in the ids of the model, and the place of each of its tokens there.

    END stands for the suffix. A token that becomes nothing has the place of the one before.
    """
    meaning = {
        END: frame.suffix, END_OF_TITLE: frame.separator, END_OF_PARAGRAPH: frame.separator,
    }  # fmt: skip
    out, indexes = list(frame.prefix), []
    for token in ids:
        new = meaning[token] if token in meaning else [max(token - OFFSET, 0)]
        indexes.append(len(out) if new else max(len(out) - 1, 0))
        out += new
    return out, indexes
