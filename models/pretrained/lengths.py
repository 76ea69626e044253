"""Whether sources and targets fit the positions of a pretrained model."""

from typing import Any

from wikisum.models.pretrained.frame import encoder_frame, prompt_frame
from wikisum.models.settings.run import RunSettings
from wikisum.models.vocabulary.pretrained import load_config, load_tokenizer


def check_lengths(settings: RunSettings) -> None:
    """Raise ValueError if sources and targets may be longer than the model can read and write."""
    folder, source = settings.model.pretrained, settings.source
    config, tokenizer = load_config(folder), load_tokenizer(folder)
    if config.is_encoder_decoder:
        frame = encoder_frame(settings.model, tokenizer, config)
        around = len(frame.prefix) + len(frame.suffix)
        limit = _first_of(config, "max_encoder_position_embeddings", "max_position_embeddings")
        _check("--source-tokens", source.source_tokens, around, limit)
        _check("--lead-tokens", source.lead_tokens, len(frame.start), target_positions(config))
    else:
        frame = prompt_frame(settings.model, tokenizer, config)
        around = len(frame.prefix) + len(frame.suffix) + source.lead_tokens
        _check("--source-tokens", source.source_tokens, around, target_positions(config))


def check_steps(limit: int | None, used: int, max_steps: int) -> None:
    """Raise ValueError if a search may need more positions than a model has.

    `used` positions are taken before the first of its steps, of which one is for the end.
    """
    if limit is not None and used + max_steps - 1 > limit:
        raise ValueError(
            f"--max-tokens must be at most {limit - used:,}, not {max_steps - 1:,}: the model has "
            f"{limit:,} positions, and {used:,} of them hold other tokens"
        )


def target_positions(config: Any) -> int | None:
    """Return how many positions a decoder has, None for any number."""
    text = config if config.is_encoder_decoder else config.get_text_config()
    return _first_of(text, "max_decoder_position_embeddings", "max_position_embeddings")


def _first_of(config: Any, *names: str) -> int | None:
    """Return the first of these values that the configuration has."""
    return next((int(n) for name in names if (n := getattr(config, name, None))), None)


def _check(flag: str, tokens: int, more: int, limit: int | None) -> None:
    if limit is not None and tokens + more > limit:
        raise ValueError(
            f"{flag} must be at most {limit - more:,}, not {tokens:,}: the model has {limit:,} "
            f"positions, and {more:,} of them hold other tokens"
        )
