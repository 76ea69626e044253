"""Text -> sentences, by rule: good enough to cut summaries, in any language with full stops."""

import re

_BREAK = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=(\S))|(?<=[。！？｡।॥؟])\s*|\s*\n\s*")
# Not the end: a title, an initial, or letters with stops between (`U.S.`).
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\"'“‘])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|Jr|Sr|No"
    r"|vs|Vol|pp|approx|ca|cf|al|e\.g|i\.e)|[A-Z](?:\.[A-Z])*)\.$"
)


# Lower-case text in which punctuation stands alone, as in CNN/DailyMail: `mr. smith left . `
_TOKENIZED = re.compile(r"(?:^|\s)\.(?:\s|$)")
_STOPS, _CLOSING, _QUOTES = frozenset(".!?"), frozenset(("''", ")", "-rrb-", "]")), frozenset("\"'")


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, line breaks folded away, none empty.

    A full stop ends one if no lower-case letter follows, or if the text has no capitals at all. In
    lower-case text with spaced punctuation, only a stop that stands alone ends one.
    """
    is_lower = text == text.lower()
    if is_lower and _TOKENIZED.search(text):
        return [s for line in text.splitlines() for s in _tokenized_sentences(line.split())]
    found, start = [], 0
    for match in _BREAK.finditer(text):
        following = match[1]
        if following and following.islower() and not is_lower:
            continue
        if following and _ABBREVIATED.search(text[max(match.start() - 12, start) : match.start()]):
            continue
        found.append(text[start : match.end()].strip())
        start = match.end()
    found.append(text[start:].strip())
    return [sentence for sentence in found if sentence]


def _tokenized_sentences(tokens: list[str]) -> list[str]:
    """Sentences of text whose punctuation stands alone.

    Closing brackets and quotation marks after a stop belong to its sentence; a quotation mark
    closes if an odd number of them stands in the sentence before it.
    """
    found: list[list[str]] = [[]]
    has_ended = False
    for token in tokens:
        sentence = found[-1]
        is_closing = token in _CLOSING or token in _STOPS
        is_closing |= token in _QUOTES and sentence.count(token) % 2 == 1
        if has_ended and not is_closing:
            sentence = []
            found.append(sentence)
            has_ended = False
        sentence.append(token)
        has_ended |= token in _STOPS
    return [" ".join(sentence) for sentence in found if sentence]
