"""A network with one hidden layer: how it is trained, and the form in which it is stored."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

HIDDEN = 32
LEARNING_RATE = 2e-3
DROPOUT = 0.2
MIN_SCALE = 0.1  # so that features that few rows have do not weigh more than common ones


class HiddenLayer(NamedTuple):
    """A trained network for plain inputs.

    `weights` has the shape (hidden units, features), `bias` and `output` that of the hidden units.
    """

    bias: np.ndarray
    weights: np.ndarray
    output: np.ndarray
    output_bias: float


def fit(
    inputs: np.ndarray,
    labels: np.ndarray,
    weights: np.ndarray,
    *,
    epochs: int,
    batch_rows: int,
    weight_decay: float,
) -> HiddenLayer:
    """Return a network trained on standardized inputs, with mean and scale in its weights.

    `inputs` has the shape (rows, features); `labels` and `weights` have a value for each row.
    """
    mean, scale = inputs.mean(axis=0), np.maximum(inputs.std(axis=0), MIN_SCALE)
    net = _train(
        torch.from_numpy((inputs - mean) / scale).float(),
        torch.from_numpy(labels).float(),
        torch.from_numpy(weights / weights.mean()).float(),
        epochs,
        batch_rows,
        weight_decay,
    )
    hidden, output = net[0], net[-1]
    by_input = hidden.weight.detach().numpy() / scale
    bias = hidden.bias.detach().numpy() - by_input @ mean
    return HiddenLayer(bias, by_input, output.weight.detach().numpy()[0], output.bias.item())


def _train(
    inputs: torch.Tensor,
    labels: torch.Tensor,
    weights: torch.Tensor,
    epochs: int,
    batch_rows: int,
    weight_decay: float,
) -> torch.nn.Sequential:
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Dropout(DROPOUT),
        torch.nn.Linear(HIDDEN, 1),
    )
    optimizer = torch.optim.AdamW(net.parameters(), LEARNING_RATE, weight_decay=weight_decay)
    steps = epochs * -(-len(inputs) // batch_rows)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=steps)
    loss_of = torch.nn.BCEWithLogitsLoss(reduction="none")
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs)).split(batch_rows):
            loss = (loss_of(net(inputs[rows])[:, 0], labels[rows]) * weights[rows]).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    return net


def to_json(
    network: HiddenLayer,
    names: Sequence[str],
    threshold: float,
    training: Mapping[str, Any] | None = None,
) -> str:
    """Return the stored form of a network: for each feature its weights to the hidden units."""
    lines = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(_rounded(row))}"
        for name, row in zip(names, network.weights.T, strict=True)
    )
    return (
        f'{{\n "training": {json.dumps(training)},\n "threshold": {round(threshold, 4)},\n'
        f' "bias": {json.dumps(_rounded(network.bias))},\n'
        f' "output": {json.dumps(_rounded(network.output))},\n'
        f' "output_bias": {round(network.output_bias, 4)},\n "weights": {{\n{lines}\n }}\n}}\n'
    )


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
