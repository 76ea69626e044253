"""A trained summarizer at work: shards or one's own paragraphs in, summaries out."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sentencepiece
import torch
from torch import Tensor

from wikisum.graphs.adjacency import adjacency
from wikisum.graphs.edges import Edges, permute
from wikisum.models.configs import SourceSettings
from wikisum.models.data.batches import Batch, SplitReader, collate
from wikisum.models.data.lengths import reader_key
from wikisum.models.data.plan import token_batches
from wikisum.models.data.sources import source_of
from wikisum.models.decoding.beam import beam_search
from wikisum.models.decoding.sampling import sample
from wikisum.models.decoding.settings import Found, SearchSettings
from wikisum.models.decoding.summary_files import ReadParagraph, Summary
from wikisum.models.network.packing import Source, gathered
from wikisum.models.network.summarizer import Memory, Summarizer
from wikisum.models.training.checkpoints import Chosen, choose, vocab_path
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.shards import read_group
from wikisum.ranker.data.vocab import END, END_OF_PARAGRAPH, PAD
from wikisum.ranker.runs.checkpoints import load_vocab

COMMAS = (",", "▁,")
CHUNK_ROWS = 64  # sorted by length together, and written at once
_COLUMNS = ("id", "title", "lead", "paragraphs.text", "paragraphs.document", "documents.url")


class Loaded(NamedTuple):
    """A summarizer ready to write: `commas` are the subwords that are one."""

    model: Summarizer
    processor: sentencepiece.SentencePieceProcessor
    chosen: Chosen
    commas: frozenset[int]
    device: torch.device


class Written(NamedTuple):
    """A summary, its search's figures, the lead's under the model, and what was attended to.

    `attention` has the share of each paragraph in the attention of all its tokens (the mean of
    layers and heads), in 0..1, the title's counted to the first.
    """

    text: str
    found: Found
    lead_log_probability: float
    lead_tokens: int
    attention: list[float]


def load(run: Path, checkpoint: str, device: torch.device, precision: str = "auto") -> Loaded:
    """The weights of a run, on a device; in bf16 on a GPU unless `precision` is `fp32`.

    Raises FileNotFoundError for what is not there, ValueError for a wrong checkpoint name.
    """
    chosen = choose(run, checkpoint)
    processor = load_vocab(vocab_path(run))
    model = Summarizer(chosen.settings.model)
    model.load_state_dict(chosen.weights)
    is_half = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    model = model.to(device, torch.bfloat16 if is_half else torch.float32).eval()
    ids = [processor.piece_to_id(piece) for piece in COMMAS]
    commas = frozenset(i for i in ids if i != processor.unk_id())
    return Loaded(model, processor, chosen, commas, device)


@torch.inference_mode()
def summaries(loaded: Loaded, batch: Batch, search: SearchSettings) -> list[Written]:
    """A summary for each example of a batch."""
    model = loaded.model
    batch = batch.to(loaded.device)
    if search.sample:
        first = int(batch.example_B[0])
        found = sample(model, batch.source, search, loaded.commas, first)
    else:
        found = beam_search(model, batch.source, search, loaded.commas)
    memory = model.encode(batch.source)
    log_B = _lead_log_probabilities(model, batch, memory).tolist()
    attention = _attention(model, batch, memory, [f.tokens for f in found])
    tokens = (batch.label_BS != PAD).sum(1).tolist()
    texts = [loaded.processor.decode(f.tokens) for f in found]
    return [Written(*row) for row in zip(texts, found, log_B, tokens, attention, strict=True)]


def _lead_log_probabilities(model: Summarizer, batch: Batch, memory: Memory) -> Tensor:
    """[B] nats of the lead and its end; the logits of one example at a time stand in memory."""
    decoded_BSW = model.decode(batch.target_BS, memory)
    found = []
    for decoded_SW, label_S in zip(decoded_BSW, batch.label_BS, strict=True):
        is_label_S = label_S != PAD
        log_YV = model.logits(decoded_SW[is_label_S]).float().log_softmax(-1)
        found.append(log_YV.gather(-1, label_S[is_label_S][:, None]).sum())
    return torch.stack(found)


def _attention(
    model: Summarizer, batch: Batch, memory: Memory, tokens: Sequence[Sequence[int]]
) -> list[list[float]]:
    """For each example the share of its paragraphs."""
    # the target side of a batch that reads what was written
    written = collate([[np.zeros(1, np.uint16)]] * len(tokens), [np.array(t) for t in tokens], [])
    target_BS = written.target_BS.to(batch.target_BS.device)
    is_step_BS1 = (written.label_BS != PAD).to(target_BS.device)[..., None]
    weight_BSL = model.source_weights(target_BS, memory).float()
    share_BL = (weight_BSL * is_step_BS1).sum(1) / is_step_BS1.sum(1)
    source = batch.source
    share_N = gathered(share_BL[..., None], source.slot_in_example_N)[:, 0].double().cpu()
    is_flat = model.settings.model == "ft"
    paragraph_N = (_between_separators(source) if is_flat else source.rank_N).cpu()
    example_N = (source.slot_in_example_N // share_BL.shape[1]).cpu()
    found = []
    for example in range(len(tokens)):
        mine = example_N == example
        found.append(torch.bincount(paragraph_N[mine], share_N[mine]).tolist())
    return found


def _between_separators(source: Source) -> Tensor:
    """[N] the rank of each token's paragraph in a flat source; the end goes with the last."""
    is_separator_N = (source.id_N == END_OF_PARAGRAPH).long()
    before_N = is_separator_N.cumsum(0) - is_separator_N
    rank_N = before_N - before_N[source.position_N == 0][source.paragraph_N]
    return torch.where(source.id_N == END, rank_N.roll(1), rank_N)


class Job(NamedTuple):
    """A split to summarise, and how."""

    reader: SplitReader
    search: SearchSettings
    batch_tokens: int


def split_rows(loaded: Loaded, job: Job, first_group: int = 0) -> Iterator[Summary]:
    """The rows of a split in its order, from a row group on."""
    first = sum(group.rows for group in job.reader.groups[:first_group])
    settings = _told_settings(loaded, job.reader.source, job.search)
    for index, group in enumerate(job.reader.groups[first_group:], first_group):
        texts = read_group(group, _COLUMNS).to_pylist()
        lengths = job.reader.lengths_of(index).source
        for start in range(0, group.rows, CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            numbers = first + np.arange(group.rows)[chunk]
            written = _written(loaded, job, numbers, lengths[chunk])
            for example, one in zip(texts[chunk], written, strict=True):
                yield _row(loaded, settings, example, one)
        first += group.rows


def _written(loaded: Loaded, job: Job, numbers: Ints, lengths: Ints) -> list[Written]:
    """Summaries of examples of these lengths, in batches of like length, in their order."""
    order = lengths.argsort(kind="stable")
    found: dict[int, Written] = {}
    for cut in token_batches(lengths[order], job.batch_tokens):
        places = order[cut]
        batch = job.reader.batch(numbers[places])
        found |= zip(places.tolist(), summaries(loaded, batch, job.search), strict=True)
    return [found[place] for place in range(len(numbers))]


def _told_settings(
    loaded: Loaded, source: SourceSettings, search: SearchSettings
) -> dict[str, Any]:
    """What a row tells of how it was made."""
    return {"checkpoint": loaded.chosen.name, **asdict(source), **asdict(search)}


def _row(
    loaded: Loaded, settings: dict[str, Any], example: dict[str, Any], written: Written
) -> Summary:
    urls = [document["url"] for document in example["documents"]]
    read = zip(example["paragraphs"], written.attention, strict=False)
    return Summary(
        example["id"],
        example["title"],
        example["lead"],
        written.text,
        score=written.found.score,
        log_prob=written.found.log_probability,
        tokens=len(written.found.tokens) + 1,
        lead_tokens=written.lead_tokens,
        lead_log_prob=written.lead_log_probability,
        model=loaded.chosen.settings.model.model,
        run=loaded.chosen.fingerprint,
        settings=settings,
        paragraphs=tuple(ReadParagraph(p["text"], urls[p["document"]], a) for p, a in read),
    )


def own_summary(
    loaded: Loaded,
    example: dict[str, Any],
    source: SourceSettings,
    search: SearchSettings,
    edges: Edges | None = None,
) -> Summary:
    """The row of an example of one's own, which has no lead and its best paragraphs first.

    `example` is a row of shards: id, title, paragraphs (text, document), documents (url). `edges`
    among its paragraphs are for models that have a graph head.
    Raises ValueError if there is no paragraph, or no edges where they are needed.
    """  # fmt: skip
    texts, settings = [p["text"] for p in example["paragraphs"]], loaded.model.settings
    if not texts:
        raise ValueError(f"no paragraph to summarise for {example['title']!r}")
    if settings.graph != "none" and edges is None:
        raise ValueError(f"the model follows the {settings.graph} graph: none was given")
    encoded = loaded.processor.encode([example["title"], *texts])
    title, *paragraphs = (np.array(ids, np.uint16) for ids in encoded)
    read = source_of(title, paragraphs, settings.model, source)
    graphs = None
    if settings.graph != "none" and edges is not None:
        graphs = [adjacency(permute(edges, range(len(read))), len(read))]
    batch = collate([read], [np.zeros(0, np.uint16)], [0], graphs)
    told = _told_settings(loaded, source, search)
    row = _row(loaded, told, {**example, "lead": ""}, summaries(loaded, batch, search)[0])
    return row._replace(lead_tokens=None, lead_log_prob=None)


def job_key(loaded: Loaded, job: Job) -> str:
    """Stands for all that decides the rows; 8 hex digits."""
    settings = _told_settings(loaded, job.reader.source, job.search)
    precision = str(loaded.model.embedding.weight.dtype)
    about = [loaded.chosen.fingerprint, settings, precision, job.batch_tokens]
    about.append(reader_key(job.reader))
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:8]
