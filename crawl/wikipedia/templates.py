"""What the common templates of prose show; all others show nothing."""

import re
from collections.abc import Callable, Mapping

_NUMBER = re.compile(r"[-−+]?[\d.,/ ]+")
_RANGE_WORDS = {"-": "–", "–": "–", "to": " to ", "and": " and ", "or": " or ", "by": " by ",
                "x": " × ", "xx": " × ", "×": " × ", "+/-": " ± "}  # fmt: skip
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DASHES = {"ndash": "–", "–": "–", "snd": " – ", "spaced ndash": " – ", "spnd": " – ",
           "mdash": "—", "—": "—", "spaced mdash": " — ", "dash": "–", "nbsp": " ", "space": " ",
           "'": "'", "' \"": "' \"", "\" '": "\" '", "'s": "'s", "=": "=", "!": "|", "okina": "ʻ",
           "hamza": "ʼ", "ayin": "ʽ", "·": " · ", "middot": " · ", "bull": " • ", "•": " • ",
           "sic": "", "!-": "|", "zwsp": "", "wbr": "", "degree": "°", 
           "pi": "π", "euro": "€", "gbp": "£", "break": " ", "-": " "}  # fmt: skip
_FIRST = frozenset((
    "nowrap", "nobr", "nobreak", "nobold", "small", "smaller", "big", "larger", "large", "em",
    "strong", "b", "i", "bold", "italic", "italics", "abbr", "tooltip", "not a typo", "ill",
    "interlanguage link", "visible anchor", "vanchor", "w", "nihongo", "nihongo2", "korean",
    "underline", "overline", "u", "s", "strikethrough", "sub", "sup", "color", "font color",
    "formatnum", "uc", "lc", "ucfirst", "lcfirst", "quote", "blockquote", "cquote", "rquote",
    "pull quote", "quotation", "poemquote", "code", "mono", "samp", "kbd", "var", "pre",
    "smallcaps", "sc", "smallcap", "allcaps", "no selflink", "noitalic", "normal script",
    "nastaliq", "flagcountry", "flag", "country", "title case", "first word", "last word",
    "unicode", "music", "lino", "inline block", "aut", "roman", "typo", "proper name", "chem2",
    "mvar", "q", "usurped", "oldstyledate", "old style date", "birth-date", "birth date text",
    "death-date",
))  # fmt: skip
_LAST = frozenset((
    "lang", "langx", "transl", "transliteration", "tlit", "rtl-lang", "script", "wikt-lang",
))  # fmt: skip
_JOINED = {"linktext": " ", "chem": "", "plainlist": " ", "hlist": ", ", "unbulleted list": ", "}
_MONEY = {"us$": "US$", "usd": "US$", "£": "£", "gbp": "£", "a$": "A$", "aud": "A$", "c$": "C$",
          "cad": "C$", "nz$": "NZ$", "€": "€", "eur": "€", "inr": "₹", "indian rupee": "₹",
          "rupee": "₹", "inrconvert": "₹", "¥": "¥", "jpy": "¥", "yen": "¥", "ussr": "",
          "philippine peso": "₱", "php": "₱", "₤": "₤", "currency": ""}  # fmt: skip

Parameters = Mapping[str, str]


def _positional(parameters: Parameters) -> list[str]:
    values: list[str] = []
    while (value := parameters.get(str(len(values) + 1))) is not None:
        values.append(value.strip())
    return values


def _convert(values: list[str]) -> str:
    """`5|km|mi` -> `5 km`; `5|-|10|km` -> `5–10 km`; `5|ft|10|in|m` -> `5 ft 10 in`."""
    out, place = "", 0
    while place < len(values) and _NUMBER.fullmatch(values[place]):
        out += values[place]
        word = values[place + 1] if place + 1 < len(values) else ""
        place += 2
        if word in _RANGE_WORDS:
            out += _RANGE_WORDS[word]
        else:
            more = place + 1 < len(values) and _NUMBER.fullmatch(values[place])
            out += f" {word}" + (" " if more and word in ("ft", "lb", "st", "mi") else "")
            if not out.endswith(" "):
                break
    return out.strip()


def _date(values: list[str]) -> str:
    """`2010|5|3` -> `3 May 2010`."""
    year, month, day = [*values, "", "", ""][:3]
    if month.isdigit() and 1 <= int(month) <= 12:
        month = _MONTHS[int(month) - 1]
    elif month:
        return year
    return " ".join(part for part in (day if day.isdigit() else "", month, year) if part)


def _as_of(values: list[str], parameters: Parameters) -> str:
    word = "as of" if parameters.get("lc", "").strip() in ("y", "yes") else "As of"
    since = {"y": "since", "yes": "since"}.get(parameters.get("since", "").strip())
    return parameters.get("alt", "").strip() or f"{since or word} {_date(values)}"


def _fraction(values: list[str]) -> str:
    whole = {1: "1/{0}", 2: "{0}/{1}", 3: "{0} {1}/{2}"}.get(len(values), "")
    return whole.format(*values)


def _value(values: list[str], parameters: Parameters) -> str:
    unit = parameters.get("u", parameters.get("ul", "")).strip()
    return f"{values[0] if values else ''} {unit}".strip()


_BY_NAME: dict[str, Callable[[list[str], Parameters], str]] = {
    "as of": _as_of,
    "asof": _as_of,
    "val": _value,
    "convert": lambda v, _: _convert(v),
    "cvt": lambda v, _: _convert(v),
    "frac": lambda v, _: _fraction(v),
    "sfrac": lambda v, _: _fraction(v),
    "fraction": lambda v, _: _fraction(v),
    "circa": lambda v, _: f"c. {v[0]}" if v else "c.",
    "c.": lambda v, _: f"c. {v[0]}" if v else "c.",
    "ca": lambda v, _: f"c. {v[0]}" if v else "c.",
    "floruit": lambda v, _: f"fl. {v[0]}" if v else "fl.",
    "fl.": lambda v, _: f"fl. {v[0]}" if v else "fl.",
    "start date": lambda v, _: _date(v),
    "end date": lambda v, _: _date(v),
    "date": lambda v, _: v[0] if v else "",
    "dts": lambda v, _: _date(v),
    "ordinal": lambda v, _: v[0] if v else "",
    "nth": lambda v, _: v[0] if v else "",
    "h:title": lambda v, _: v[1] if len(v) > 1 else "",
    "zh": lambda v, _: v[0] if v else "",
}


def template_text(name: str, parameters: Parameters) -> str:
    """The text that a template shows in prose, or nothing if it is not one that does.

    `name` is in lower case with folded space; `parameters` are plain text by name or number.
    """
    values = _positional(parameters)
    if name in _BY_NAME:
        return _BY_NAME[name](values, parameters)
    if name in _DASHES:
        return _DASHES[name]
    if name in _MONEY and values:
        return _MONEY[name] + values[0]
    if name in _JOINED:
        return _JOINED[name].join(values)
    if name in _FIRST or name.startswith(("lang-", "nihongo")):
        return values[0] if values else parameters.get("text", parameters.get("quote", ""))
    if name in _LAST:
        return values[-1] if values else ""
    return ""
