"""Articles chosen by a regular expression over their categories."""

import re
from collections.abc import Iterable


def category_pattern(text: str) -> str:
    """Return a regular expression. Raises ValueError naming what is wrong with it."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"must be a regular expression, not {text!r}: {error}") from error
    if not text:
        raise ValueError("must not be empty")
    return text


def is_in_category(categories: Iterable[str], pattern: str) -> bool:
    """Whether one of the categories contains the regular expression, in any case of letters."""
    return any(re.search(pattern, category, re.IGNORECASE) for category in categories)
