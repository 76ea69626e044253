"""The text rules of the original dataset's code (tensor2tensor, `wikisum`), exactly."""

import re

MIN_TOKENS = 6
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def t2t_text(text: str) -> str:
    """Return `text` in lower case on one line, with spaces around ASCII punctuation."""
    return " ".join(_PUNCTUATION.sub(r" \1 ", text.lower()).split())


def t2t_drop_reason(paragraph: str) -> str | None:
    """Return why the original drops a paragraph: too few tokens, no ASCII letter, no sentence.

    A sentence is what a `.` closes: 3 tokens of ASCII letters alone since the `.` before it, or,
    of the paragraph's first, 3 such among 4. Questions and exclamations are none.
    """
    tokens = t2t_text(paragraph).split()
    if len(tokens) < MIN_TOKENS:
        return "too_short"
    if not re.search("[a-z]", paragraph.lower()):
        return "no_letters"
    start = words = 0
    for place, token in enumerate(tokens):
        if token == ".":
            if place - start > 3 and words >= 3:
                return None
            start, words = place, 0
        elif token.isascii() and token.isalpha():
            words += 1
    return "no_sentence"
