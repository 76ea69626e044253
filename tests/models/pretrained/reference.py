"""What transformers computes itself."""

import torch

from wikisum.models.pretrained.frame import rows
from wikisum.models.pretrained.labels import model_ids
from wikisum.ranker.data.vocab import PAD


def own_loss(model, batch):
    """The loss as transformers computes it from labels, a mean over real labels."""
    frame = model.frame
    label_BS = model_ids(batch.label_BS, frame).masked_fill(batch.label_BS == PAD, -100)
    if model.network.config.is_encoder_decoder:
        read = rows(batch.source, frame)
        more = {"global_attention_mask": model.global_attention(read)} if model._has_global else {}
        start = torch.tensor(frame.start).expand(len(label_BS), -1)
        target = torch.cat([start, model_ids(batch.target_BS[:, 1:], frame)], 1)
        unlearned = torch.full((len(label_BS), len(frame.start) - 1), -100)
        return model.network(
            input_ids=read.id_BT, attention_mask=read.mask_BT, decoder_input_ids=target,
            labels=torch.cat([unlearned, label_BS], 1), **more,
        ).loss  # fmt: skip
    # one example at a time, without any padding
    read = rows(batch.source, frame)
    total = 0.0
    for id_T, mask_T, target, label in zip(
        read.id_BT, read.mask_BT, batch.target_BS, label_BS, strict=True
    ):
        prompt = id_T[mask_T.bool()]
        count = int((label != -100).sum())
        answer = model_ids(target[1:count], frame)
        ids = torch.cat([prompt, answer, torch.tensor([frame.end])])
        labels = torch.cat([torch.full_like(prompt, -100), ids[len(prompt) :]])
        total = total + model.network(input_ids=ids[None], labels=labels[None]).loss * count
    return total / batch.labels


def generated(model, batch, beams, max_tokens):
    """What `generate` of transformers writes: tokens in our ids, without the end."""
    frame, network = model.frame, model.network
    read = rows(batch.source, frame, is_left=not network.config.is_encoder_decoder)
    more = {}
    if network.config.is_encoder_decoder:
        more["decoder_input_ids"] = torch.tensor(frame.start).expand(len(read.id_BT), -1)
        if model._has_global:
            more["global_attention_mask"] = model.global_attention(read)
    found = network.generate(
        input_ids=read.id_BT, attention_mask=read.mask_BT, num_beams=beams, do_sample=False,
        max_new_tokens=max_tokens, eos_token_id=frame.end, pad_token_id=frame.pad,
        early_stopping=False, length_penalty=1.0, use_cache=True, forced_bos_token_id=None,
        forced_eos_token_id=None, no_repeat_ngram_size=0, **more,
    )  # fmt: skip
    first = len(frame.start) if network.config.is_encoder_decoder else read.id_BT.shape[1]
    written = []
    for row in found[:, first:].tolist():
        end = row.index(frame.end) if frame.end in row else len(row)
        written.append([token + 6 for token in row[:end]])
    return written
