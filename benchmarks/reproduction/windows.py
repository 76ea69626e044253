"""Windows over long texts (Schüller et al. 2020, tables 1 and 2) on a learnable set.

Stan reads the first tokens of a text, as many as a window has; SWM and DWM read all of it in such
windows. In `spread` the facts of a lead stand at even distances, as the paper assumes of WikiHow;
in `start` they come first, as in news. Each model is trained with several seeds on the same texts
and writes summaries of texts that it has never seen. Then those trained on `spread` summarize texts
that are several times as long as any in training.

"""

import argparse
import dataclasses
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reproduction.compare import TEXT_METRICS, Row, compared, parts_of
from benchmarks.topics import TopicSettings, make_example, write_topics
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob, split_rows
from wikisum.models.decoding.summarize import Summarizer, load_run, own_summary
from wikisum.models.network.spec import ModelSpec
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings
from wikisum.models.table import preset, spec_of
from wikisum.models.training.checkpoints import prepare_run
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.rouge import rouge

SYSTEMS = {"Stan": "tiny-stan", "SWM": "tiny-swm", "DWM": "tiny-dwm"}
WINDOW, STRIDE, ALL_TOKENS = 75, 60, 200
FACTS, DISTRACTORS, VOCAB_SIZE = 3, 3, 500
ARTICLES, STEPS, WIDTH, PEAK_RATE = 1_500, 200, 64, 5e-3
# facts as dense as in training, and three times as rare
LONG = [TopicSettings(7, distractors, "spread", seed=1, filler=True) for distractors in (7, 35)]
DECODING = DecodingSettings(beam=1, max_tokens=60)


def windows(args: argparse.Namespace) -> Iterator[Row]:
    """Yield ROUGE of each model for both places of the facts, then facts found in long texts."""
    torch.set_num_threads(1)
    for place in ("spread", "start"):
        data = dataset(args.out, place, args.articles or ARTICLES)
        parts: dict[str, list[np.ndarray]] = {system: [] for system in SYSTEMS}
        seconds: dict[str, list[float]] = {system: [] for system in SYSTEMS}
        for seed in args.seeds:
            for system, name in SYSTEMS.items():
                run = args.out / f"{name}-{place}-{seed}"
                seconds[system].append(trained(data, run, name, seed, args.steps or STEPS))
                parts[system].append(parts_of(scores(load_run(run, "last", "cpu"), data)))
        for row in compared(parts, TEXT_METRICS, "Stan"):
            yield (
                {"facts": place} | row | {"training CPU s": float(np.mean(seconds[row["system"]]))}
            )
    for topics in LONG:
        yield from long_texts(args, topics)


def dataset(out: Path, place: str, articles: int) -> Path:
    """Return the folder of the learnable set, written if it is not there."""
    folder = out / f"data-windows-{place}"
    if not folder.exists():
        settings = TopicSettings(FACTS, DISTRACTORS, place, filler=True)
        write_topics(folder, articles, settings, VOCAB_SIZE)
    return folder


def run_settings(name: str, seed: int, steps: int, vocab_size: int) -> RunSettings:
    """Return the settings of a preset at the size of this comparison."""
    settings = preset(name)
    model = dataclasses.replace(
        settings.model, vocab_size=vocab_size, width=WIDTH, embedding=WIDTH,
        window_tokens=WINDOW, window_stride=STRIDE, window_k=0.0,
    )  # fmt: skip
    tokens = WINDOW if name == "tiny-stan" else ALL_TOKENS
    train = dataclasses.replace(
        settings.train, steps=steps, peak_learning_rate=PEAK_RATE, warmup_steps=20,
        validate_every=steps, log_every=steps, seed=seed,
        # 16 texts in a batch, whatever the model reads of them
        batch_tokens=16 * (WINDOW if name == "tiny-stan" else 160),
    )  # fmt: skip
    return RunSettings(model, SourceSettings(source_tokens=tokens, lead_tokens=50), train, DECODING)


def trained(data: Path, run: Path, name: str, seed: int, steps: int) -> float:
    """Train a preset unless its run is there; return the CPU seconds that it took."""
    seconds = run / "cpu_seconds"
    if not seconds.exists():
        start = time.process_time()
        vocab = find_vocab(str(data))
        vocabulary = Subwords(load_model(vocab, str(data)))
        settings = run_settings(name, seed, steps, load_model(vocab, str(data)).get_piece_size())
        shards = [split_shards(str(data), split) for split in ("train", "validation")]
        lengths = SplitReader(shards[0], settings.model, settings.source, vocabulary).lengths()
        spec: ModelSpec = spec_of(settings.model)
        model = spec.measure(settings.model, lengths.source, lengths.target)
        settings = dataclasses.replace(settings, model=model)
        readers = [SplitReader(s, model, settings.source, vocabulary) for s in shards]
        trainer = Trainer(run, settings, *readers)
        prepare_run(run, settings, vocab, str(data))
        trainer.fit(io.StringIO())
        seconds.write_text(str(time.process_time() - start))
    return float(seconds.read_text())


def scores(summarizer: Summarizer, data: Path) -> np.ndarray:
    """Return the F1 of each test text, [N, metrics]."""
    settings = summarizer.settings
    reader = SplitReader(
        split_shards(str(data), "test"), settings.model, settings.source, summarizer.vocabulary
    )
    rows = split_rows(summarizer, SummaryJob(reader, DECODING, 4_096))
    found = [rouge(row.summary, row.lead, stem=True) for row in rows]
    return np.array([[one[key]["f1"] for key in TEXT_METRICS] for one in found])


def long_texts(args: argparse.Namespace, topics: TopicSettings, count: int = 20) -> Iterator[Row]:
    """Yield what models trained on short texts write of long ones: facts found, and lengths."""
    source = SourceSettings(source_tokens=100_000, lead_tokens=50)
    decoding = DecodingSettings(beam=1, max_tokens=400)
    for system, name in SYSTEMS.items():
        found, tokens, words = [], [], []
        for seed in args.seeds:
            summarizer = load_run(args.out / f"{name}-spread-{seed}", "last", "cpu")
            limits = summarizer.settings.source if name == "tiny-stan" else source
            for index in range(count):
                example = make_example(index, topics)
                texts = [{"text": p.text, "document": 0, "position": 0} for p in example.paragraphs]
                fields: dict[str, Any] = {
                    "id": "", "title": example.title, "paragraphs": texts,
                    "documents": [{"url": ""}],
                }  # fmt: skip
                row = own_summary(summarizer, fields, limits, decoding)
                # the first fact is said of the title, the others of "it"
                facts = [
                    s.split(" ", 1)[1] if i else s for i, s in enumerate(sentences(example.lead))
                ]
                found.append(np.mean([fact in row.summary for fact in facts]))
                words.append(len(row.summary.split()))
                ids = summarizer.vocabulary.encode("", [t["text"] for t in texts])[1]
                tokens.append(sum(map(len, ids)))
        yield {
            "facts": f"long, {topics.distractors} of {topics.distractors + topics.facts} without",
            "system": system,
            "subwords per text": float(np.mean(tokens)),
            "facts found, %": 100 * float(np.mean(found)),
            "words per summary": float(np.mean(words)),
            "samples": [example.lead, row.summary],
        }


def sentences(lead: str) -> list[str]:
    """Return the sentences of a lead, each without its full stop."""
    return lead.removesuffix(".").split(". ")
