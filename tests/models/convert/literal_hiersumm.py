"""The forward pass of hiersumm over its own state dictionary, one example without padding.

Written from its behavior, a loop at a time: token position before paragraph rank, normalization
before each sublayer, one set of projections between paragraphs for all heads.
"""

import math

import torch


def linear(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def norm(x, weights, name):
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + 1e-6).sqrt()
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def feedforward(x, weights, name):
    inner = linear(norm(x, weights, f"{name}.layer_norm"), weights, f"{name}.w_1").relu()
    return x + linear(inner, weights, f"{name}.w_2")


def attention(x, memory, weights, name, heads, causal=False):
    query, key, value = (
        linear(side, weights, f"{name}.linear_{part}")
        for side, part in ((x, "query"), (memory, "keys"), (memory, "values"))
    )
    width = x.shape[-1] // heads
    found = []
    for head in range(heads):
        q, k, v = (side[:, head * width : (head + 1) * width] for side in (query, key, value))
        scores = q @ k.T / math.sqrt(width)
        if causal:
            scores = scores.masked_fill(torch.ones_like(scores).triu(1) > 0, -1e18)
        found.append(scores.softmax(-1) @ v)
    context = torch.cat(found, -1)
    has_final = f"{name}.final_linear.weight" in weights
    return linear(context, weights, f"{name}.final_linear") if has_final else context


def sinusoid(position, width):
    values = []
    for i in range(0, width, 2):
        angle = position * math.exp(-i * math.log(10_000) / width)
        values += [math.sin(angle), math.cos(angle)]
    return torch.tensor(values)


def embedded(ids, table, positions):
    return table[ids] * math.sqrt(table.shape[1]) + torch.stack(positions)


def local_layer(x, weights, name, heads):
    normed = norm(x, weights, f"{name}.layer_norm")
    x = x + attention(normed, normed, weights, f"{name}.self_attn", heads)
    return feedforward(x, weights, f"{name}.feed_forward")


def inter_layer(paragraphs, weights, name, heads):
    pooled = []
    for x in paragraphs:
        normed = norm(x, weights, f"{name}.layer_norm1")
        share_TZ = linear(normed, weights, f"{name}.pooling.linear_keys").softmax(0)
        value_TZD = linear(normed, weights, f"{name}.pooling.linear_values").view(len(x), heads, -1)
        pooled.append((share_TZ[..., None] * value_TZD).sum(0))
    head_PZD = norm(torch.stack(pooled), weights, f"{name}.layer_norm2")
    context_PW = torch.cat([
        attention(one, one, weights, f"{name}.inter_att", 1) for one in head_PZD.unbind(1)
    ], -1)  # fmt: skip
    context_PW = linear(context_PW, weights, f"{name}.linear")
    return [
        feedforward(x + context, weights, f"{name}.feed_forward")
        for x, context in zip(paragraphs, context_PW, strict=True)
    ]


def log_probabilities(weights, source, target, heads, inter_heads):
    """Log-probabilities [S, V] after each id of a target, given the source's paragraphs of ids."""
    table = weights["encoder.embeddings.weight"]
    width = table.shape[1]
    paragraphs = [
        embedded(ids, table, [
            torch.cat([sinusoid(place, width // 2), sinusoid(rank, width // 2)])
            for place in range(len(ids))
        ])
        for rank, ids in enumerate(source)
    ]  # fmt: skip
    number = 0
    while f"encoder.transformer_layers.{number}.feed_forward.w_1.weight" in weights:
        name = f"encoder.transformer_layers.{number}"
        if f"{name}.pooling.linear_keys.weight" in weights:
            paragraphs = inter_layer(paragraphs, weights, name, inter_heads)
        else:
            paragraphs = [local_layer(x, weights, name, heads) for x in paragraphs]
        number += 1
    memory = norm(torch.cat(paragraphs), weights, "encoder.layer_norm")
    x = embedded(target, weights["decoder.embeddings.weight"],
                 [sinusoid(place, width) for place in range(len(target))])  # fmt: skip
    number = 0
    while f"decoder.transformer_layers.{number}.feed_forward.w_1.weight" in weights:
        name = f"decoder.transformer_layers.{number}"
        normed = norm(x, weights, f"{name}.layer_norm_1")
        x = x + attention(normed, normed, weights, f"{name}.self_attn", heads, causal=True)
        normed = norm(x, weights, f"{name}.layer_norm_2")
        x = x + attention(normed, memory, weights, f"{name}.context_attn", heads)
        x = feedforward(x, weights, f"{name}.feed_forward")
        number += 1
    return linear(norm(x, weights, "decoder.layer_norm"), weights, "generator.0").log_softmax(-1)
