import pytest


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("2009{{endash}}2014", "2009–2014"),
        ("a{{spaced en dash}}b", "a – b"),
        ("{{CO2}}", "CO2"),
        ("{{music|flat}}", "♭"),
        ("5{{deg}}", "5°"),
        ("{{'s}} is", "'s is"),
        ("{{music|Sharp}}", "♯"),
        ("{{music|fermata}}", "fermata"),
        ("{{spaced bullet|a}}", "a"),
        ("a{{·}}b", "a · b"),
        ("{{±|5}}", "±5"),
        ("{{bc|44}}", "44 BC"),
        ("{{ad|70}}", "AD 70"),
        ("{{caco3}}", "CaCO3"),
        ("{{=}}", "="),
        ("a{{!}}b", "a|b"),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text
