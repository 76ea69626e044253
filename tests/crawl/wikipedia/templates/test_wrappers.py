import pytest


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{nowrap|Ann [[Bee]]}}", "Ann Bee"),
        ("{{ill|Foo|de|Bar}}", "Foo"),
        ("{{ill|de|Foo|Bar}}", "Foo"),
        ("{{ill|Foo|de|Bar|lt=Foos}}", "Foos"),
        ("{{hlist|a|b}}", "a, b"),
        ("{{harvtxt|Boolos|Jeffrey|1974}}", "Boolos & Jeffrey (1974)"),
        ("{{post-nominals|country=GBR|OBE|FRS}}", "OBE, FRS"),
        ("{{angbr|x}}", "⟨x⟩"),
        ("{{s|XX}}", "XXe siècle"),
        ("{{s|gone}}", "gone"),
        ("{{仮リンク|町|en|Town}}", "町"),
        ("{{нп5|Квартал|квартал|de|Viertel}}", "квартал"),
        ("{{small|color|text}}", "text"),
        ("{{w|Page|shown}}", "shown"),
        ("{{w|Page}}", "Page"),
        ("{{lien|Page|fr=Texte}}", "Texte"),
        ("{{lien|Page}}", "Page"),
        ("{{slink|Page|One|Two}}", "Page § One § Two"),
        ("{{slink|Page|One|display=here}}", "here"),
        ("{{sortname|Ann|Bee|page}}", "Ann Bee"),
        ("{{harvtxt|1974}}", "1974"),
        ("{{harvtxt|Boolos|1974}}", "Boolos (1974)"),
        ("{{post-nominals|GBR|OBE|FRS}}", "OBE, FRS"),
        ("{{post-nominals|OBE|FRS}}", "OBE, FRS"),
        ("{{post-nominals|GBR}}", "GBR"),
        ("{{isbn|123}}", "ISBN 123"),
        ("{{doi|10.1}}", "doi:10.1"),
        ("{{key|Ctrl|C}}", "Ctrl+C"),
        ("{{gloss|bridge}}", "'bridge'"),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text
