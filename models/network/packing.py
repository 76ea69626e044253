"""The source of a batch without padding: all real tokens in one row, and where they belong.

Letters: N real tokens, M paragraphs, B examples, T tokens of the longest paragraph, P paragraphs
of the longest example, L tokens of the longest example. A flat model's source is one paragraph.
Work on single tokens (embeddings, projections, feed-forward layers) is done on [N, width]; only
attention sees padded forms, to which `spread` brings the tokens and from which `gathered` takes
them back.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

CLOSE = 0.8  # of the longest of a group: how long its shortest paragraph may well be
LEAST_TOKENS = 512  # of a group, with padding: attention to fewer costs less than its call


class Source(NamedTuple):
    """What encoders read; ids and slots are int64, masks bool.

    `slot_in_paragraph_N` is a place in [M, T] laid flat, `slot_in_example_N` one in [B, L], and
    `slot_M` one in [B, P]. `graph_BPP` has rows that sum to 1, or is None. The masks of `groups`,
    [R, T] each, have the paragraphs of about one length together, all of them once;
    `slot_in_group_N` is a place in these masks laid flat, one after the other.
    """

    id_N: Tensor
    position_N: Tensor
    rank_N: Tensor
    paragraph_N: Tensor
    slot_in_paragraph_N: Tensor
    slot_in_group_N: Tensor
    slot_in_example_N: Tensor
    slot_M: Tensor
    is_token_MT: Tensor
    is_paragraph_BP: Tensor
    is_source_BL: Tensor
    groups: tuple[Tensor, ...]
    graph_BPP: Tensor | None = None

    def to(self, device: torch.device) -> "Source":
        """The same on a device; copies from pinned memory do not wait.

        A GPU gets all paragraphs as one group: it loses more by calls than by padding.
        """
        grouped = self.as_one_group() if device.type == "cuda" else self
        return Source.of([t.to(device, non_blocking=True) for t in grouped.tensors()])

    def tensors(self) -> list[Tensor]:
        """All tensors; `of` makes the source of them again."""
        graph = [] if self.graph_BPP is None else [self.graph_BPP]
        return [*self[:-2], *graph, *self.groups]

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> "Source":
        """The source that has these tensors."""
        own = len(cls._fields) - 2
        after = own + (tensors[own].dtype == torch.float32)  # only a graph is no mask
        graph = tensors[own] if after > own else None
        return cls(*tensors[:own], groups=tuple(tensors[after:]), graph_BPP=graph)  # type: ignore[arg-type,misc]

    def as_one_group(self) -> "Source":
        """The same with all paragraphs padded to the longest."""
        return self._replace(slot_in_group_N=self.slot_in_paragraph_N, groups=(self.is_token_MT,))


def pack(
    sources: Sequence[Sequence[npt.NDArray[np.integer]]],
    graphs: Sequence[npt.NDArray[np.float32]] | None = None,
) -> Source:
    """The Source of some examples, each a list of paragraphs of ids, none of them empty.

    `graphs` holds a row-normalised matrix [paragraphs, paragraphs] an example.
    """
    paragraphs = [ids for source in sources for ids in source]
    length_M = np.array([len(ids) for ids in paragraphs])
    count_B = np.array([len(source) for source in sources])
    rank_M = np.concatenate([np.arange(count) for count in count_B])
    example_M = np.repeat(np.arange(len(sources)), count_B)
    length_B = np.bincount(example_M, length_M, len(sources)).astype(np.int64)
    paragraph_N = np.repeat(np.arange(len(paragraphs)), length_M)
    position_N = _places(length_M)
    example_N = example_M[paragraph_N]
    T, P, L = length_M.max(), count_B.max(), length_B.max()
    start_M, groups = _grouped(length_M)
    arrays = [
        np.concatenate(paragraphs).astype(np.int64),
        position_N,
        rank_M[paragraph_N],
        paragraph_N,
        paragraph_N * T + position_N,
        start_M[paragraph_N] + position_N,
        example_N * L + _places(length_B),
        example_M * P + rank_M,
        np.arange(T) < length_M[:, None],
        np.arange(P) < count_B[:, None],
        np.arange(L) < length_B[:, None],
    ]
    graph = None if graphs is None else torch.from_numpy(_padded_graphs(graphs, P))
    tensors = [torch.from_numpy(array) for array in arrays]
    masks = tuple(torch.from_numpy(mask) for mask in groups)
    return Source(*tensors, groups=masks, graph_BPP=graph)  # type: ignore[misc,arg-type]


def _grouped(
    length_M: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], list[npt.NDArray[np.bool_]]]:
    """([M] where each paragraph begins in the masks laid flat, the masks), longest first."""
    order = np.argsort(-length_M, kind="stable")
    lengths = length_M[order]
    start_M, masks = np.empty_like(length_M), []
    first = size = 0
    while first < len(lengths):
        longest = int(lengths[first])
        close = int(np.searchsorted(-lengths, -CLOSE * longest, side="right"))
        end = max(close, first + -(-LEAST_TOKENS // longest))
        part = order[first:end]
        start_M[part] = size + longest * np.arange(len(part))
        masks.append(np.arange(longest) < length_M[part][:, None])
        first, size = end, size + masks[-1].size
    return start_M, masks


def _places(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1 ... length - 1 for each length, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)


def _padded_graphs(graphs: Sequence[npt.NDArray[np.float32]], size: int) -> npt.NDArray[np.float32]:
    """[B, size, size] the graphs; padding attends to itself, so that no row is empty."""
    padded = np.tile(np.eye(size, dtype=np.float32), (len(graphs), 1, 1))
    for matrix, graph in zip(padded, graphs, strict=True):
        matrix[: len(graph), : len(graph)] = graph
    return padded


def spread(x: Tensor, slot: Tensor, mask: Tensor) -> Tensor:
    """[*mask.shape, width] the rows of `x` at their slots, zeros elsewhere; slots rise."""
    flat = x if _is_whole(x, mask) else laid_flat(x, slot, mask.numel())
    return flat.view(*mask.shape, x.shape[-1])


def laid_flat(x: Tensor, slot: Tensor, size: int) -> Tensor:
    """[size, width] the rows of `x` at their slots, zeros elsewhere."""
    return x.new_zeros(size, x.shape[-1]).index_copy_(0, slot, x)


def gathered(padded: Tensor, slot: Tensor) -> Tensor:
    """The rows at some slots of a padded form: what `spread` spread."""
    flat = padded.flatten(0, -2)
    return flat if _is_whole(slot, flat[:, 0]) else flat.index_select(0, slot)


def _is_whole(rows: Tensor, padded: Tensor) -> bool:
    """Whether nothing is padding; a compiled layer does not ask, to be compiled but once."""
    return not torch.compiler.is_compiling() and len(rows) == padded.numel()
