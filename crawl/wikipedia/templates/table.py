"""What templates show in prose: a table of the common ones, and a guess for the others."""

import re
from typing import NamedTuple

from wikisum.crawl.wikipedia.templates import (
    countries,
    dates,
    languages,
    numbers,
    other_wikis,
    places,
    symbols,
    wrappers,
)
from wikisum.crawl.wikipedia.templates.rules import Call, Rule, Text
from wikisum.crawl.wikipedia.templates.silent import is_silent

# An earlier list wins where two wikis use a name for different things.
RULES: list[Rule] = [
    *symbols.RULES, *other_wikis.RULES, *languages.RULES, *wrappers.RULES, *numbers.RULES,
    *dates.RULES, *places.RULES, *countries.RULES,
]  # fmt: skip
TABLE: dict[str, Text] = {
    name: rule.text for rule in reversed(RULES) for name in rule.names.split("; ")
}
_LANG = re.compile(r"lang-([a-z]{2,3})(?:-[a-z-]+)?")
# {{84e|Congrès}}, {{1er janvier}}, {{XXe siècle}} of the French wiki show their own names.
_ORDINAL = re.compile(r"\d{1,4}(?:er|re|e|d|de|es)(?: \w{1,12})?")
_CENTURY = re.compile(r"([ivx]{1,6})(er|e) siècle")
_MAX_GUESS_CHARS = 80
_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}")
_WORD = re.compile(r"\w")
_NO_PROSE = re.compile(r"\n|\w:\w|//|[{}|=]")


class Shown(NamedTuple):
    """What a template shows; `is_known` is False for a guess."""

    text: str
    is_known: bool


def template_text(call: Call) -> Shown:
    """Return the text that a template shows in prose, from the table or by a guess."""
    rule = TABLE.get(call.name)
    if rule is not None:
        return Shown(rule if isinstance(rule, str) else rule(call), True)
    if match := _LANG.fullmatch(call.name):
        return Shown(languages.label_language(match[1], call.values, call), True)
    if match := _CENTURY.fullmatch(call.name):
        return Shown(f"{match[1].upper()}{match[2]} siècle", True)
    if _ORDINAL.fullmatch(call.name):
        return Shown(" ".join([call.name, *call.values[:1]]), True)
    if is_silent(call.name, bool(call.values)):
        return Shown("", True)
    return Shown(guess(call), False)


def guess(call: Call) -> str:
    """Return what an unknown template inside a sentence most likely shows.

    Most that belong to a sentence wrap one short text or show their first parameter. Those with a
    `date` are maintenance notes, those with many named parameters are boxes: they show nothing.
    """
    if "date" in call.named or len(call.named) > 3:
        return ""
    values = call.values
    if len(values) > 1 and _LANGUAGE_CODE.fullmatch(values[0]):
        values = values[1:]
    text = next((value for value in values if value), "")
    is_text = len(text) <= _MAX_GUESS_CHARS and _WORD.search(text) and not _NO_PROSE.search(text)
    return text if is_text else ""
