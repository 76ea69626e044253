import pytest

from wikisum.ranker.categories import category_pattern, is_in_category


@pytest.mark.parametrize(
    ("categories", "pattern", "found"),
    [
        (["Bridges in Bern", "1898"], "bridges", True),
        (["Bridges in Bern"], "^Bern", False),
        (["1898"], r"^\d{4}$", True),
        ([], ".", False),
    ],
)
def test_a_category_contains_the_pattern_in_any_case(categories, pattern, found):
    assert is_in_category(categories, pattern) is found


@pytest.mark.parametrize(
    ("text", "message"),
    [("(", r"^must be a regular expression, not '\(': "), ("", "^must not be empty$")],
)
def test_what_is_no_pattern_is_refused(text, message):
    assert category_pattern("a|b") == "a|b"
    with pytest.raises(ValueError, match=message):
        category_pattern(text)
