"""Summaries drawn token by token, with a temperature, from the most likely tokens only.

Letters: B examples, V vocabulary, S tokens so far including BEGIN.
"""

import torch
from torch import Tensor

from wikisum.models.decoding.blocking import Blocker
from wikisum.models.decoding.headings import HeadingRule
from wikisum.models.decoding.hypothesis import Hypothesis
from wikisum.models.decoding.priming import Primer
from wikisum.models.network.packing import Source
from wikisum.models.network.spec import SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import BEGIN, END, PAD


@torch.inference_mode()
def sample(
    model: SummaryModel,
    source: Source,
    settings: DecodingSettings,
    commas: frozenset[int] = frozenset(),
    first_draw: int = 0,
    headings: HeadingRule | None = None,
) -> list[Hypothesis]:
    """Return one summary drawn for each example; its score is the mean log-probability per token.

    The draws depend on the seed and on `first_draw`, the number of the first example.
    """
    batch, device = source.is_source_BL.shape[0], source.id_N.device
    state = model.start(model.encode(source), 1, settings.max_tokens + 1)
    blocker = Blocker(settings, commas, device, headings, model.writes)
    primer = Primer.of(source, settings)
    generator = torch.Generator(device).manual_seed(settings.seed * 1_000_003 + first_draw)
    token_BS = torch.full((batch, 1), BEGIN, device=device)
    log_B = torch.zeros(batch, device=device)
    is_open_B = torch.ones(batch, dtype=torch.bool, device=device)
    for step in range(settings.max_tokens + 1):
        logits_B1V = model.step(token_BS[:, -1:], state).float()
        log_B1V = blocker.blocked(logits_B1V.log_softmax(-1), token_BS[:, None])
        log_BV = primer.primed(log_B1V, step)[:, 0]
        drawn_B1 = likely(log_BV, settings).multinomial(1, generator=generator)
        log_B += torch.where(is_open_B, log_BV.gather(1, drawn_B1)[:, 0], 0.0)
        drawn_B1 = drawn_B1.masked_fill(~is_open_B[:, None], PAD)
        token_BS = torch.cat([token_BS, drawn_B1], 1)
        is_open_B &= drawn_B1[:, 0] != END
        if not is_open_B.any():
            break
    rows = [[t for t in row if t not in (PAD, END)] for row in token_BS[:, 1:].tolist()]
    logs = log_B.tolist()
    return [Hypothesis(row, log, log / (len(row) + 1)) for row, log in zip(rows, logs, strict=True)]


def likely(log_BV: Tensor, settings: DecodingSettings) -> Tensor:
    """Return the probabilities to draw from, [B, V]: tempered, cut to `top_k`, then to `top_p`."""
    log_BV = log_BV / settings.temperature
    order_log_BV, order_BV = log_BV.sort(descending=True, stable=True)
    probability_BV = order_log_BV.softmax(-1)
    before_BV = probability_BV.cumsum(-1) - probability_BV
    is_out_BV = before_BV >= settings.top_p
    if settings.top_k:
        is_out_BV[:, settings.top_k :] = True
    kept_BV = probability_BV.masked_fill(is_out_BV, 0.0)
    return torch.zeros_like(kept_BV).scatter(1, order_BV, kept_BV)
