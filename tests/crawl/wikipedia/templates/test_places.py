import pytest

from wikisum.crawl.wikipedia.templates.places import coordinates
from wikisum.crawl.wikipedia.templates.rules import Call


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{chem|C|2|H|6}}", "C2H6"),
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
        ("{{ship|French battleship|Bretagne|1913|6}}", "French battleship Bretagne"),
        ("{{ship||Bretagne|1913}}", "Bretagne (1913)"),
        ("{{sclass|Iowa|battleship|2}}", "Iowa"),
        ("{{sclass|Iowa|battleship|3}}", "Iowa class"),
        ("{{sclass|Iowa|battleship|5}}", "Iowa class"),
        ("{{sclass|Iowa}}", "Iowa class"),
        ("{{jct|state=CA|SR|1|city1=Davis}}", "SR 1 in Davis"),
        ("{{jct|I|80|name1=Main Street}}", "I-80 (Main Street)"),
        ("{{qref|2|255}}", "Quran 2:255"),
        ("{{qref|2|255|257}}", "Quran 2:255–257"),
        ("{{stl|Metro|Park}}", "Park"),
        ("{{stl|Park}}", "Park"),
        ("{{city-state|Reno|Nevada}}", "Reno, Nevada"),
        ("{{cfb link|year=2005|team=Texas Longhorns}}", "2005 Texas Longhorns"),
        ("{{cfb link|year=2005|team=Texas Longhorns|title=Texas}}", "Texas"),
        ("{{nuclide|carbon|14}}", "carbon-14"),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (["12", "19", "N", "70", "1", "W", ""], "12°19′N 70°1′W"),
        (["30", "12", "5.5", "S", "74", "7", "0", "E", "type:city"], "30°12′5.5″S 74°7′0″E"),
        (["12.3", "N", "70.1", "W"], "12.3°N 70.1°W"),
        (["12.3", "-70.1"], "12.3°N 70.1°W"),
        (["-12", "70", "region:BR"], "12°S 70°E"),
        (["12", "N"], ""),
        (["N", "12"], ""),
        ([], ""),
    ],
)
def test_coordinates(values, text):
    assert coordinates(Call("coord", values, {})) == text
