import pytest


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("{{flag|USA}}", "United States"),
        ("{{flag|usa}}", "United States"),
        ("{{flag|name=Wales}}", "Wales"),
        ("{{flag|Atlantis}}", "Atlantis"),
        ("{{GBR}}", "United Kingdom"),
        ("{{GBR|name=Britain}}", "Britain"),
        ("{{flagathlete|Ann Bee|USA}}", "Ann Bee (USA)"),
        ("{{flagathlete|Ann Bee}}", "Ann Bee"),
    ],
)
def test_what_is_shown(markup, text, show):
    assert show(markup) == text
