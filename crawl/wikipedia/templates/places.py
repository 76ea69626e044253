"""Templates that name ships, roads, stations, celestial bodies, Bible verses, coordinates."""

import re

from wikisum.crawl.wikipedia.templates.rules import Call, Rule, first, joined, prefixed

_PREFIXES = (
    "HMS USS HMAS HMCS HMNZS HMIS HMPNGS HMSAS HMT HMHS HMY HMBS HMVS HMQS INS USNS USCGC USAT "
    "USRC "
    "USAV USAHS USFS USFC USLHT USC&GS USS CSS SS RMS SMS SMU MS MV MT MY PS TSS RV RRS NRV NOAAS "
    "GTS TS SV FV MF MSC TEV STV SY ST HMCSS CCGS CGS LÉ ICGV ROKS ROCS RSS PNS BNS BRP KRI KD "
    "SLNS "
    "JS JDS ARA ARC ARM BAP BAE FNRP NRP ORP FS HDMS HNLMS HNoMS HSwMS HMFS TCG HS HSC ENS SAS "
    "SATS "
    "RFA RFAS BRS VOC USMS USAMP USARV USLHS GMV TT DEPV LT HTMS UMS RTS NNS GNS KNM ORV PSS CMS"
)


def _ship_text(prefix: str, name: str, number: str, form: str) -> str:
    """Ship names as the ship templates show them.

    `form` is a sum of 4 (prefix), 2 (name), 1 (number); without it all are shown, and a number
    that stands with a name is put in parentheses.
    """
    bits = int(form) if form in ("1", "2", "3", "5", "6", "7") else 7
    shown = [prefix if bits & 4 else "", name if bits & 2 else ""]
    if number and bits & 1:
        shown.append(f"({number})" if bits & 2 else number)
    return " ".join(part for part in shown if part)


def _ship_of_prefix(prefix: str) -> Rule:
    def text(call: Call) -> str:
        return _ship_text(prefix, call.value(0), call.value(1), call.value(2))

    return Rule(f"Template:{prefix}", prefix.lower(), text)


def _ship(call: Call) -> str:
    """`French battleship|Bretagne|1913|2`: type, name, number, form."""
    return _ship_text(*(*call.values, "", "", "", "")[:4])


def _ship_class(call: Call) -> str:
    """`Iowa|battleship` -> `Iowa-class battleship`; forms 2 to 5 show less."""
    name, kind, form = (*call.values, "", "", "")[:3]
    if form in ("4", "5"):
        return f"{name}-class" if form == "4" else f"{name} class"
    if form == "2":
        return name
    if form == "3":
        return f"{name} class"
    return f"{name}-class {kind}".strip() if kind else f"{name} class"


def _junction(call: Call) -> str:
    """`state=CA|I|5|US|101|city1=Davis` -> `I-5 / US 101 in Davis`."""
    roads = []
    for kind, number in zip(call.values[::2], [*call.values[1::2], ""], strict=False):
        separator = "-" if kind.upper() in ("I", "A", "H") or kind.upper().startswith("I-") else " "
        if kind:
            roads.append(f"{kind}{separator}{number}" if number else kind)
    name = call.get("name1")
    road = " / ".join(roads) + (f" ({name})" if name else "")
    return f"{road} in {city}" if (city := call.get("city1", "city", "location1")) else road


def _bible(call: Call) -> str:
    """`1|John|3:16|KJV` or `John|3:16`: number, book and verse."""
    values = call.values
    if values and (not values[0] or values[0] in ("1", "2", "3", "4", "I", "II", "III")):
        values = [f"{values[0]} {values[1] if len(values) > 1 else ''}".strip(), *values[2:]]
    return " ".join(value for value in values[:2] if value)


def _quran(call: Call) -> str:
    return f"Quran {':'.join(call.values[:2])}{'–' + call.value(2) if call.value(2) else ''}"


def _minor_planet(call: Call) -> str:
    """`2006 HY|51` -> `2006 HY51`."""
    return "".join(call.values[:2])


def _station(call: Call) -> str:
    """`system|station`: the station."""
    return call.get("t", "text") or call.value(1) or call.value(0)


def _college_team(call: Call) -> str:
    """`year=2005|team=Texas Longhorns|title=Texas`."""
    return call.get("title") or " ".join(filter(None, (call.get("year"), call.get("team"))))


def _nuclide(call: Call) -> str:
    """`carbon|14` -> `carbon-14`."""
    return "-".join(value for value in call.values[:2] if value)


_DEGREE_MARKS = "°′″"
_COORDINATE = re.compile(r"-?\d{1,3}(?:\.\d+)?")


def coordinates(call: Call) -> str:
    """`12|19|N|70|1|W` -> `12°19′N 70°1′W`, `12.3|-70` -> `12.3°N 70°W`; "" for other forms."""
    values = [value.strip() for value in call.values]
    are_numbers = len(values) > 1 and all(map(_COORDINATE.fullmatch, values[:2]))
    if are_numbers and not {"N", "S"} & set(values):
        return f"{_signed(values[0], 'NS')} {_signed(values[1], 'EW')}"
    parts: list[str] = []
    numbers: list[str] = []
    for value in values:
        if _COORDINATE.fullmatch(value) and len(numbers) < len(_DEGREE_MARKS):
            numbers.append(value)
        elif value in ("N", "S", "E", "W") and numbers:
            parts.append("".join(map(str.__add__, numbers, _DEGREE_MARKS)) + value)
            numbers = []
        else:
            break
    return " ".join(parts) if len(parts) == 2 else ""


def _signed(number: str, letters: str) -> str:
    return f"{number.lstrip('-')}°{letters[number.startswith('-')]}"


RULES = [
    *(_ship_of_prefix(prefix) for prefix in dict.fromkeys(_PREFIXES.split())),
    Rule("Template:Ship", "ship; navyship; warship; ship2", _ship),
    Rule("Template:Sclass", "sclass; sclass2; sclass-; sclass2-; ship class; sclass/core",
         _ship_class),
    Rule("Template:Jct", "jct; road; junction; routelink; road link", _junction),
    Rule("Template:Interstate", "interstate", prefixed("Interstate ")),
    Rule("Template:Bibleverse", "bibleverse; bibleref; bibleref2; bibleverse-lb; bibleverse-nb; "
         "bible; bibleverse with invalid book; bible verse; bv; sourcetext; bibleref2c; "
         "bibleref2-nb; lds; bibel", _bible),
    Rule("Template:Qref", "qref; cite quran; quran; quran-usc; quran-usc-range; quran ref", _quran),
    Rule("Template:Mp", "mp; mpl; mp-; mpl-; minor planet; mpf; mplink", _minor_planet),
    Rule("Template:Station link", "station link; stl; stnlnk2; metro link; lnl; line link; "
    "rail link; line", _station),
    Rule("Template:Stn", "stn; rws; stnlnk; station; railway station; train station; lul stations; "
         "metrod; tram stop; rwsa; tubelink; ltstn; dlrstn; cta; bart station", first),
    Rule("Template:City-state", "city-state; city state; citystate",
         lambda call: ", ".join(value for value in call.values[:3] if value)),
    Rule("Template:Cfb link", "cfb link; cbb link; cfb; cbb; cbsb link; ncaa link; wcbb link; "
         "cwhockey link; soccer season link; csoc link; cih link", _college_team),
    Rule("Template:Chem", "chem; chemical formula; chem/link; element formula", joined("")),
    Rule("Template:Chem2", "chem2; chemf; ce", first),
    Rule("Template:Nuclide", "nuclide; simplenuclide; isotope; element-isotope; nuclide2; "
         "simplenuclide2", _nuclide),
    Rule("Template:Element", "element; chemical element; e-symbol", first),
    Rule("Template:Playing card", "playing card; cards", joined("")),
]  # fmt: skip
