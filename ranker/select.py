"""Which of the ranked paragraphs are kept."""

from collections.abc import Sequence


def best_within(
    order: Sequence[int],
    lengths: Sequence[int],
    max_paragraphs: int,
    max_tokens: int | None = None,
) -> list[int]:
    """The first of `order` that fit: at most so many paragraphs and so many tokens in all.

    `lengths` counts each paragraph's tokens. The cut is at the first that does not fit, but one
    paragraph is always kept.
    """
    kept: list[int] = []
    total = 0
    for index in order[:max_paragraphs]:
        total += lengths[index]
        if kept and max_tokens is not None and total > max_tokens:
            break
        kept.append(index)
    return kept
