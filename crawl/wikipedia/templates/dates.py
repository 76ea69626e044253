"""Templates that show dates, ages and the words around them."""

import re
from datetime import date

from wikisum.crawl.wikipedia.templates.rules import Call, Rule, joined, prefixed

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_ISO = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)")
_FRENCH_MONTHS = frozenset((
    "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre",
    "octobre", "novembre", "décembre",
))  # fmt: skip
_FORMATS = frozenset(("dmy", "mdy", "ymd", "iso", "y", "my", "none", "short", "long"))


def month_name(text: str) -> str | None:
    """Return the English name of a month that is given as a number or as (part of) a name."""
    if text.isdecimal():
        return MONTHS[int(text) - 1] if 1 <= int(text[:3]) <= 12 else None
    start = text[:3].lower()
    return next((m for m in MONTHS if len(start) == 3 and m.lower().startswith(start)), None)


def _date_text(values: list[str], day_first: bool) -> str:
    """`2010|5|3` -> `May 3, 2010`, or `3 May 2010` with the day first."""
    year, month, day = (*values[:3], "", "", "")[:3]
    name = month_name(month) if month else None
    if name is None:
        return year or month
    day = day.lstrip("0") if day.isdecimal() else ""
    if day_first or not day:
        return " ".join(part for part in (day, name, year) if part)
    return f"{name} {day}, {year}".strip(", ")


def _is_day_first(call: Call) -> bool:
    return call.is_on("df", "dmy")


def _date_of(call: Call) -> str:
    values = call.values
    if values and not values[0].isdecimal():
        return values[0]  # a date that is written out
    return _date_text(values, _is_day_first(call))


def _as_of(call: Call) -> str:
    """`2021|March` -> `As of March 2021`; `lc=y` and `since=y` change the words."""
    if alternative := call.get("alt"):
        return alternative
    word = "since" if call.is_on("since") else "as of"
    if call.get("pre"):
        word += f" {call.get('pre')}"
    word = word if call.is_on("lc") else word.capitalize()
    return f"{word} {_date_text(call.values, call.get('df').lower() != 'us')}{call.get('post')}"


def _died(call: Call) -> str:
    """`2000|1|2|1950|3|4` -> `January 2, 2000 (aged 49)`."""
    died = _date_text(call.values[:3], _is_day_first(call))
    age = _years(call.values[3:6], call.values[:3])
    return f"{died} (aged {age})" if age else died


def _years(since: list[str], until: list[str]) -> str:
    """Whole years between two dates of year, month and day, or ""."""
    try:
        start, end = date(*map(int, since)), date(*map(int, until))
    except (TypeError, ValueError, OverflowError):
        return ""
    return str(end.year - start.year - ((end.month, end.day) < (start.month, start.day)))


def _age(call: Call) -> str:
    """The age at a second date; the age today would change with every build, so it is left out."""
    return _years(call.values[:3], call.values[3:6])


def _old_style(call: Call) -> str:
    """`February 2|1905|January 20` -> `February 2 [O.S. January 20] 1905`."""
    day, year, old = (*call.values[:3], "", "", "")[:3]
    return f"{day} [O.S. {old}] {year}".strip() if old else f"{day} {year}".strip()


def _old_style_after(call: Call) -> str:
    """`2 February|1905|20 January 1904` -> `2 February 1905 [O.S. 20 January 1904]`."""
    day, year, old = (*call.values[:3], "", "", "")[:3]
    return f"{day} {year} [O.S. {old}]".replace("  ", " ").strip()


def _circa(call: Call) -> str:
    return " – ".join(f"c. {value}" for value in call.values[:2] if value) or "c."


def _span(abbreviation: str) -> Rule:
    """`r. 1500–1520` and its like."""
    return Rule(
        f"Template:{abbreviation.capitalize()}",
        {"r.": "reign; r.; ruled", "fl.": "floruit; fl.; fl", "b.": "b.", "d.": "d."}[abbreviation],
        lambda call: f"{abbreviation} {'–'.join(v for v in call.values[:2] if v)}".strip(),
    )


def _any_date(call: Call) -> str:
    """`2010-05-03|mdy` of the English wiki, `19|janvier|2010` of the French one."""
    iso = _ISO.fullmatch(call.value(0))
    if iso:
        return _date_text(list(iso.groups()), call.value(1) != "mdy")
    values = [v for v in call.values[:3] if v and v.lower() not in _FORMATS]
    if values[:1] == ["1"] and values[1:2] and values[1].lower() in _FRENCH_MONTHS:
        values[0] = "1er"
    return " ".join(values)


def _sports_season(call: Call) -> str:
    """`1999` -> `1999`; a title or label that is given is shown instead."""
    return call.get("title", "label") or call.value(1) or call.value(0)


RULES = [
    Rule("Template:As of", "as of; asof", _as_of),
    Rule("Template:OldStyleDate", "oldstyledate; old style date; osdate", _old_style),
    Rule("Template:OldStyleDateDY", "oldstyledatedy; oldstyledateny; old style date ny",
         _old_style_after),
    Rule("Template:Circa", "circa; c.; ca; ca.; c; approx date", _circa),
    _span("r."),
    _span("fl."),
    _span("b."),
    _span("d."),
    Rule("Template:Start date", "start date; end date; start-date; end-date; dob; birth date; bda; "
         "birth date and age; death date; birth-date; death-date; birth date text; birthdate; "
         "birth-date and age; start date and age; start date and years ago; film date; dodate; "
         "release date; birth year and age; birth year; death year; opening date; launch date; "
         "end date and age; birth date and age2; television air date; bya; bd; dd", _date_of),
    Rule("Template:Death date and age", "death date and age; dda; death-date and age; ddag; "
         "death date and given age", lambda call: _died(call) if len(call.values) > 3
         else _date_of(call)),
    Rule("Template:Dts", "dts; date table sorting; datesort; sort date", _date_of),
    Rule("Template:Date", "date; date-; fdate; formatdate; format date; iso date; dateform; "
    "date de naissance; date de décès; date de naissance-; date de décès-; "
        "date républicaine; datum; data",
         _any_date),
    Rule("Template:Age", "age; ages; age in years; ageat; age at date", _age),
    Rule("Template:Mya", "mya; ma; million years ago; myr", prefixed("", " million years ago")),
    Rule("Template:Née", "née; nee; born name", prefixed("née ")),
    Rule("Template:Né", "né", prefixed("né ")),
    Rule("Template:Born-in", "born-in; born in", prefixed("(born ", ")")),
    Rule("Template:Died-in", "died-in; died in", prefixed("(died ", ")")),
    Rule("Template:Lived", "lived; life span; lifespan", joined("–")),
    Rule("Template:By", "by; mlb year; mlby; baseball year; wsy; alds; nlcs; alcs; al year",
         _sports_season),
    Rule("Template:Nfly (and its like)", "nfly; nfl year; afly; aafcy; nhly; nbay; nba year; "
    "nhl year; cfly; "
         "mlsy; ncaafb year; wnbay; afl year; nbl year; ussy", _sports_season),
    Rule("Template:Daterange", "daterange; date range; year range; yr range; dash year; ayd; "
         "year-range", joined("–")),
    Rule("Template:Fiscal year", "fy; fiscal year", prefixed("FY ")),
]  # fmt: skip
