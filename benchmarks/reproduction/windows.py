"""Windows over long texts (Schüller et al. 2020, tables 1 and 2) on a learnable set.

    python -m benchmarks.reproduction_windows --out out/windows > out/windows.jsonl

Stan reads the first tokens of a text, as many as a window has; SWM and DWM read all of it in such
windows. In `spread` the facts of a lead stand at even distances, as the paper assumes of WikiHow;
in `start` they come first, as in news. Each model is trained with several seeds on the same texts
and writes summaries of texts that it has never seen. Then those trained on `spread` summarize texts
that are several times as long as any in training.

Lines of JSON: one per trained model, then figures with 95 % intervals by bootstrap over the test
texts (means over seeds), paired tests by randomization, and the long texts.
"""

import argparse
import dataclasses
import io
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.topics import TopicSettings, make_example, write_topics
from wikisum.models.data.batches import SplitReader
from wikisum.models.decoding.split import SummaryJob, split_rows
from wikisum.models.decoding.summarize import Summarizer, load_run, own_summary
from wikisum.models.evaluation.significance import bootstrap, interval, randomisation_p
from wikisum.models.network.spec import ModelSpec
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings
from wikisum.models.table import preset, spec_of
from wikisum.models.training.checkpoints import prepare_run, validations
from wikisum.models.training.train import Trainer
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.rouge import rouge

MODELS = "tiny-stan", "tiny-swm", "tiny-dwm"
METRICS = "rouge1", "rouge2", "rougeL"
WINDOW, STRIDE, ALL_TOKENS = 75, 60, 200
FACTS, DISTRACTORS, VOCAB_SIZE = 3, 3, 500
# facts as dense as in training, and three times as rare
LONG = [TopicSettings(7, distractors, "spread", seed=1, filler=True) for distractors in (7, 35)]
DECODING = DecodingSettings(beam=1, max_tokens=60)


def dataset(out: Path, place: str, articles: int) -> Path:
    """Return the folder of the learnable set, written if it is not there."""
    folder = out / f"data-{place}"
    if not folder.exists():
        settings = TopicSettings(FACTS, DISTRACTORS, place, filler=True)
        write_topics(folder, articles, settings, VOCAB_SIZE)
    return folder


def run_settings(name: str, seed: int, args: argparse.Namespace, vocab_size: int) -> RunSettings:
    """Return the settings of a preset at the size of this comparison."""
    settings = preset(name)
    model = dataclasses.replace(
        settings.model, vocab_size=vocab_size, width=args.width, embedding=args.width,
        window_tokens=WINDOW, window_stride=STRIDE, window_k=0.0,
    )  # fmt: skip
    tokens = WINDOW if name == "tiny-stan" else ALL_TOKENS
    train = dataclasses.replace(
        settings.train, steps=args.steps, peak_learning_rate=args.rate, warmup_steps=20,
        validate_every=args.steps, log_every=args.steps, seed=seed,
        # 16 texts in a batch, whatever the model reads of them
        batch_tokens=16 * (WINDOW if name == "tiny-stan" else 160),
    )  # fmt: skip
    return RunSettings(model, SourceSettings(source_tokens=tokens, lead_tokens=50), train, DECODING)


def trained(data: Path, run: Path, settings: RunSettings) -> Trainer:
    """Return a finished training run in a folder."""
    vocab = find_vocab(str(data))
    vocabulary = Subwords(load_model(vocab, str(data)))
    shards = {split: split_shards(str(data), split) for split in ("train", "validation")}
    spec: ModelSpec = spec_of(settings.model)
    lengths = SplitReader(
        shards["train"], settings.model, settings.source, vocabulary
    ).lengths()  # fmt: skip
    model = spec.measure(settings.model, lengths.source, lengths.target)
    settings = dataclasses.replace(settings, model=model)
    readers = [
        SplitReader(s, settings.model, settings.source, vocabulary) for s in shards.values()
    ]  # fmt: skip
    trainer = Trainer(run, settings, *readers)
    prepare_run(run, settings, vocab, str(data))
    trainer.fit(io.StringIO())
    return trainer


def scores(summarizer: Summarizer, data: Path) -> tuple[np.ndarray, list[Any]]:
    """Return the F1 of each test text, [N, metrics], and the rows."""
    settings = summarizer.settings
    reader = SplitReader(
        split_shards(str(data), "test"), settings.model, settings.source, summarizer.vocabulary
    )
    rows = list(split_rows(summarizer, SummaryJob(reader, DECODING, 4_096)))
    found = [rouge(row.summary, row.lead, stem=True) for row in rows]
    return np.array([[100 * one[key]["f1"] for key in METRICS] for one in found]), rows


def comparison(place: str, args: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row per model and seed, then figures and paired tests."""
    data = dataset(args.out, place, args.articles)
    by_model = {}
    for name in args.models:
        values = []
        for seed in range(args.seeds):
            run, start = args.out / f"{name}-{place}-{seed}", time.process_time()
            vocab_size = load_model(find_vocab(str(data)), str(data)).get_piece_size()
            trainer = trained(data, run, run_settings(name, seed, args, vocab_size))
            seconds = time.process_time() - start
            found, rows = scores(load_run(run, "last", "cpu"), data)
            values.append(found)
            means = dict(zip(METRICS, found.mean(0).tolist(), strict=True))
            yield {
                "place": place, "model": name, "seed": seed, **means,
                "validation_loss": validations(trainer.run)[-1].loss,
                "training_cpu_seconds": seconds, "sample": [rows[0].lead, rows[0].summary],
            }  # fmt: skip
        by_model[name] = np.mean(values, axis=0)
    yield from figures(place, by_model)


def figures(place: str, by_model: dict[str, np.ndarray]) -> Iterator[dict[str, Any]]:
    """Yield the mean of each metric with its interval, and the differences to Stan."""
    values_NKM = np.stack([*by_model.values()], 1)
    ones_NKM = np.ones_like(values_NKM)
    drawn_RKM = bootstrap(values_NKM, ones_NKM, 10_000, 0)
    for k, name in enumerate(by_model):
        for m, metric in enumerate(METRICS):
            low, high = interval(drawn_RKM[:, k, m])
            yield {
                "place": place, "system": name, "metric": metric, "texts": len(values_NKM),
                "value": float(values_NKM[:, k, m].mean()), "low": low, "high": high,
            }  # fmt: skip
    parts = [np.stack([values_NKM[:, k], ones_NKM[:, k]], 1) for k in range(len(by_model))]
    for k, name in enumerate(by_model):
        if k:
            pair = f"{name} - {next(iter(by_model))}"
            p_M = randomisation_p(parts[k], parts[0], 10_000, 0)
            for m, metric in enumerate(METRICS):
                low, high = interval(drawn_RKM[:, k, m] - drawn_RKM[:, 0, m])
                gap = float((values_NKM[:, k, m] - values_NKM[:, 0, m]).mean())
                yield {
                    "place": place, "difference": pair, "metric": metric,
                    "value": gap, "low": low, "high": high, "p": float(p_M[m]),
                }  # fmt: skip


def long_texts(
    args: argparse.Namespace, topics: TopicSettings, count: int = 20
) -> Iterator[dict[str, Any]]:
    """Yield what models trained on short texts write of long ones: facts found, and lengths."""
    source = SourceSettings(source_tokens=100_000, lead_tokens=50)
    decoding = DecodingSettings(beam=1, max_tokens=400)
    for name in args.models:
        summarizer = load_run(args.out / f"{name}-spread-0", "last", "cpu")
        limits = summarizer.settings.source if name == "tiny-stan" else source
        found, tokens, words = [], [], []
        for index in range(count):
            example = make_example(index, topics)
            texts = [{"text": p.text, "document": 0, "position": 0} for p in example.paragraphs]
            row = own_summary(
                summarizer,
                {"id": "", "title": example.title, "paragraphs": texts, "documents": [{"url": ""}]},
                limits,
                decoding,
            )
            # the first fact is said of the title, the others of "it"
            facts = [s.split(" ", 1)[1] if i else s for i, s in enumerate(sentences(example.lead))]
            found.append(np.mean([fact in row.summary for fact in facts]))
            words.append(len(row.summary.split()))
            ids = summarizer.vocabulary.encode("", [t["text"] for t in texts])[1]
            tokens.append(sum(map(len, ids)))
        yield {
            "long_texts": count, "distractors": topics.distractors, "model": name,
            "source_tokens": float(np.mean(tokens)),
            "longest_read_in_training": ALL_TOKENS, "facts_found": float(np.mean(found)),
            "words_per_summary": float(np.mean(words)),
            "sample": [example.lead, row.summary],
        }  # fmt: skip


def sentences(lead: str) -> list[str]:
    """Return the sentences of a lead, each without its full stop."""
    return lead.removesuffix(".").split(". ")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--articles", type=int, default=2_000, metavar="N")
    parser.add_argument("--seeds", type=int, default=3, metavar="N")
    parser.add_argument("--places", nargs="+", default=["spread", "start"], metavar="PLACE")
    parser.add_argument(
        "--models", nargs="+", default=[*MODELS], metavar="PRESET",
        help="presets; others are compared with the first",
    )  # fmt: skip
    parser.add_argument("--steps", type=int, default=250, metavar="N")
    parser.add_argument("--rate", type=float, default=5e-3, help="peak learning rate")
    parser.add_argument("--width", type=int, default=64, metavar="N")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    for place in args.places:
        for row in comparison(place, args):
            sys.stdout.write(json.dumps(row) + "\n")
            sys.stdout.flush()
    if "spread" in args.places:
        for row in (row for topics in LONG for row in long_texts(args, topics)):
            sys.stdout.write(json.dumps(row) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
