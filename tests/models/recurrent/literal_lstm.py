"""The LSTM with attention, one example, token and layer at a time."""

import math

import torch


def cell(x, h, c, w_x, w_h, bias):
    """One LSTM cell with gates in the order input, forget, new, output."""
    i, f, g, o = (w_x @ x + w_h @ h + bias).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def run(rows, lstm, layer, suffix=""):
    """Outputs and last state of one layer and direction over a list of vectors."""
    parts = [getattr(lstm, f"{name}_l{layer}{suffix}") for name in ("weight_ih", "weight_hh")]
    bias = getattr(lstm, f"bias_ih_l{layer}{suffix}") + getattr(lstm, f"bias_hh_l{layer}{suffix}")
    h = c = torch.zeros(lstm.hidden_size)
    found = []
    for x in rows:
        h, c = cell(x, h, c, *parts, bias)
        found.append(h)
    return found, h, c


def encode(model, ids):
    """(outputs in the source's order, states of each layer)."""
    settings, encoder = model.settings, model.encoder
    rows = [model.source_embedding.weight[i] * math.sqrt(settings.embedding) for i in ids]
    states = []
    if not settings.bidirectional:
        rows = rows[::-1]
        for layer in range(settings.layers):
            rows, h, c = run(rows, encoder.lstm, layer)
            states.append((h, c))
        return rows[::-1], states
    for layer in range(settings.layers):
        forth, h1, c1 = run(rows, encoder.lstm, layer)
        back, h2, c2 = run(rows[::-1], encoder.lstm, layer, "_reverse")
        rows = [torch.cat(pair) for pair in zip(forth, back[::-1], strict=True)]
        h, c = (
            bridge.weight @ torch.cat(pair) + bridge.bias
            for bridge, pair in zip(encoder.bridge, ((h1, h2), (c1, c2)), strict=True)
        )
        states.append((torch.tanh(h), c))
    return rows, states


def decode(model, source, target):
    """(logits [S, V], attention weights [S, L]) of one example."""
    settings, decoder = model.settings, model.decoder
    memory, states = encode(model, source)
    attention = torch.zeros(settings.width)
    logits, seen = [], []
    for token in target:
        x = model.target_embedding.weight[token] * math.sqrt(settings.embedding)
        x = torch.cat([x, attention])
        for i, (layer, (h, c)) in enumerate(zip(decoder.cells, states, strict=True)):
            w_x, w_h = layer.weight[:, : len(x)], layer.weight[:, len(x) :]
            states[i] = cell(x, h, c, w_x, w_h, layer.bias)
            x = states[i][0]
        scores = [
            decoder.score.weight[0]
            @ torch.tanh(decoder.query.weight @ x + model.encoder.key.weight @ m)
            for m in memory
        ]
        weights = torch.stack(scores).softmax(0)
        context = sum(w * m for w, m in zip(weights, memory, strict=True))
        attention = decoder.mix.weight @ torch.cat([x, context])
        logits.append(model.output @ attention)
        seen.append(weights)
    return torch.stack(logits), torch.stack(seen)
