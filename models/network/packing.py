"""Batches: the source without padding, all real tokens in one row, and the padded targets.

Letters: N real tokens, M paragraphs, B examples, T tokens of the longest paragraph, P paragraphs
of the longest example, L tokens of the longest example, S target positions, Y real labels. A flat
model's source is one paragraph.
Work on single tokens (embeddings, projections, feed-forward layers) is done on [N, width]; only
attention needs padded forms, which `pad` makes and `unpad` undoes.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

CLOSE = 0.8  # shortest paragraph of a group, as a share of its longest
MIN_GROUP_TOKENS = 512  # with padding: attention to fewer tokens costs less than the call


class Source(NamedTuple):
    """The source side of a batch; ids and slots are int64, masks bool.

    `slot_in_paragraph_N` is an index into [M, T] flattened, `slot_in_example_N` one into [B, L],
    and `slot_M` one into [B, P]. `position_N` is the position of a token in its paragraph,
    `rank_N` the rank of its paragraph in the example, `paragraph_N` the row of its paragraph in M.
    `graph_BPP` has rows that sum to 1, or is None. `groups` holds the paragraphs in groups of
    similar length, a mask [R, T] per group; `slot_in_group_N` is an index into these masks,
    flattened and concatenated.
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
        """Return a copy on a device; copies from pinned memory do not wait.

        A GPU gets all paragraphs as one group: extra calls cost it more than padding.
        """
        grouped = self.as_one_group() if device.type == "cuda" else self
        return Source.of([t.to(device, non_blocking=True) for t in grouped.tensors()])

    def tensors(self) -> list[Tensor]:
        """Return all tensors as a list, which `of` turns back into a source."""
        graph = [] if self.graph_BPP is None else [self.graph_BPP]
        return [*self[:-2], *graph, *self.groups]

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> "Source":
        """Return the source with these tensors."""
        count = len(cls._fields) - 2
        after = count + (tensors[count].dtype == torch.float32)  # only a graph is no mask
        graph = tensors[count] if after > count else None
        return cls(*tensors[:count], groups=tuple(tensors[after:]), graph_BPP=graph)  # type: ignore[arg-type,misc]

    def as_one_group(self) -> "Source":
        """Return the same source with all paragraphs padded to the longest."""
        return self._replace(slot_in_group_N=self.slot_in_paragraph_N, groups=(self.is_token_MT,))


class Batch(NamedTuple):
    """B examples: `target_BS` is BEGIN and the lead, `label_BS` the lead and END, padded with 0.

    `label_slot_Y` are the positions of the Y real labels in [B, S] flattened; `example_B` numbers
    the examples in their split.
    """

    source: Source
    target_BS: Tensor
    label_BS: Tensor
    label_slot_Y: Tensor
    example_B: Tensor

    @property
    def label_Y(self) -> Tensor:
        """The real labels."""
        return self.label_BS.flatten().index_select(0, self.label_slot_Y)

    @property
    def source_tokens(self) -> int:
        """The number of real tokens of the sources."""
        return self.source.id_N.numel()

    @property
    def labels(self) -> int:
        """The number of real labels."""
        return self.label_slot_Y.numel()

    def describe(self) -> str:
        examples, target = self.target_BS.shape
        return (
            f"{examples} examples, {self.source_tokens:,} source tokens, "
            f"{target} target tokens each"
        )

    def tensors(self) -> list[Tensor]:
        return [*self[1:], *self.source.tensors()]

    @classmethod
    def of(cls, tensors: Sequence[Tensor]) -> "Batch":
        count = len(cls._fields) - 1
        return cls(Source.of(tensors[count:]), *tensors[:count])

    def to(self, device: torch.device) -> "Batch":
        rest = [t.to(device, non_blocking=True) for t in self[1:]]
        return Batch(self.source.to(device), *rest)


def pack(
    sources: Sequence[Sequence[npt.NDArray[np.integer]]],
    graphs: Sequence[npt.NDArray[np.float32]] | None = None,
) -> Source:
    """Return the Source of some examples, each a list of paragraphs of ids, none of them empty.

    `graphs` holds a row-normalized matrix [paragraphs, paragraphs] per example.
    """
    paragraphs = [ids for source in sources for ids in source]
    length_M = np.array([len(ids) for ids in paragraphs])
    count_B = np.array([len(source) for source in sources])
    rank_M = np.concatenate([np.arange(count) for count in count_B])
    example_M = np.repeat(np.arange(len(sources)), count_B)
    length_B = np.bincount(example_M, length_M, len(sources)).astype(np.int64)
    paragraph_N = np.repeat(np.arange(len(paragraphs)), length_M)
    position_N = _positions(length_M)
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
        example_N * L + _positions(length_B),
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
    """([M] the start of each paragraph in the flattened masks, the masks), longest first."""
    order = np.argsort(-length_M, kind="stable")
    lengths = length_M[order]
    start_M, masks = np.empty_like(length_M), []
    first = size = 0
    while first < len(lengths):
        longest = int(lengths[first])
        close = int(np.searchsorted(-lengths, -CLOSE * longest, side="right"))
        end = max(close, first + -(-MIN_GROUP_TOKENS // longest))
        part = order[first:end]
        start_M[part] = size + longest * np.arange(len(part))
        masks.append(np.arange(longest) < length_M[part][:, None])
        first, size = end, size + masks[-1].size
    return start_M, masks


def _positions(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """0, 1 ... length - 1 for each length, one after the other."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)


def _padded_graphs(graphs: Sequence[npt.NDArray[np.float32]], size: int) -> npt.NDArray[np.float32]:
    """[B, size, size] the graphs; padding attends to itself, so that no row is empty."""
    padded = np.tile(np.eye(size, dtype=np.float32), (len(graphs), 1, 1))
    for matrix, graph in zip(padded, graphs, strict=True):
        matrix[: len(graph), : len(graph)] = graph
    return padded


def pad(x: Tensor, slot: Tensor, mask: Tensor) -> Tensor:
    """[*mask.shape, width] the rows of `x` at their slots, zeros elsewhere; slots are ascending."""
    flat = x if _is_whole(x, mask) else scatter_rows(x, slot, mask.numel())
    return flat.view(*mask.shape, x.shape[-1])


def scatter_rows(x: Tensor, slot: Tensor, size: int) -> Tensor:
    """[size, width] the rows of `x` at their slots, zeros elsewhere."""
    return x.new_zeros(size, x.shape[-1]).index_copy_(0, slot, x)


def unpad(padded: Tensor, slot: Tensor) -> Tensor:
    """Return the rows at some slots of a padded tensor: the inverse of `pad`."""
    flat = padded.flatten(0, -2)
    return flat if _is_whole(slot, flat[:, 0]) else flat.index_select(0, slot)


def _is_whole(rows: Tensor, padded: Tensor) -> bool:
    """Whether nothing is padding. Compiled layers skip this test, which would recompile them."""
    return not torch.compiler.is_compiling() and len(rows) == padded.numel()
