"""A trained summarizer: shards, or a title and paragraphs, in; summaries out.

summarizer = load_run(Path("run"))
row = summarizer.summarize("Ada Lovelace", ["Ada Lovelace was ...", "The engine ..."])
print(row.summary)
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from wikisum.graphs.adjacency import adjacency
from wikisum.graphs.discourse import discourse_graph
from wikisum.graphs.edges import Edges, permute
from wikisum.graphs.similarity import similarity_graph
from wikisum.models.data.batches import collate
from wikisum.models.decoding.beam import beam_search_n_best
from wikisum.models.decoding.headings import AnyHeadings, GivenHeadings, HeadingRule
from wikisum.models.decoding.hypothesis import Hypothesis
from wikisum.models.decoding.sampling import sample
from wikisum.models.decoding.summary_files import Candidate, ReadParagraph, Summary, article_text
from wikisum.models.network.packing import Batch, Source
from wikisum.models.network.spec import ModelSpec, SummaryModel
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import ARTICLE, RunSettings, SourceSettings
from wikisum.models.sources import SourceForm
from wikisum.models.table import build, spec_of
from wikisum.models.targets import Heading, heading_ids, split_article
from wikisum.models.training.checkpoints import ChosenWeights, choose
from wikisum.models.vocabulary.run_vocabulary import Vocabulary, vocabulary_of
from wikisum.pipeline.records import Section
from wikisum.ranker.data.ragged import Ints
from wikisum.ranker.data.vocab import PAD
from wikisum.ranker.rank import rank
from wikisum.ranker.runs.checkpoints import check_weights, device_of, load_vocab
from wikisum.ranker.runs.files import VOCAB
from wikisum.ranker.runs.remote import local_copy


class SummaryResult(NamedTuple):
    """What was written for an example, the log-probability of its target, and the attention.

    `sections` is None where leads are written. `attention` is the share of each paragraph in the
    attention of all tokens of the summary, in 0..1, the title counted with the first paragraph;
    empty if the model has no such attention. `n_best` is None where one hypothesis was asked for.
    """

    sections: tuple[Section, ...] | None
    hypothesis: Hypothesis
    target_log_probability: float
    target_tokens: int
    attention: list[float]
    n_best: list[Hypothesis] | None = None


class Summarizer(NamedTuple):
    """A trained model, ready to decode; `commas` are the ids of tokens that are a comma."""

    model: SummaryModel
    vocabulary: Vocabulary
    chosen: ChosenWeights
    commas: frozenset[int]
    device: torch.device

    @property
    def settings(self) -> RunSettings:
        """The settings of the training run."""
        return self.chosen.settings

    @property
    def spec(self) -> ModelSpec:
        """The spec of the model."""
        return spec_of(self.settings.model)

    def summarize(
        self,
        title: str,
        paragraphs: Sequence[str],
        decoding: DecodingSettings | None = None,
        ranking: str = "tfidf",
        headings: Sequence[Heading] | None = None,
    ) -> Summary:
        """Return the summary of some paragraphs of one text about a title.

        They are ranked first by a method of `ranker.rank` (`identity` keeps their order). A model
        that writes whole articles writes sections with these `headings`, or chooses its own.
        Raises ValueError if there is no paragraph.
        """
        order = rank(ranking, title, paragraphs)
        example = {
            "id": title,
            "title": title,
            "paragraphs": [
                {"text": paragraphs[i], "document": 0, "position": i} for i in order
            ],
            "documents": [{"url": None}],
        }  # fmt: skip
        edges = paragraph_graph(self, example["paragraphs"])  # type: ignore[arg-type]
        settings = self.settings
        return own_summary(
            self, example, settings.source, decoding or settings.decoding, edges, headings
        )


def load_run(
    run: Path | str, checkpoint: str = "best", device: torch.device | str = "auto",
    precision: str = "auto",
) -> Summarizer:  # fmt: skip
    """Load a trained summarizer; in bf16 on a GPU unless `precision` is `fp32`.

    `run` is a folder, or the URL of one in a store. `checkpoint` is `best`, `last`, `average` or a
    step. Raises FileNotFoundError if the folder holds no such run, ValueError for a wrong
    checkpoint name.
    """
    device = device_of(device) if isinstance(device, str) else device
    with local_copy(run) as folder:
        chosen = choose(folder, checkpoint)
        model = build(chosen.settings.model, folder)
        check_weights(folder, model, chosen.weights)
        reads_text = spec_of(chosen.settings.model).reads_text(chosen.settings.model)
        vocabulary = vocabulary_of(folder, reads_text, load_vocab(folder / VOCAB))
    model.load_state_dict(chosen.weights)
    is_half = precision == "bf16" or (precision == "auto" and device.type == "cuda")
    model = model.to(device, torch.bfloat16 if is_half else torch.float32).eval()
    return Summarizer(model, vocabulary, chosen, vocabulary.ids([","]), device)


@torch.inference_mode()
def summaries(
    summarizer: Summarizer,
    batch: Batch,
    decoding: DecodingSettings,
    headings: HeadingRule | None = None,
) -> list[SummaryResult]:
    """Return a summary for each example of a batch: a whole article if there is a heading rule."""
    model = summarizer.model
    batch = batch.to(summarizer.device)
    if decoding.sample:
        first = int(batch.example_B[0])
        drawn = sample(model, batch.source, decoding, summarizer.commas, first, headings)
        n_best = [[hypothesis] for hypothesis in drawn]
    else:
        n_best = beam_search_n_best(model, batch.source, decoding, summarizer.commas, headings)
    hypotheses = [found[0] for found in n_best]
    asked = n_best if decoding.n_best > 1 else [None] * len(n_best)
    memory = model.encode(batch.source)
    log_B = target_log_probabilities(model, batch, memory).tolist()
    attention = _attention(summarizer, batch, memory, [h.tokens for h in hypotheses])
    tokens = (batch.label_BS != PAD).sum(1).tolist()
    sections = [
        None if headings is None else written_sections(summarizer.vocabulary, h.tokens)
        for h in hypotheses
    ]
    return [
        SummaryResult(*row)
        for row in zip(sections, hypotheses, log_B, tokens, attention, asked, strict=True)
    ]


def written_sections(vocabulary: Vocabulary, tokens: Sequence[int]) -> tuple[Section, ...]:
    """Return the sections that a model wrote."""

    def text(ids: Sequence[int]) -> str:
        return vocabulary.decode(ids, "", ())

    _, sections = split_article(tokens)
    return tuple(Section(text(s.title), s.level, text(s.text)) for s in sections)


def with_headings(result: SummaryResult, headings: Sequence[Heading]) -> SummaryResult:
    """Return the result with given headings as they were given.

    The vocabulary may lack some of their characters.
    """
    pairs = zip(result.sections or (), headings, strict=True)
    return result._replace(sections=tuple(s._replace(title=h.title) for s, h in pairs))


def encode_headings(summarizer: Summarizer, headings: Sequence[Heading]) -> list[list[int]]:
    """Return the tokens of each heading, with its marks."""
    titles = summarizer.vocabulary.encode_texts([h.title for h in headings])
    return [heading_ids(title, h.level) for title, h in zip(titles, headings, strict=True)]


def heading_rule(
    summarizer: Summarizer,
    target: str,
    decoding: DecodingSettings,
    headings: Sequence[Sequence[Heading]] | None,
) -> HeadingRule | None:
    """Return the rule for section headings, given those of each example or None for any.

    It is None for the target `lead`. Raises ValueError if the model has not learned the target, or
    for headings of leads.
    """
    if target != ARTICLE:
        if headings is not None:
            raise ValueError("--headings needs a run that was trained with --target article")
        return None
    if summarizer.settings.source.target != ARTICLE:
        raise ValueError("the run was trained on leads: --target article needs another")
    if headings is None:
        return AnyHeadings()
    ids = [encode_headings(summarizer, given) for given in headings]
    return GivenHeadings(ids, decoding.max_tokens, summarizer.device)


def target_log_probabilities(model: SummaryModel, batch: Batch, memory: Any) -> Tensor:
    """Return the log-probability of each target, its END included, [B], in nats."""
    log_Y = model.log_probabilities(batch, memory)
    example_Y = batch.label_slot_Y // batch.label_BS.shape[1]
    sums_B = torch.zeros(len(batch.label_BS), dtype=log_Y.dtype, device=log_Y.device)
    return sums_B.index_add_(0, example_Y, log_Y)


def _attention(
    summarizer: Summarizer, batch: Batch, memory: Any, tokens: Sequence[Sequence[int]]
) -> list[list[float]]:
    """Return the share of each paragraph in the attention, per example."""
    # a batch with what was written on the target side
    written = collate(
        [[np.zeros(1, np.uint16)]] * len(tokens), [np.array(t) for t in tokens], range(len(tokens))
    )
    written = written.to(summarizer.device)._replace(source=batch.source)
    weight_BSL = summarizer.model.source_attention(written, memory)
    if weight_BSL is None:
        return [[] for _ in tokens]
    is_step_BS1 = (written.label_BS != PAD)[..., None]
    share_BL = ((weight_BSL.float() * is_step_BS1).sum(1) / is_step_BS1.sum(1)).double().cpu()
    slot_N = batch.source.slot_in_example_N.cpu()
    share_N = share_BL.flatten().index_select(0, slot_N).numpy()
    example_N = (slot_N // share_BL.shape[1]).numpy()
    paragraph_N = token_paragraphs(summarizer.spec.source, batch.source)
    return [
        np.bincount(paragraph_N[example_N == e], share_N[example_N == e]).tolist()
        for e in range(len(tokens))
    ]


def token_paragraphs(form: SourceForm, source: Source) -> Ints:
    """Return the rank of the paragraph that each source token belongs to, [N]."""
    id_N, position_N, rank_N = (t.cpu().numpy() for t in source[:3])
    return rank_N if form.paragraphs is None else form.paragraphs(id_N, position_N, rank_N)


def row_settings(
    summarizer: Summarizer,
    source: SourceSettings,
    decoding: DecodingSettings,
    headings: Sequence[Heading] | str | None = None,
) -> dict[str, Any]:
    """Return the settings that a row names."""
    given = headings if isinstance(headings, str | None) else [h._asdict() for h in headings]
    extra = {} if given is None else {"headings": given}
    return {"checkpoint": summarizer.chosen.name, **asdict(source), **asdict(decoding), **extra}


def summary_row(
    summarizer: Summarizer, settings: dict[str, Any], example: dict[str, Any],
    result: SummaryResult,
) -> Summary:  # fmt: skip
    """Return the row of an example in a file of summaries."""
    urls = [document["url"] for document in example["documents"]]
    # without attention the paragraphs that were read are unknown: all are named
    attention: list[float | None] = [*result.attention] or [None] * len(example["paragraphs"])
    read = zip(example["paragraphs"], attention, strict=False)
    gold = example.get("sections")
    texts = [paragraph["text"] for paragraph in example["paragraphs"]]

    def written(tokens: Sequence[int]) -> str:
        return summarizer.vocabulary.decode(split_article(tokens)[0], example["title"], texts)

    def candidate(found: Hypothesis) -> Candidate:
        is_lead = result.sections is None
        sections = None if is_lead else written_sections(summarizer.vocabulary, found.tokens)
        text = article_text(written(found.tokens), sections)
        return Candidate(text, found.score, found.log_probability, len(found.tokens) + 1)

    return Summary(
        example["id"],
        example["title"],
        example["lead"],
        written(result.hypothesis.tokens),
        score=result.hypothesis.score,
        log_prob=result.hypothesis.log_probability,
        tokens=len(result.hypothesis.tokens) + 1,
        lead_tokens=result.target_tokens,
        lead_log_prob=result.target_log_probability,
        model=summarizer.spec.name,
        run=summarizer.chosen.fingerprint,
        settings=settings,
        paragraphs=tuple(ReadParagraph(p["text"], urls[p["document"]], a) for p, a in read),
        sections=result.sections,
        gold_sections=None if gold is None else tuple(Section(**section) for section in gold),
        n_best=None if result.n_best is None else tuple(map(candidate, result.n_best)),
    )


def paragraph_graph(summarizer: Summarizer, paragraphs: Sequence[dict[str, Any]]) -> Edges | None:
    """Return the graph that the model follows among ranked paragraphs; None if it follows none.

    `paragraphs` have `text`, `document` and `position`. Raises ImportError if the discourse graph
    is needed and no spaCy model is installed.
    """
    graph = summarizer.spec.graph(summarizer.settings.model)
    texts = [p["text"] for p in paragraphs]
    if graph == "similarity":
        return similarity_graph(texts)
    if graph == "discourse":
        documents = [p["document"] for p in paragraphs]
        return discourse_graph(texts, documents, [p["position"] for p in paragraphs])
    return None


def own_summary(
    summarizer: Summarizer,
    example: dict[str, Any],
    source: SourceSettings,
    decoding: DecodingSettings,
    edges: Edges | None = None,
    headings: Sequence[Heading] | None = None,
) -> Summary:
    """Return the row of an example without a lead, whose paragraphs are ranked, best first.

    `example` is like a row of shards: id, title, paragraphs (text, document), documents (url).
    `edges` among its paragraphs are for models that follow a graph, `headings` for those that write
    whole articles.
    Raises ValueError if there is no paragraph, or no edges where they are needed.
    """
    texts, spec = [p["text"] for p in example["paragraphs"]], summarizer.spec
    if not texts:
        raise ValueError(f"no paragraph to summarize for {example['title']!r}")
    graph = spec.graph(summarizer.settings.model)
    if graph != "none" and edges is None:
        raise ValueError(f"the model follows the {graph} graph, but no edges were given")
    title, paragraphs = summarizer.vocabulary.encode(example["title"], texts)
    read = spec.source.read(title, paragraphs, source)
    graphs = None
    if graph != "none" and edges is not None:
        graphs = [adjacency(permute(edges, range(len(read))), len(read))]
    batch = collate([read], [np.zeros(0, np.uint16)], [0], graphs)
    settings = row_settings(summarizer, source, decoding, headings)
    given = None if headings is None else [headings]
    rule = heading_rule(summarizer, source.target, decoding, given)
    result = summaries(summarizer, batch, decoding, rule)[0]
    if headings is not None:
        result = with_headings(result, headings)
    row = summary_row(summarizer, settings, {**example, "lead": ""}, result)
    return row._replace(lead_tokens=None, lead_log_prob=None)
