"""Text -> sentences, by rule: good enough to cut summaries, in any language with full stops."""

import re

_BREAK = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+(?=(\S))|(?<=[。！？｡।॥؟])\s*|\s*\n\s*")
# Not the end: a title, an initial, or letters with stops between (`U.S.`).
_ABBREVIATED = re.compile(
    r"(?:^|[\s(\"'“‘])(?:(?:Mr|Mrs|Ms|Dr|Prof|St|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|Jr|Sr|No"
    r"|vs|Vol|pp|approx|ca|cf|al|e\.g|i\.e)|[A-Z](?:\.[A-Z])*)\.$"
)


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, line breaks folded away, none empty.

    A full stop ends one if no lower-case letter follows, or if the text has no capitals at all.
    """
    is_lower = text == text.lower()
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
