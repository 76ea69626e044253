"""The language of a page's text."""

from resiliparse.parse.lang import detect_fast

MIN_CHARS = 60
MAX_CHARS = 4000
MAX_DISTANCE = 1200  # of the text's n-grams from the language's; over it the guess is no good


def detect(text: str) -> str | None:
    """The ISO 639-1 code of the language, or None for text too short or too mixed to tell.

    Only 4,000 characters out of the middle are looked at: pages begin and end with furniture.
    """
    text = " ".join(text.split())
    if len(text) < MIN_CHARS:
        return None
    start = max(0, (len(text) - MAX_CHARS) // 2)
    language, _ = detect_fast(text[start : start + MAX_CHARS], cutoff=MAX_DISTANCE)
    return str(language) if len(language) == 2 else None
