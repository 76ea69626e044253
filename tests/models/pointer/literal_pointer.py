"""Pointer-generators as the papers write them: one example, token and source position at a time."""

import math

import torch

SHIFT = 2


def lstm_step(x, h, c, w_x, w_h, b_x, b_h):
    i, f, g, o = (w_x @ x + w_h @ h + b_x + b_h).chunk(4)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def parts(lstm, suffix):
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(lstm, name + suffix) for name in names]


def direction(rows, lstm, suffix):
    h = c = torch.zeros(lstm.hidden_size)
    found = []
    for x in rows:
        h, c = lstm_step(x, h, c, *parts(lstm, suffix))
        found.append(h)
    return found, h, c


def vector(model, token):
    return model.embedding.weight[token if token < model.settings.vocab_size else 1]


def encode(model, ids):
    """(outputs, last hidden, last cell), forward and backward side by side."""
    rows, lstm = [vector(model, i) for i in ids], model.encoder.lstm
    forth, h1, c1 = direction(rows, lstm, "_l0")
    back, h2, c2 = direction(rows[::-1], lstm, "_l0_reverse")
    outputs = [torch.cat(pair) for pair in zip(forth, back[::-1], strict=True)]
    return outputs, torch.cat([h1, h2]), torch.cat([c1, c2])


def window_range(model, length, window):
    settings = model.settings
    if settings.windows == "none":
        return range(length)
    first = window * settings.window_stride
    return range(first, min(first + settings.window_tokens, length))


def windows(model, length, target):
    """The window of each step."""
    settings = model.settings
    size, stride = settings.window_tokens, settings.window_stride
    count = 1 if length <= size else math.ceil((length - size) / stride) + 1
    if settings.windows == "none":
        return [0] * len(target), 0
    if settings.windows == "dynamic":
        now, found = -1, []
        for token in target:
            now = min(now + (token == SHIFT), count - 1)
            found.append(now)
        return found, count - 1
    weights = [math.exp(-settings.window_k * (1 + i * settings.window_d**i)) for i in range(count)]
    if length > size:
        rest = (length - size) % stride
        weights[-1] *= (rest or stride) / stride
    expected = math.floor(length * settings.summary_share)
    total, shifts = 0.0, []
    for weight in weights[:-1]:
        total += weight / sum(weights)
        shifts.append(math.floor(total * expected))
    return [sum(shift <= t for shift in shifts) for t in range(len(target))], count - 1


def decode(model, ids, target):
    """(distributions over the extended vocabulary, attention, coverage losses) of each step."""
    settings, dec = model.settings, model.decoder
    outputs, h, c = encode(model, ids)
    is_luong = settings.attention == "luong"
    if not is_luong:
        h = torch.relu(dec.reduce_hidden.weight @ h + dec.reduce_hidden.bias)
        c = torch.relu(dec.reduce_cell.weight @ c + dec.reduce_cell.bias)
    context = torch.zeros(2 * settings.width)
    covered = torch.zeros(len(ids))
    size = max([settings.vocab_size, *(i + 1 for i in ids)])
    found, attentions, losses = [], [], []
    steps, last = windows(model, len(ids), target)
    for token, window in zip(target, steps, strict=True):
        y = vector(model, token)
        if is_luong:
            x = y
            h, c = lstm_step(x, h, c, *parts(dec.lstm, "_l0"))
        else:
            x = dec.merge.weight @ torch.cat([y, context]) + dec.merge.bias
            h, c = lstm_step(x, h, c, *parts(dec.cell, ""))
        state = torch.cat([c, h])
        seen = window_range(model, len(ids), window)
        scores = []
        for i in seen:
            if is_luong:
                scores.append(outputs[i] @ h)
                continue
            e = dec.source.weight @ outputs[i] + dec.query.weight @ state + dec.query.bias
            if settings.coverage:
                e = e + dec.covered * covered[i]
            scores.append(dec.score.weight[0] @ torch.tanh(e))
        weights = torch.zeros(len(ids))
        weights[seen.start : seen.stop] = torch.stack(scores).softmax(0)
        context = sum(w * m for w, m in zip(weights, outputs, strict=True))
        losses.append(torch.minimum(weights, covered).sum())
        covered = covered + weights
        if is_luong:
            e = dec.output.weight @ torch.cat([context, h]) + dec.output.bias
            logits = torch.stack([row @ e for row in model.embedding.weight])
        else:
            e = dec.output.weight @ torch.cat([h, context]) + dec.output.bias
            logits = model.output.weight @ e + model.output.bias
        if settings.windows == "dynamic" and window == last:
            logits = logits.clone()
            logits[SHIFT] = -math.inf
        p = torch.zeros(size)
        p[: settings.vocab_size] = logits.softmax(0)
        if settings.pointer:
            gate = [context, h, y] if is_luong else [context, c, h, x]
            generate = torch.sigmoid(dec.generate.weight[0] @ torch.cat(gate) + dec.generate.bias)
            p = generate * p
            for i, word in enumerate(ids):
                p[word] = p[word] + ((1 - generate) * weights[i])[0]
        found.append(p)
        attentions.append(weights)
    return torch.stack(found), torch.stack(attentions), torch.stack(losses)
