import pytest


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{unité|307,665 milliards}}", "307,665 milliards"),
        ("{{unité|25000|km|2}}", "25 000 km2"),
        ("{{nombre|71|sièges}}", "71 sièges"),
        ("{{tmp|2|°C}}", "2 °C"),
        ("{{incise|après}}", "– après –"),
        ("{{citation|mot}}", "« mot »"),
        ("{{Höhe|115|DE-NHN}}", "115 m"),
        ('{{"|Wort}}', "„Wort“"),
        ("{{число|3644826}}", "3 644 826"),
        ("{{unité|1,5|km}}", "1,5 km"),
        ("{{unité|5|e=6|km}}", "5×10^6 km"),
        ("{{s|I}}", "Ier siècle"),
        ("{{s|XV|XVI}}", "XVe – XVIe siècle"),
        ("{{siglo|XX}}", "siglo XX"),
        ("{{xiv}}", "XIV"),
        ("{{heure|4|30}}", "4 h 30"),
        ("{{incise|après|stop}}", "– après"),
        ("{{m|100|ul=km}}", "100 km"),
        ("{{euro|25000}}", "25 000 €"),
        ("{{euro}}", "€"),
        ("{{млн|5}}", "5 млн"),
        ("{{citation}}", ""),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text
