"""The equations, one loop at a time: what the fast models must agree with."""

import math

import torch
from torch.nn import functional as F


def paragraphs_of(x_NW, source):
    """x as a list of examples, each a list of paragraphs [tokens, W]."""
    examples = [[] for _ in range(source.is_source_BL.shape[0])]
    example_N = source.slot_in_example_N // source.is_source_BL.shape[1]
    for m in range(int(source.paragraph_N.max()) + 1):
        mine = source.paragraph_N == m
        examples[int(example_N[mine][0])].append(x_NW[mine])
    return examples


def packed(examples):
    return torch.cat([p for paragraphs in examples for p in paragraphs])


def norm(x, layer):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(variance + 1e-6) * layer.weight + layer.bias


def linear(x, layer):
    return x @ layer.weight.T + (0 if layer.bias is None else layer.bias)


def feedforward(x, layer):
    return linear(torch.relu(linear(x, layer[0])), layer[3])


def attention(x, memory, layer, mask, attentions=None):
    """Multi-head attention of x [S, W] over memory [L, W], query by query.

    Weights [S, H, L] are added to `attentions`, for which all must be seen.
    """
    width = x.shape[1] // layer.heads
    q, k, v = linear(x, layer.query), linear(memory, layer.key), linear(memory, layer.value)
    rows, seen_weights = [], []
    for i in range(len(x)):
        heads = []
        for z in range(layer.heads):
            part = slice(z * width, (z + 1) * width)
            seen = [j for j in range(len(memory)) if mask(i, j)]
            scores = torch.stack([q[i, part] @ k[j, part] / math.sqrt(width) for j in seen])
            weights = scores.softmax(0)
            seen_weights.append(weights)
            heads.append(sum(w * v[j, part] for w, j in zip(weights, seen, strict=True)))
        rows.append(torch.cat(heads))
    if attentions is not None:
        attentions.append(torch.stack(seen_weights).view(len(x), layer.heads, len(memory)))
    return linear(torch.stack(rows), layer.output)


def residual(x, step, layer):
    if layer.pre_norm:
        return x + step(norm(x, layer.norm))
    return norm(x + step(x), layer.norm)


def local_layer(paragraph, layer):
    """Equations 11 and 12."""

    def look(x):
        return attention(x, x, layer.attention, lambda i, j: True)

    x = residual(paragraph, look, layer.to_attention)
    return residual(x, lambda h: feedforward(h, layer.feedforward), layer.to_feedforward)


def global_layer(paragraphs, layer, settings, graph=None):
    """Equations 13 to 24 over the paragraphs of one example."""
    heads = settings.pool_heads
    width = settings.width // heads
    pooling, inter = layer.pooling, layer.attention
    contexts = [[] for _ in paragraphs]
    for z in range(heads):
        part = slice(z * width, (z + 1) * width)
        head = []
        for x in paragraphs:
            w = norm(x, layer.norm) if settings.pre_norm else x
            a = linear(w, pooling.score)[:, z]  # 13
            b = linear(w, pooling.value)[:, part]  # 14
            weights = a.exp() / a.exp().sum()  # 15
            pooled = sum(weights[j] * b[j] for j in range(len(x)))
            if settings.released:
                head.append(norm(pooled, pooling.norm[0]))
            else:
                head.append(norm(pooling.mix[z] @ pooled, pooling.norm[z]))  # 16
        weight = inter.weight[0 if settings.released else z]
        bias = inter.bias if settings.released else torch.zeros(3 * width)
        qkv = [weight @ h + bias for h in head]  # 17 to 19
        q, k, v = ([one[i * width : (i + 1) * width] for one in qkv] for i in range(3))
        for i in range(len(paragraphs)):
            scores = torch.stack([q[i] @ one for one in k])
            if settings.released:
                scores = scores / math.sqrt(width)
            weights = scores.exp() / scores.exp().sum()  # 20
            if graph is not None and z == settings.graph_head % heads:
                weights = graph[i] / graph[i].sum()  # 24
            contexts[i].append(sum(w * one for w, one in zip(weights, v, strict=True)))
    found = []
    for x, context in zip(paragraphs, contexts, strict=True):
        c = linear(torch.cat(context), layer.fuse)  # 21
        if settings.released:
            found.append(
                residual(x + c, lambda h: feedforward(h, layer.feedforward), layer.to_feedforward)
            )
        else:
            last = layer.to_feedforward.norm
            inner = norm(x, last) if settings.pre_norm else x
            g = feedforward(inner + c, layer.feedforward)  # 22
            found.append(g + x if settings.pre_norm else norm(g + x, last))  # 23
    return found


def positions(rank, place, width, with_rank):
    """Equations 7 to 9."""

    def e(p, d):
        values = []
        for i in range(d // 2):
            angle = p / 10_000 ** (2 * i / d)
            values += [math.sin(angle), math.cos(angle)]
        return torch.tensor(values)

    if not with_rank:
        return e(place, width)
    return torch.cat([e(rank, width // 2), e(place, width // 2)])


def embedded(ids, model):
    return model.embedding.weight[ids] * (
        math.sqrt(model.settings.width) if model.settings.scale_embeddings else 1
    )


def encode(model, source, graphs=None):
    """The whole encoder, as a list of examples of paragraphs."""
    settings = model.settings
    kinds = getattr(settings, "layers", "L" * len(model.encoder.layers))
    x = embedded(source.id_N, model)
    examples = []
    for paragraphs in paragraphs_of(x, source):
        with_rank = getattr(settings, "paragraph_position", False)
        examples.append([
            torch.stack([
                row + positions(rank, place, settings.width, with_rank)
                for place, row in enumerate(rows)
            ])
            for rank, rows in enumerate(paragraphs)
        ])  # fmt: skip
    for kind, layer in zip(kinds, model.encoder.layers, strict=True):
        for e, paragraphs in enumerate(examples):
            if kind == "L":
                examples[e] = [local_layer(p, layer) for p in paragraphs]
            else:
                graph = None if graphs is None else torch.tensor(graphs[e])
                examples[e] = global_layer(paragraphs, layer, settings, graph)
    if settings.pre_norm:
        examples = [[norm(p, model.encoder_norm) for p in e] for e in examples]
    return examples


def decode(model, target, memory, attentions=None):
    """Logits [S, V] of one target (ids with the begin) over its memory [L, W].

    Each layer's attention to the memory is added to `attentions`.
    """
    x = embedded(target, model)
    width = model.settings.width
    x = torch.stack([row + positions(0, i, width, False) for i, row in enumerate(x)])
    for layer in model.decoder:

        def look_back(h, layer=layer):
            return attention(h, h, layer.self_attention, lambda i, j: j <= i)

        def look_at_source(h, layer=layer):
            return attention(h, memory, layer.cross_attention, lambda i, j: True, attentions)

        x = residual(x, look_back, layer.to_self)
        x = residual(x, look_at_source, layer.to_cross)
        x = residual(x, lambda h, ff=layer.feedforward: feedforward(h, ff), layer.to_feedforward)
    if model.settings.pre_norm:
        x = norm(x, model.decoder_norm)
    bias = 0 if model.output_bias is None else model.output_bias
    return F.linear(x, model.embedding.weight) + bias
