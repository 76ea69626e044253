"""Sources and targets beside the positions of a model."""

import dataclasses

import pytest

from wikisum.models.pretrained.lengths import check_lengths, check_steps
from wikisum.models.settings.run import SourceSettings


@pytest.mark.parametrize(
    ("kind", "source", "lead", "limit"),
    [
        ("bart", 254, 254, None),  # of 256: two are special tokens
        ("bart", 255, 10, "--source-tokens must be at most 254"),
        ("bart", 10, 255, "--lead-tokens must be at most 254"),
        ("led", 10, 63, "--lead-tokens must be at most 62"),
        ("t5", 9_000, 9_000, None),  # relative positions
        ("gpt2", 300, 200, "--source-tokens"),
    ],
)
def test_what_does_not_fit_is_refused(kind, source, lead, limit, settings_for):
    settings = dataclasses.replace(
        settings_for(kind), source=SourceSettings(source_tokens=source, lead_tokens=lead)
    )
    if limit is None:
        check_lengths(settings)
    else:
        with pytest.raises(ValueError, match=limit):
            check_lengths(settings)


def test_a_search_of_too_many_steps_is_refused():
    check_steps(None, 500, 10_000)
    check_steps(256, 2, 255)  # 254 tokens and the end, which is not read
    with pytest.raises(ValueError, match="--max-tokens must be at most 254, not 255"):
        check_steps(256, 2, 256)


def test_models_refuse_summaries_that_do_not_fit(model_and_batch):
    for kind in ("bart", "gpt2"):
        model, batch = model_and_batch(kind)
        with pytest.raises(ValueError, match="--max-tokens must be at most"):
            model.start(model.encode(batch.source), 1, 400)
