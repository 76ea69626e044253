"""Apostrophes that mark italics and bold, and those that are meant literally.

The rules are MediaWiki's (Help:Formatting; the parser's `doQuotes`): a run of two apostrophes
switches italics, of three bold, of five both; a fourth one, and all beyond five, are literal. If a
line has an odd number of both switches, one bold run is read as a literal apostrophe and italics.
"""

import re

_RUN = re.compile("'{2,}")


def remove_quote_marks(line: str) -> str:
    """Return a source line without its marks of italics and bold, literal apostrophes kept."""
    if "''" not in line:
        return line
    texts = _RUN.split(line)
    literal, switches = zip(*(_read_run(len(run)) for run in _RUN.findall(line)), strict=True)
    counts = list(literal)
    has_odd_bold = sum(s in (3, 5) for s in switches) % 2
    has_odd_italics = sum(s in (2, 5) for s in switches) % 2
    if has_odd_bold and has_odd_italics and (index := _unmatched_bold(texts, switches)) is not None:
        counts[index] += 1
    parts = [texts[0]]
    for count, text in zip(counts, texts[1:], strict=True):
        parts += ["'" * count, text]
    return "".join(parts)


def _read_run(length: int) -> tuple[int, int]:
    """The literal apostrophes at the start of a run, and the length of the switch that is left."""
    if length == 4:
        return 1, 3
    return (length - 5, 5) if length > 5 else (0, length)


def _unmatched_bold(texts: list[str], switches: tuple[int, ...]) -> int | None:
    """The bold run that stands for an apostrophe and italics, as in `l'''amour''`.

    The first one after a word of a single letter; else the first one after a longer word; else
    the first one after a space.
    """
    after_word = after_space = None
    for index, (text, switch) in enumerate(zip(texts, switches, strict=False)):
        if switch != 3:
            continue
        if text.endswith(" "):
            after_space = index if after_space is None else after_space
        elif text[-2:-1] == " ":
            return index
        elif after_word is None:
            after_word = index
    return after_word if after_word is not None else after_space
