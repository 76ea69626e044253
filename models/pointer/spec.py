"""The pointer-generator as a model of the table: what it learns to write, and its presets."""

import dataclasses
from typing import Any

from wikisum.models.network.presets import TINY_SOURCE, TINY_TRAIN
from wikisum.models.network.spec import ModelSpec
from wikisum.models.pointer.pointer_generator import PointerGenerator
from wikisum.models.pointer.settings import PointerSettings
from wikisum.models.pointer.shifts import insert_shifts, sentence_spans, sentence_windows
from wikisum.models.pointer.windows import share_of_lengths
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.models.settings.run import RunSettings, SourceSettings, TrainSettings
from wikisum.models.sources import FLAT, Ids
from wikisum.ranker.data.ragged import Ints


def words(settings: PointerSettings) -> int:
    """Return the size of the vocabulary of words, 0 for subwords."""
    return settings.words


def target(settings: PointerSettings, source: list[Ids], lead: Ids, vocabulary: Any) -> Ids:
    """Return the lead, with shifts between its sentences for dynamic windows."""
    if settings.windows != "dynamic" or not len(lead):
        return lead
    if vocabulary is None:
        raise ValueError("dynamic windows need the run's vocabulary, to find ends of sentences")
    ends, size, stride = (
        vocabulary.sentence_ends, settings.window_tokens, settings.window_stride,
    )  # fmt: skip
    spans = sentence_spans(lead, ends)
    windows = sentence_windows(source[0], lead, spans, size, stride, ends, vocabulary.vectors)
    return insert_shifts(lead, spans, windows, settings.repeat_shifts)


def measure(settings: PointerSettings, source_E: Ints, target_E: Ints) -> PointerSettings:
    """Return the settings with the share of a summary measured, if static windows need it."""
    if settings.windows != "static" or settings.summary_share:
        return settings
    return dataclasses.replace(settings, summary_share=share_of_lengths(source_E, target_E))


# See et al. 2017. A batch has 16 examples there; here it is cut by their length.
_SEE = PointerSettings(words=50_000)
_SEE_SOURCE = SourceSettings(source_tokens=400, lead_tokens=100)
_SEE_TRAIN = TrainSettings(
    steps=230_000, batch_tokens=16 * 400, peak_learning_rate=0.15, warmup_steps=1,
    schedule="constant", optimizer="adagrad", clip=2.0, label_smoothing=0.0,
)  # fmt: skip
_SEE_DECODING = DecodingSettings(beam=4, penalty="average", min_tokens=35, max_tokens=120)


def _see(steps: int = _SEE_TRAIN.steps, **changes: Any) -> RunSettings:
    return RunSettings(
        dataclasses.replace(_SEE, **changes), _SEE_SOURCE,
        dataclasses.replace(_SEE_TRAIN, steps=steps), _SEE_DECODING,
    )  # fmt: skip


# Schueller et al. 2020. The text at hand lacks the width, the rate, the beam and (k, d): those here
# are ours.
_WINDOWS = PointerSettings(words=50_000, embedding=300, attention="luong")
_WINDOWS_TRAIN = TrainSettings(
    steps=100_000, batch_tokens=16 * 800, peak_learning_rate=1e-3, warmup_steps=1,
    schedule="constant", beta2=0.999, epsilon=1e-8, clip=2.0, label_smoothing=0.0,
)  # fmt: skip
_WINDOWS_DECODING = DecodingSettings(beam=4, penalty="average", min_tokens=0, max_tokens=150)


def _windowed(source_tokens: int, **changes: Any) -> RunSettings:
    return RunSettings(
        dataclasses.replace(_WINDOWS, **changes),
        SourceSettings(source_tokens=source_tokens, lead_tokens=125),
        _WINDOWS_TRAIN, _WINDOWS_DECODING,
    )  # fmt: skip


_SMALL_WINDOWS: dict[str, Any] = {"window_tokens": 200, "window_stride": 180}


def _tiny(**changes: Any) -> RunSettings:
    shape: dict[str, Any] = {
        "vocab_size": 32_000, "embedding": 96, "width": 96, "attention": "luong",
    }  # fmt: skip
    return RunSettings(
        PointerSettings(**shape | changes),
        TINY_SOURCE,
        TINY_TRAIN,
        DecodingSettings(max_tokens=100),
    )


_TINY_WINDOWS: dict[str, Any] = {"window_tokens": 150, "window_stride": 120}

SPEC = ModelSpec(
    name="pointer",
    settings=PointerSettings,
    build=PointerGenerator,
    source=FLAT,
    presets={
        # See et al. 2017, table 1; coverage is a second phase: --init-from a run of see-pointer
        "see-pointer": _see(),
        "see-pointer-coverage": _see(3_000, coverage=True),
        "see-seq2seq": _see(600_000, pointer=False),
        "see-seq2seq-150k": _see(600_000, pointer=False, words=150_000, vocab_size=150_000),
        # Schueller et al. 2020, table 1; the sizes of its windows are ours
        "stan-cnndm": _windowed(400),
        "swm-cnndm": _windowed(1_160, windows="static"),
        "dwm-cnndm": _windowed(1_160, windows="dynamic"),
        # the same, table 2
        "stan-200": _windowed(200),
        "dwm-740": _windowed(740, windows="dynamic", **_SMALL_WINDOWS),
        "stan-400": _windowed(400),
        "swm-780": _windowed(780, windows="static"),
        "dwm-780": _windowed(780, windows="dynamic"),
        "tiny-pointer": _tiny(
            vocab_size=5_000, words=5_000, attention="bahdanau", coverage=True
        ),
        "tiny-stan": _tiny(),
        "tiny-swm": _tiny(windows="static", **_TINY_WINDOWS),
        "tiny-dwm": _tiny(windows="dynamic", repeat_shifts=True, **_TINY_WINDOWS),
    },
    words=words,
    target=target,
    measure=measure,
)  # fmt: skip
