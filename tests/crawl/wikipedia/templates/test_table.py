import pytest

from wikisum.crawl.wikipedia.reader import parse_plain
from wikisum.crawl.wikipedia.templates.rules import Call
from wikisum.crawl.wikipedia.templates.silent import is_silent
from wikisum.crawl.wikipedia.templates.table import RULES, TABLE, guess, template_text


def show(markup: str) -> str:
    return parse_plain(f"x {markup} y").sections[0][2].removeprefix("x ").removesuffix(" y")


def test_every_rule_names_its_source():
    prefixes = ("Template:", "Modèle:", "Vorlage:", "Plantilla:", "Predefinição:", "Шаблон:",
                "Szablon:", "틀:")  # fmt: skip
    assert all(rule.source.startswith(prefixes) and rule.names for rule in RULES)
    assert len(TABLE) > 1000


SILENT = ("infobox town", "use dmy dates", "sfn", "ipac-en", "a-stub", "citation needed", "coord")


@pytest.mark.parametrize("name", [*SILENT, "angola topics", "floh icon"])
def test_silent_templates(name):
    assert is_silent(name, has_values=True)


def test_language_icons_are_silent_and_country_codes_are_not():
    assert template_text(Call("fr", [], {})) == ("", True)
    assert template_text(Call("gbr", [], {})) == ("United Kingdom", True)


@pytest.mark.parametrize(
    ("values", "named", "text"),
    [
        (["word"], {}, "word"),
        (["", "word"], {}, "word"),
        (["fr", "mot"], {}, "mot"),
        ([], {}, ""),
        (["word"], {"date": "May 2010"}, ""),
        (["word"], {"a": "", "b": "", "c": "", "d": ""}, ""),
        (["word " * 30], {}, ""),
        (["Category:x"], {}, ""),
        (["http://a"], {}, ""),
        (["—"], {}, ""),
    ],
)
def test_guess(values, named, text):
    assert guess(Call("unknown", values, named)) == text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        # dashes and symbols
        ("2009{{endash}}2014", "2009–2014"),
        ("a{{spaced en dash}}b", "a – b"),
        ("{{CO2}}", "CO2"),
        ("{{chem|C|2|H|6}}", "C2H6"),
        ("{{music|flat}}", "♭"),
        ("5{{deg}}", "5°"),
        # dates and ages
        ("{{OldStyleDate|February 2|1905|January 20}}", "February 2 [O.S. January 20] 1905"),
        ("{{OldStyleDateDY|2 May|1905|20 April}}", "2 May 1905 [O.S. 20 April]"),
        ("{{as of|2021|March}}", "As of March 2021"),
        ("{{as of|2010|lc=y}}", "as of 2010"),
        ("{{as of|2010|5|3|since=y}}", "Since 3 May 2010"),
        ("{{birth date|1950|1|2}}", "January 2, 1950"),
        ("{{birth date|1950|1|2|df=y}}", "2 January 1950"),
        ("{{death date and age|2000|1|2|1950|3|4}}", "January 2, 2000 (aged 49)"),
        ("{{age|1950|1|1|2000|1|1}}", "50"),
        ("{{circa|1500}}", "c. 1500"),
        ("{{mya|5}}", "5 million years ago"),
        ("{{née|Smith}}", "née Smith"),
        # numbers and units
        ("{{cvt|4.5e6|km2}}", "4,500,000 km2"),
        ("{{convert|1300|mi|km}}", "1,300 mi"),
        ("{{convert|5|-|10|km|mi}}", "5–10 km"),
        ("{{convert|5|ft|10|in|m}}", "5 ft 10 in"),
        ("{{convert|22|e6acre}}", "22 million acres"),
        ("{{convert|1|acre}}", "1 acre"),
        ("{{convert|40|acre|ha|adj=on}}", "40-acre"),
        ("{{convert|5+1/2|mi}}", "5 1/2 mi"),
        ("{{convert|-5|C|F}}", "−5 °C"),
        ("{{convert|about 5|km}}", "about 5"),
        ("{{val|6.241|e=18|u=kg}}", "6.241×10^18 kg"),
        ("{{frac|3|1|2}}", "3 1/2"),
        ("{{formatnum:1234567}}", "1,234,567"),
        ("{{US$|10 million}}", "US$10 million"),
        ("{{INRConvert|10|l}}", "₹10 lakh"),
        ("{{currency|1200|GBP}}", "£1,200"),
        ("{{percentage|1|3|2}}", "33.33%"),
        ("{{ordinal|21}}", "21st"),
        ("{{ordinal|112}}", "112th"),
        ("{{height|ft=6|in=2}}", "6 ft 2 in"),
        ("{{pop density|3645257|640081.87|km2}}", "5.7/km2"),
        ("{{RailGauge|1435mm}}", "1,435 mm"),
        ("{{duration|h=1|m=2|s=3}}", "1:02:03"),
        # ships, roads, planets, verses
        ("{{HMS|Prince of Wales|53|6}}", "HMS Prince of Wales"),
        ("{{HMS|Ajax|22}}", "HMS Ajax (22)"),
        ("{{USS|Enterprise|CV-6|2}}", "Enterprise"),
        ("{{USS|Enterprise|CV-6|3}}", "Enterprise (CV-6)"),
        ("{{SS|Morro Castle|1930|1}}", "1930"),
        ("{{ship|French battleship|Bretagne||2}}", "Bretagne"),
        ("{{ship|French battleship|Bretagne}}", "French battleship Bretagne"),
        ("{{sclass|Iowa|battleship}}", "Iowa-class battleship"),
        ("{{sclass|Iowa|battleship|4}}", "Iowa-class"),
        ("{{jct|state=CA|I|5|US|101}}", "I-5 / US 101"),
        ("{{mp|2006 HY|51}}", "2006 HY51"),
        ("{{bibleverse|1|John|3:16}}", "1 John 3:16"),
        ("{{bibleverse||Mark|3:25|KJV}}", "Mark 3:25"),
        ("{{bibleref|Mark|3:25|9}}", "Mark 3:25"),
        # languages
        ("({{langx|ru|текст|tekst}})", "(Russian: текст, romanized: tekst)"),
        ("({{lang-sq|Shqipëri}})", "(Albanian: Shqipëri)"),
        ("{{lang|fr|pont}}", "pont"),
        ("{{nihongo|Tokyo|東京|Tōkyō}}", "Tokyo (東京, Tōkyō)"),
        ("{{nihongo||東京|Tōkyō}}", "Tōkyō (東京)"),
        ("{{transl|ar|al-Jazā'ir}}", "al-Jazā'ir"),
        ("{{zh|s=汉|t=漢|p=Hàn}}",
         "traditional Chinese: 漢; simplified Chinese: 汉; pinyin: Hàn"),
        # wrappers, links, countries
        ("{{nowrap|Ann [[Bee]]}}", "Ann Bee"),
        ("{{ill|Foo|de|Bar}}", "Foo"),
        ("{{ill|de|Foo|Bar}}", "Foo"),
        ("{{ill|Foo|de|Bar|lt=Foos}}", "Foos"),
        ("{{hlist|a|b}}", "a, b"),
        ("{{harvtxt|Boolos|Jeffrey|1974}}", "Boolos & Jeffrey (1974)"),
        ("{{flag|USA}}", "United States"),
        ("{{post-nominals|country=GBR|OBE|FRS}}", "OBE, FRS"),
        ("{{angbr|x}}", "⟨x⟩"),
        # other wikis
        ("{{unité|307,665 milliards}}", "307,665 milliards"),
        ("{{unité|25000|km|2}}", "25 000 km2"),
        ("{{nombre|71|sièges}}", "71 sièges"),
        ("{{s|XX}}", "XXe siècle"),
        ("{{s|gone}}", "gone"),
        ("{{date|1|janvier|1995}}", "1er janvier 1995"),
        ("{{1er janvier}}", "1er janvier"),
        ("{{84e|Congrès}}", "84e Congrès"),
        ("{{tmp|2|°C}}", "2 °C"),
        ("{{incise|après}}", "– après –"),
        ("{{citation|mot}}", "« mot »"),
        ("{{Höhe|115|DE-NHN}}", "115 m"),
        ('{{"|Wort}}', "„Wort“"),
        ("{{仮リンク|町|en|Town}}", "町"),
        ("{{нп5|Квартал|квартал|de|Viertel}}", "квартал"),
        ("{{число|3644826}}", "3 644 826"),
    ],
)  # fmt: skip
def test_what_templates_show(markup, text):
    assert show(markup) == text
