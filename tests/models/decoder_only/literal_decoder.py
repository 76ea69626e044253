"""Decoder-only models, one query at a time: what the fast ones must agree with."""

import math

import torch

F, L, M, X = "FLMX"


def norm(x, layer):
    if isinstance(layer, torch.nn.Identity):
        return x
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-6) * layer.weight + layer.bias


def linear(x, layer):
    return x @ layer.weight.T + (0 if layer.bias is None else layer.bias)


def residual(x, step, layer):
    if layer.pre_norm:
        return x + step(norm(x, layer.norm))
    return norm(x + step(x), layer.norm)


def sinusoid(position, width):
    angles = [position / 10_000 ** (2 * i / width) for i in range(width // 2)]
    return torch.tensor([f(a) for a in angles for f in (math.sin, math.cos)])


def visible(kind, i, j, settings):
    """Whether the token at position i sees the one at position j (not for compressed layers)."""
    start = i // settings.block * settings.block
    oldest = {
        F: 0,
        L: start - settings.lookback * settings.block,
        X: start - settings.memory,
    }[kind]
    return oldest <= j <= i


def compressed(x, layer, settings):
    """[(row, key, value)] of the memory of a sequence."""
    f = settings.factor
    blocks = [x[f * b : f * b + f] for b in range(len(x) // f)]
    if settings.compression == "before":
        rows = [x[0], *(linear(block.flatten(), layer.shorten[0]) for block in blocks)]
        return [(m, linear(r, layer.key), linear(r, layer.value)) for m, r in enumerate(rows)]
    found = [(0, linear(x[0], layer.key), linear(x[0], layer.value))]
    for m, block in enumerate(blocks, 1):
        key = linear(linear(block, layer.key).flatten(), layer.shorten[0])
        value = linear(linear(block, layer.value).flatten(), layer.shorten[1])
        found.append((m, key, value))
    return found


def attention(kind, x, layer, settings, biases=None, attentions=None):
    heads = settings.heads
    width = x.shape[1] // heads
    q, rows = linear(x, layer.query), []
    seen_by = torch.zeros(len(x), len(x))  # the mean over heads
    for i in range(len(x)):
        if kind == M:
            memory = compressed(x[: i + 1], layer, settings)
            seen = [(k, v, None) for m, k, v in memory if settings.factor * m <= i]
            f = settings.factor
            made_of = [[0], *([f * b + t for t in range(f)] for b in range(len(seen) - 1))]
        else:
            start = i // settings.block * settings.block
            seen, made_of = [], []
            for j in range(len(x)):
                if visible(kind, i, j, settings):
                    h = x[j].detach() if kind == X and j < start else x[j]
                    made_of.append([j])
                    seen.append((linear(h, layer.key), linear(h, layer.value), i - j))
        found = []
        for z in range(heads):
            part = slice(z * width, (z + 1) * width)
            scores = []
            for k, _, distance in seen:
                if kind == X:
                    r = linear(sinusoid(distance, x.shape[1]), layer.position)
                    u, v = biases[0, z], biases[1, z]
                    score = (q[i, part] + u) @ k[part] + (q[i, part] + v) @ r[part]
                else:
                    score = q[i, part] @ k[part]
                scores.append(score / math.sqrt(width))
            weights = torch.stack(scores).softmax(0)
            for tokens, w in zip(made_of, weights.tolist(), strict=True):
                for j in tokens:
                    seen_by[i, j] += w / len(tokens) / heads
            found.append(sum(w * v[part] for w, (_, v, _) in zip(weights, seen, strict=True)))
        rows.append(torch.cat(found))
    if attentions is not None:
        attentions.append(seen_by)
    return linear(torch.stack(rows), layer.output)


def convolution(x, layer):
    """Time step by time step, channel by channel."""
    kernel = layer.depthwise.shape[-1]
    rows = []
    for i in range(len(x)):
        row = torch.zeros(x.shape[1])
        for t in range(kernel):
            j = i - (kernel - 1) + t
            if j >= 0:
                row = row + layer.depthwise[:, 0, t] * x[j]
        rows.append(row)
    return linear(torch.stack(rows), layer.pointwise)


def experts(x, layer):
    """Each token by a loop over all experts; without noise."""
    rows = []
    for token in x:
        scores = layer.gate.weight @ token
        best = scores.argsort(descending=True)[: layer.active]
        weights = scores[best].softmax(0)
        row = torch.zeros_like(token)
        for e in range(len(layer.widen)):
            if e in best:
                out = torch.relu(token @ layer.widen[e]) @ layer.narrow[e]
                width, hidden = layer.widen.shape[1:]
                row = row + weights[best == e] * out * (hidden / width) ** -0.5
        rows.append(row)
    return torch.stack(rows)


def feedforward(kind, x, layer):
    if kind == "D":
        return linear(torch.relu(linear(x, layer.widen)), layer.narrow)
    if kind == "S":
        return convolution(torch.relu(convolution(x, layer.widen)), layer.narrow)
    return experts(x, layer)


def decode(model, ids, attentions=None):
    """Logits [S, V] of one sequence of input ids.

    Each layer's attention [S, S] is added to `attentions`.
    """
    settings = model.settings
    is_recurrent = X in settings.layers
    scale = math.sqrt(settings.width) if settings.scale_embeddings else 1
    rows = []
    for i, token in enumerate(ids.tolist()):
        row = model.embedding.weight[token] * scale if token else torch.zeros(settings.width)
        rows.append(row if is_recurrent else row + sinusoid(i, settings.width))
    x = norm(torch.stack(rows), model.input_norm)
    biases = model.relative_biases if is_recurrent else None
    kinds = zip(settings.layers, settings.feedforward_of_layer, strict=True)
    for (a, f), layer in zip(kinds, model.layers, strict=True):
        x = residual(
            x, lambda h, a=a, at=layer.attention: attention(a, h, at, settings, biases, attentions),
            layer.to_attention,
        )  # fmt: skip
        x = residual(
            x, lambda h, f=f, ff=layer.feedforward: feedforward(f, h, ff), layer.to_feedforward
        )
    x = norm(x, model.last_norm)
    bias = 0 if model.output_bias is None else model.output_bias
    return x @ model.embedding.weight.T + bias
