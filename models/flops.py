"""How many floating-point operations a batch takes, for the share of a machine's peak in use.

Counted as products of matrices, 2 for each multiplication and addition, over real tokens alone:
what padding costs an implementation is its own loss. Letters as in `packing.py`, and W width, Y
target tokens.
"""

from collections.abc import Sequence

from wikisum.models.configs import LOCAL, ModelSettings


def training_flops(
    settings: ModelSettings, sources: Sequence[Sequence[int]], targets: Sequence[int]
) -> int:
    """Operations of one step, forward and backward (twice the forward).

    `sources` holds the lengths of each example's paragraphs, `targets` those of leads with an end.
    """
    return 3 * forward_flops(settings, sources, targets)


def forward_flops(
    settings: ModelSettings, sources: Sequence[Sequence[int]], targets: Sequence[int]
) -> int:
    """Operations of the encoder, the decoder and all logits, once."""
    encoder = [
        _local(settings, sources) if kind == LOCAL else _global(settings, sources)
        for kind in settings.layers
    ]
    decoder = settings.decoder_layers * _decoder_layer(settings, sources, targets)
    return sum(encoder) + decoder + _linear(sum(targets), settings.width, settings.vocab_size)


def _linear(rows: int, wide_in: int, wide_out: int) -> int:
    return 2 * rows * wide_in * wide_out


def _attention(width: int, queries: int, keys: int) -> int:
    """Scores and sums of all heads."""
    return 4 * queries * keys * width


def _feedforward(settings: ModelSettings, rows: int) -> int:
    return 2 * _linear(rows, settings.width, settings.feedforward)


def _local(settings: ModelSettings, sources: Sequence[Sequence[int]]) -> int:
    W, lengths = settings.width, [length for source in sources for length in source]
    seen = sum(_attention(W, length, length) for length in lengths)
    return 4 * _linear(sum(lengths), W, W) + seen + _feedforward(settings, sum(lengths))


def _global(settings: ModelSettings, sources: Sequence[Sequence[int]]) -> int:
    W, head = settings.width, settings.width // settings.pool_heads
    N, M = sum(map(sum, sources)), sum(map(len, sources))
    pooled = _linear(N, W, settings.pool_heads) + _linear(N, W, W) + 2 * N * W
    mixed = 0 if settings.released else _linear(M, W, head)
    seen = sum(_attention(W, len(source), len(source)) for source in sources)
    context = 3 * _linear(M, W, head) + seen + _linear(M, W, W)
    return pooled + mixed + context + _feedforward(settings, N)


def _decoder_layer(
    settings: ModelSettings, sources: Sequence[Sequence[int]], targets: Sequence[int]
) -> int:
    W, N, Y = settings.width, sum(map(sum, sources)), sum(targets)
    seen = sum(
        _attention(W, target, target) + _attention(W, target, sum(source))
        for source, target in zip(sources, targets, strict=True)
    )
    projected = 6 * _linear(Y, W, W) + 2 * _linear(N, W, W)
    return projected + seen + _feedforward(settings, Y)
