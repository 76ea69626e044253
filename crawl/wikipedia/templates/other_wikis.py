"""Templates of the French, German, Spanish, Italian, Portuguese, Polish and Russian wikis."""

import re

from wikisum.crawl.wikipedia.templates.numbers import group_digits
from wikisum.crawl.wikipedia.templates.rules import Call, Rule, first, joined, prefixed, second

_ROMAN = re.compile(r"[IVXLC]+", re.IGNORECASE)
_DIGITS = re.compile(r"[\d.,\s\xa0\u202f]*\d")


def _grouped(text: str, language: str) -> str:
    """The number at the start of a text, grouped by the language's rule; `1,5` means 1.5."""
    match = _DIGITS.match(text)
    if not match:
        return text
    number = re.sub(r"[\s\xa0\u202f]", "", match[0]).replace(",", ".")
    return group_digits(number, language) + text[match.end() :]


def _quantity(language: str) -> Rule:
    """`1234|km|2` -> `1 234 km2`: a number, then units with their exponents."""

    def text(call: Call) -> str:
        number, *units = call.values or [""]
        shown = _grouped(number, language)
        if exponent := call.get("e"):
            shown += f"×10^{exponent}"
        for index, unit in enumerate(units):
            is_exponent = index % 2 and re.fullmatch(r"[-−]?\d", unit)
            shown += unit if is_exponent else f" {unit}" if unit else ""
        return shown.strip()

    names = {
        "fr": ("Modèle:Unité", "unité; nombre; unité/2; tmp; val fr; nb; surface"),
        "de": ("Vorlage:Zahl", "zahl; formnum; zahlenformat; fmt; bruttozahl; höhe-text"),
        "es": ("Plantilla:Unidad", "unidad; cifra; esd num"),
        "pt": ("Predefinição:Fmtn", "fmtn; formatnumpt"),
        "ru": ("Шаблон:Число", "число; num; formatnum-ru; s-число; площадь; м2"),
        "pl": ("Szablon:Liczba", "liczba; formatuj liczbę"),
    }
    return Rule(*names[language], text)


def _century(word: str, after: bool) -> Rule:
    def text(call: Call) -> str:
        parts = [value for value in call.values if _ROMAN.fullmatch(value)]
        if not parts:  # the English Template:S strikes a text through
            return first(call)
        suffix = "e" if after and parts[0].upper() != "I" else "er" if after else ""
        shown = " – ".join(part.upper() + suffix for part in parts[:2])
        return f"{shown} {word}" if after else f"{word} {shown}"

    if after:
        return Rule("Modèle:S", "s; s-; s2; s2-; siècle; sp-; -s; -s-; sav; sav-; sm-", text)
    return Rule("Plantilla:Siglo", "siglo; século; secolo; séc", text)


def _time(call: Call) -> str:
    """`4|30` -> `4 h 30`."""
    return " h ".join(value for value in call.values[:2] if value)


def _altitude(call: Call) -> str:
    """`115|DE-NHN` -> `115 m`."""
    return f"{_grouped(call.value(0), 'de')} m"


def _incise(call: Call) -> str:
    """`text|stop`: the text between dashes, without the closing one before a full stop."""
    return f"– {call.value(0)}" + ("" if call.value(1) else " –")


def _measure(call: Call) -> str:
    """`100|ul=km` of the Italian wiki."""
    unit = call.get("ul", "u") or call.value(1)
    return f"{_grouped(call.value(0), 'it')} {unit}".strip()


RULES = [
    *(_quantity(language) for language in ("fr", "de", "es", "pt", "ru", "pl")),
    Rule("Template:M", "m", _measure),
    _century("siècle", after=True),
    _century("siglo", after=False),
    Rule("Modèle:Heure", "heure; h", _time),
    Rule("Modèle:Euro", "euro", lambda c: f"{_grouped(c.value(0), 'fr')} €" if c.values else "€"),
    Rule("Modèle:,", ",; 0; 00; ''; p..", ""),
    Rule("Modèle:P.", "p.", prefixed("p. ")),
    Rule("Modèle:N°", "n°; numéro", prefixed("no ")),
    Rule("Modèle:Incise", "incise", _incise),
    Rule("Modèle:Exp", "exp", first),
    Rule("Modèle:Souverain2", "souverain2; souverain; souverain3; souverain-", second),
    Rule("Modèle:Etc.", "etc.; etc", "etc."),
    Rule("Modèle:Monsieur", "m.; mr.", prefixed("M. ")),
    Rule("Modèle:Mme", "mme", prefixed("Mme ")),
    Rule("Modèle:Ier", "; ".join(("ii", "iii", "iv", "vi", "vii", "viii", "ix", "xi", "xii", "xiii",
         "xiv", "xv", "xvi", "xvii", "xviii", "xix", "xx", "xxi")), lambda call: call.name.upper()),
    Rule("Modèle:Av JC", "av jc; -jc", "av. J.-C."),
    Rule("Modèle:Ap JC", "ap jc", "apr. J.-C."),
    Rule("Modèle:Guillemets", "guil; guillemets; «; citation étrangère; citation bloc; citation",
         lambda call: f"« {first(call)} »" if call.values else ""),
    Rule('Vorlage:"', '"; " "; „; "-de; anführungszeichen; "-en; "-fr; "-la',
         lambda call: f"„{call.get('text') or call.value(0)}“"),
    Rule("Vorlage:Höhe", "höhe", _altitude),
    Rule("Vorlage:EnS", "frs; las; grs; its; arabs; jas; zhs; pls; trs", first),
    Rule("Plantilla:A. C.", "a. c.; ac; a.c.", "a. C."),
    Rule("Plantilla:D. C.", "d. c.; d.c.", "d. C."),
    Rule("Plantilla:Versalita", "versalita; esd; ta; nobr es; bdo", first),
    Rule("Predefinição:Dtlink", "dtlink; dtext; dni; dmy", joined("/")),
    Rule("Шаблон:Нет АИ 2", "нет аи 2; нп текст; подст", first),
    Rule("Шаблон:Кв. км", "км²; кв. км", prefixed("", " км²")),
    Rule("Шаблон:Тыс.", "тыс.; тыс", prefixed("", " тыс.")),
    Rule("Шаблон:Млн", "млн", prefixed("", " млн")),
    Rule("Шаблон:Год", "год; г.", prefixed("", " год")),
]  # fmt: skip
