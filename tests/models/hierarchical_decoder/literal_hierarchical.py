"""The equations of the PHT paper, one loop at a time."""

import math
import sys
from pathlib import Path

import torch
from torch.nn import functional as F

sys.path.insert(0, str(Path(__file__).parents[1] / "network"))
from literal import attention, embedded, feedforward, linear, norm, positions, residual


def every(i, j):
    return True


def ranked(vectors, width):
    """Equations 6 and 11."""
    return torch.stack([v + positions(0, rank, width, False) for rank, v in enumerate(vectors)])


def paragraph_embedding(encoded, pooling, settings):
    """Equations 2 to 5 for one paragraph [n, W]."""
    width = settings.width // settings.heads
    head = linear(encoded, pooling.project)  # 2
    pooled = []
    for z in range(settings.heads):
        part = head[:, z * width : (z + 1) * width]
        score = part @ pooling.score[z if settings.released else 0]
        if settings.released:
            score = score / math.sqrt(width)
        weights = score.exp() / score.exp().sum()
        pooled.append(sum(w * row for w, row in zip(weights, part, strict=True)))  # 3
    mixed = linear(torch.cat(pooled), pooling.output)  # 4
    if settings.released:
        mixed = norm(mixed, pooling.norm)
    return residual(mixed, lambda h: feedforward(h, pooling.feedforward), pooling.to_feedforward)


def parallel(x, paragraphs, embeddings, part):
    """(X_para + X_int, A_para): equations 7 to 9 for one target [S, W]."""
    result = []
    context = attention(x, embeddings, part.paragraphs, every, result)  # 7
    share = result[0].mean(1)
    words = [attention(x, c, part.words, every) for c in paragraphs]  # 8
    rows = [
        sum(share[t, p] * words[p][t] for p in range(len(paragraphs))) for t in range(len(x))
    ]  # 9
    return context + torch.stack(rows), share


def vertical(x, paragraphs, part, settings):
    """(X_para, the attention to paragraphs): equations 8, 11 and 12 for one target [S, W]."""
    words = [attention(x, c, part.words, every) for c in paragraphs]  # 8
    rows, share = [], []
    for t in range(len(x)):
        keys = ranked([word[t] for word in words], settings.width)  # 11
        if settings.released:
            keys = norm(keys, part.norm[1])
        result = []
        rows.append(attention(x[t : t + 1], keys, part.paragraphs, every, result)[0])  # 12
        share.append(result[0].mean(1)[0])
    return torch.stack(rows), torch.stack(share)


def decode(model, target, paragraphs, attentions=None):
    """Logits [S, V] of one target (ids with the begin) over its encoded paragraphs.

    The attention of each layer to words of paragraphs, [S, L], is added to `attentions`.
    """
    settings, width = model.settings, model.settings.width
    x = embedded(target, model)
    x = torch.stack([row + positions(0, i, width, False) for i, row in enumerate(x)])
    pooling = model.encoder.pooling
    if pooling is not None:
        embeddings = ranked([paragraph_embedding(c, pooling, settings) for c in paragraphs], width)
    for layer in model.decoder:
        part = layer.cross_attention

        def look_back(h, layer=layer):
            return attention(h, h, layer.self_attention, lambda i, j: j <= i)

        def look_at_source(h, part=part):
            if pooling is not None:
                found, share = parallel(h, paragraphs, embeddings, part)
            else:
                found, share = vertical(h, paragraphs, part, settings)
            if attentions is not None:
                attentions.append(token_weights(h, paragraphs, part.words, share))
            return found

        x = residual(x, look_back, layer.to_self)
        x = residual(x, look_at_source, layer.to_cross)  # 10 and 13
        x = residual(x, lambda h, ff=layer.feedforward: feedforward(h, ff), layer.to_feedforward)
    if settings.pre_norm:
        x = norm(x, model.decoder_norm)
    bias = 0 if model.output_bias is None else model.output_bias
    table = model.embedding.weight if settings.tie_output else model.output
    return F.linear(x, table) + bias


def token_weights(x, paragraphs, words, share):
    """[S, L] the mean attention of heads inside each paragraph times the paragraph's share."""
    parts = []
    for p, c in enumerate(paragraphs):
        result = []
        attention(x, c, words, every, result)
        parts.append(result[0].mean(1) * share[:, p : p + 1])
    return torch.cat(parts, 1)
