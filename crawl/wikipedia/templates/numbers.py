"""Templates that show numbers: grouped digits, units, money, fractions, powers."""

import re
from decimal import Decimal, InvalidOperation

from wikisum.crawl.wikipedia.templates.rules import Call, Rule, first, joined, prefixed

_MAX_EXPONENT = 40
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:e[-+−]?\d{1,3})?(?:\+?\d+/\d+)?|\d+/\d+", re.IGNORECASE)
_MIXED = re.compile(r"(.*?)\+?(\d+/\d+)")
_RANGE_WORDS = {
    "-": "–", "–": "–", "&ndash;": "–", "to": " to ", "to(-)": " to ", "to about": " to about ",
    "and": " and ", "and(-)": " and ", "or": " or ", "by": " by ", "x": " × ", "xx": " × ",
    "×": " × ", "*": " × ", "by(x)": " × ", "+/-": " ± ", "±": " ± ", "&": " and ", ",": ", ",
    "to-": " to ", "and-": " and ", "+": " + ", "/": "/",
}  # fmt: skip
# Codes of Template:Convert that differ from the symbol that it shows.
_SYMBOLS = {
    "c": "°C", "f": "°F", "k": "K", "c-change": "°C", "f-change": "°F", "sqmi": "sq mi",
    "sqft": "sq ft", "sqyd": "sq yd", "sqin": "sq in", "mi2": "sq mi", "ft2": "sq ft",
    "cuft": "cu ft", "cuyd": "cu yd", "cuin": "cu in", "cumi": "cu mi", "kmh": "km/h",
    "kph": "km/h", "usgal": "US gal", "impgal": "imp gal", "gal": "US gal", "usoz": "US fl oz",
    "lbf.ft": "lbf⋅ft", "ft.lbf": "ft⋅lb", "nm": "N⋅m", "n.m": "N⋅m", "ftlb": "ft⋅lb",
    "mpgus": "mpg", "mpgimp": "mpg (imp)", "u.s.gal": "US gal", "oztr": "ozt",
    "acreft": "acre-feet", "oilbbl": "barrels of oil", "oilbbl/d": "barrels of oil per day",
    "t": "t", "cid": "cu in", "bbl": "bbl", "ozt": "ozt", "mton": "t",
}  # fmt: skip
_SPELLED = {
    "acre": "acres", "foot": "feet", "ft": "ft", "mile": "miles", "metre": "metres",
    "meter": "meters", "inch": "inches", "yard": "yards", "tonne": "tonnes", "lt": "long tons",
    "long ton": "long tons", "st": "short tons", "short ton": "short tons", "knot": "knots",
    "hectare": "hectares", "pound": "pounds", "ounce": "ounces", "fathom": "fathoms",
    "gallon": "gallons", "hand": "hands", "league": "leagues", "kilometre": "kilometres",
    "kilometer": "kilometers", "furlong": "furlongs", "chain": "chains", "rod": "rods",
    "stone": "stone", "bushel": "bushels", "ton": "tons", "barrel": "barrels", "cord": "cords",
    "litre": "litres", "liter": "liters", "gram": "grams", "degree": "degrees",
}  # fmt: skip
_SINGULAR = {"lt": "long ton", "st": "short ton"}
_ENGINEERING = {"e3": "thousand", "e6": "million", "e9": "billion", "e12": "trillion"}
_MONEY = {
    "us$": "US$", "usd": "US$", "us dollar": "US$", "£": "£", "gbp": "£", "pound sterling": "£",
    "a$": "A$", "aud": "A$", "au$": "A$", "c$": "C$", "cad": "C$", "can$": "C$", "nz$": "NZ$",
    "nzd": "NZ$", "hk$": "HK$", "hkd": "HK$", "s$": "S$", "sgd": "S$", "€": "€", "eur": "€",
    "inr": "₹", "indian rupee": "₹", "rupee": "₹", "₹": "₹", "inrconvert": "₹", "¥": "¥",
    "jpy": "¥", "yen": "¥", "cny": "¥", "rmb": "¥", "cn¥": "CN¥", "philippine peso": "₱",
    "php": "₱", "phpconvert": "₱", "₱": "₱", "₤": "₤", "krw": "₩", "₩": "₩",
    "south korean won": "₩",
    "chf": "CHF ", "sek": "SEK ", "nok": "NOK ", "dkk": "DKK ", "rub": "₽", "ruble": "₽",
    "₽": "₽", "uah": "₴", "try": "₺", "turkish lira": "₺", "ngn": "₦", "naira": "₦", "₪": "₪",
    "ils": "₪", "nis": "₪", "brl": "R$", "r$": "R$", "zar": "R", "mxn": "MX$", "mx$": "MX$",
    "pkr": "Rs. ", "pkrconvert": "Rs. ", "thb": "฿", "vnd": "₫",
    "pound": "£", "dollar": "$", "dollars": "$", "kzt": "₸", "azn": "₼", "gel": "₾", "lkr": "Rs. ",
    "bdt": "৳", "bdtconvert": "৳", "idr": "Rp", "nt$": "NT$", "twd": "NT$", "pln": "PLN ",
    "czk": "CZK ", "huf": "HUF ", "iran rial": "IRR ", "ghs": "GH₵", "kes": "KSh", "ars": "AR$",
}  # fmt: skip
_INDIAN_SCALE = {"l": " lakh", "c": " crore", "k": " thousand", "m": " million", "b": " billion"}
_GROUPING = {
    "de": ".,", "es": " ,", "fr": " ,", "it": ".,", "nl": ".,", "pt": ".,", "pl": " ,", "ru": " ,",
    "uk": " ,", "cs": " ,", "sv": " ,", "no": " ,", "nb": " ,", "fi": " ,", "da": ".,", "hu": " ,",
    "ro": ".,", "tr": ".,", "id": ".,", "vi": ".,", "ca": ".,", "el": ".,", "bg": " ,",
}  # fmt: skip


def plain_number(text: str) -> Decimal | None:
    """Return the value of an English number such as `1,300`, `−5` or `4.5e6`, or None."""
    try:
        number = Decimal(text.replace(",", "").replace("−", "-").strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _MAX_EXPONENT else None


def group_digits(text: str, language: str = "en") -> str:
    """Return a number with separators between thousands; other text is returned as it is."""
    number = plain_number(text)
    if number is None:
        return text
    grouped = f"{number:,f}"
    marks = _GROUPING.get(language, ",.")
    return grouped.translate(str.maketrans(",.", marks)).replace("-", "−")


def format_number(text: str, language: str) -> str:
    """Return what `{{formatnum:...}}` shows: digits as given, grouped; text stays as it is."""
    return group_digits(text, language).replace("−", "-")


def _measured(text: str) -> str:
    """`1300` -> `1,300`, `5+1/2` -> `5 1/2`."""
    mixed = _MIXED.fullmatch(text)
    if mixed:
        return f"{group_digits(mixed[1])} {mixed[2]}".strip()
    return group_digits(text)


def _unit(code: str, number: str) -> str:
    """The unit of a code of Template:Convert, in the plural unless the number is one."""
    scale = re.match(r"(e\d+)(?=[a-zA-Z])", code)
    if scale and scale[1] in _ENGINEERING:
        return f"{_ENGINEERING[scale[1]]} {_unit(code[scale.end() :], '2')}"
    key = code.lower()
    if key in _SPELLED:
        is_one = number in ("1", "-1", "−1")
        return _SINGULAR.get(key, key) if is_one else _SPELLED[key]
    return _SYMBOLS.get(key, code) if code not in ("nm", "Nm") or code == "Nm" else code


def _convert(call: Call) -> str:
    """`5|km|mi` -> `5 km`; `5|-|10|km` -> `5–10 km`; `5|ft|10|in|m` -> `5 ft 10 in`.

    A spelled unit that is used as an adjective (`adj=on`) stays in the singular: `40-acre`.

    Only the given measure is shown: the converted one needs the module's table of units.
    """
    values = call.values
    out, index = "", 0
    while index < len(values) and _NUMBER.fullmatch(values[index].replace(" ", "")):
        number = values[index].replace(" ", "")
        word = values[index + 1] if index + 1 < len(values) else ""
        out += _measured(number)
        index += 2
        if word in _RANGE_WORDS:
            out += _RANGE_WORDS[word]
            continue
        if word.lower() in _SPELLED and call.is_on("adj"):
            return f"{out}-{_unit(word, '1')}"
        out += f" {_unit(word, number)}"
        has_more = index + 1 < len(values) and _NUMBER.fullmatch(values[index])
        if not has_more or word not in ("ft", "lb", "st", "mi", "yd", "foot", "mile"):
            break
        out += " "
    return out.strip() or call.value(0)


def _value(call: Call) -> str:
    """`6.241|0.003|e=18|u=kg` -> `6.241±0.003×10^18 kg`."""
    text = group_digits(call.value(0))
    if call.value(1):
        text += f"±{call.value(1)}"
    if exponent := call.get("e"):
        text += f"×10^{exponent}" if text else f"10^{exponent}"
    unit = call.get("u", "ul", "up", "upl")
    text = f"{call.get('p')}{text}{call.get('s')}"
    return f"{text}{'' if unit in ('%', '°') else ' '}{unit}".strip()


def _fraction(call: Call) -> str:
    values = [value for value in call.values if value][:3]
    whole = {1: "1/{0}", 2: "{0}/{1}", 3: "{0} {1}/{2}"}.get(len(values), "")
    return whole.format(*values)


def _density(call: Call) -> str:
    """`population|area|km2|sqmi` -> `5.7/km2`."""
    people, area = plain_number(call.value(0)), plain_number(call.value(1))
    if people is None or not area:
        return ""
    density = people / area
    shown = f"{density:,.0f}" if density >= 10 else f"{density:.1f}"
    return f"{shown}/{_unit(call.value(2), '1')}"


def _money(call: Call) -> str:
    amount = call.value(0)
    if call.name in ("inrconvert", "inr", "indian rupee"):
        amount += _INDIAN_SCALE.get(call.value(1), "")
    return f"{_MONEY[call.name]}{group_digits(amount)}"


def _currency(call: Call) -> str:
    """`12|USD`, or `amount=12|type=USD`: the symbol, then the amount."""
    amount, code = call.value(0) or call.get("amount"), call.value(1) or call.get("type", "code")
    return f"{_MONEY.get(code.lower(), code + ' ' if code else '$')}{group_digits(amount)}"


def ordinal(text: str) -> str:
    """`21` -> `21st`."""
    digits = text.replace(",", "")
    if not digits.isdecimal():
        return text
    teens = digits[-2:] in ("11", "12", "13")
    return text + ("th" if teens else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th"))


def _percentage(call: Call) -> str:
    """`1|3|2` -> `33.33%`: part, whole, decimals."""
    part, whole = plain_number(call.value(0)), plain_number(call.value(1))
    if part is None or not whole:
        return f"{call.value(0)}%" if call.value(0) and not call.value(1) else ""
    decimals = call.value(2) or "0"
    shown = float(part / whole * 100)
    return f"{shown:.{min(int(decimals), 9) if decimals.isdecimal() else 0}f}%"


def _height(call: Call) -> str:
    """`m=1.83` -> `1.83 m`; `ft=6|in=2` -> `6 ft 2 in`."""
    parts = [f"{v} {unit}" for unit in ("m", "cm", "ft", "in") if (v := call.get(unit))]
    return " ".join(parts) or call.value(0)


def _grouped_first(call: Call) -> str:
    unit = f" {call.value(1)}" if call.value(1) else ""
    return group_digits(call.value(0), call.language) + unit


_GAUGES = {
    "standard": "4 ft 8+1⁄2 in", "sg": "4 ft 8+1⁄2 in", "1435mm": "1,435 mm",
    "ussg": "4 ft 8+1⁄2 in", "4ft8.5in": "4 ft 8+1⁄2 in", "1000mm": "1,000 mm",
    "metre": "1,000 mm", "meter": "1,000 mm", "narrow": "narrow gauge", "3ft6in": "3 ft 6 in",
    "1067mm": "1,067 mm", "cape": "3 ft 6 in", "3ft": "3 ft", "2ft": "2 ft", "600mm": "600 mm",
    "5ft3in": "5 ft 3 in", "irish": "5 ft 3 in", "1520mm": "1,520 mm", "russian": "1,520 mm",
    "1668mm": "1,668 mm", "1600mm": "1,600 mm", "1676mm": "1,676 mm", "5ft6in": "5 ft 6 in",
    "760mm": "760 mm", "750mm": "750 mm", "900mm": "900 mm", "7ft": "7 ft", "5ft": "5 ft",
    "2ft6in": "2 ft 6 in", "1524mm": "1,524 mm", "broad": "broad gauge",
}  # fmt: skip


def _sexagesimal(call: Call, marks: str) -> str:
    """`5|34|31` -> `5h 34m 31s` with the marks `hms`."""
    parts = zip(call.values, marks, strict=False)
    return " ".join(f"{value}{mark}" for value, mark in parts if value)


def _duration(call: Call) -> str:
    """`h=1|m=2|s=3` or `1|2|3` -> `1:02:03`."""
    parts = [call.get("h"), call.get("m"), call.get("s")]
    if not any(parts):
        parts = (["", "", "", *call.values])[-3:]
    while parts and not parts[0]:
        parts.pop(0)
    return ":".join(part.zfill(2) if index else part for index, part in enumerate(parts))


RULES = [
    Rule("Template:Convert", "convert; cvt; conv; convert/2; convert2; cv; convert-special",
         _convert),
    Rule("Template:Population density", "pop density; population density", _density),
    Rule("Template:US patent", "us patent; "
    "us-patent", lambda call: f"U.S. Patent {group_digits(call.value(0))}"),
    Rule("Template:Height", "height; player height", _height),
    Rule("Template:Val", "val; value; valign number", _value),
    Rule("Template:Frac", "frac; sfrac; fraction; fracn; frac2; vfrac; ⁄; tfrac; dfrac; half",
         _fraction),
    Rule("Template:Formatnum", "formatnum; fmtnum; fnum; nts; number table sorting; "
         "number; commas; nformat; number format; format number; ntss", _grouped_first),
    Rule("Template:US$", "; ".join(_MONEY), _money),
    Rule("Template:Currency", "currency; money", _currency),
    Rule("Template:To USD", "to usd; to inr; tousd; usdcny; toeur; to usd round; to gbp",
         lambda call: _money(Call("usd", call.values, {}))),
    Rule("Template:Ordinal", "ordinal; nth; ord; ordinal number; th", lambda c: ordinal(first(c))),
    Rule("Template:Percentage", "percentage; pct; percent; %; calculate percentage", _percentage),
    Rule("Template:Gaps", "gaps; spaced digits; digits", joined("")),
    Rule("Template:E", "e; e-sp; x10^; ×10^", lambda call: f"×10^{call.value(0)}"),
    Rule("Template:10^", "10^; 10e; pow10", prefixed("10^")),
    Rule("Template:Sqrt", "sqrt; radic; √; root", lambda call: f"{call.value(1)}√{call.value(0)}"),
    Rule("Template:Abs", "abs; mabs", prefixed("|", "|")),
    Rule("Template:Range", "range; from to; number range", joined("–")),
    Rule("Template:Track gauge", "track gauge; railgauge; rail gauge; gauge; trackgauge; rg",
         lambda call: _GAUGES.get(call.value(0).lower().replace(" ", ""), call.value(0))),
    Rule("Template:RA", "ra", lambda call: _sexagesimal(call, "hms")),
    Rule("Template:DEC", "dec; dms; deg2dms; deg min sec", lambda call: _sexagesimal(call, "°′″")),
    Rule("Template:Solar radius", "solar radius", "R☉"),
    Rule("Template:Solar mass", "solar mass", "M☉"),
    Rule("Template:Solar luminosity", "solar luminosity", "L☉"),
    Rule("Template:Duration", "duration; time duration", _duration),
]  # fmt: skip
