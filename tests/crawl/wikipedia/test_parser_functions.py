import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.parser_functions import (
    BadExpression,
    call_function,
    evaluate,
    evaluate_or_empty,
)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1+2*3", "7"),
        ("(1+2)*3", "9"),
        ("2^3", "8"),
        ("-2^2", "4"),
        ("10/4", "2.5"),
        ("1/3", "0.33333333333333"),
        ("7 mod 3", "1"),
        ("2.345 round 2", "2.35"),
        ("1234 round -2", "1200"),
        ("1 = 1.0 and 2 > 1", "1"),
        ("not 3", "0"),
        ("abs(-4) + ceil 1.2 + floor 1.8 + trunc(-1.5)", "6"),
        ("1e3", "1000"),
        ("", ""),
    ],
)
def test_expressions(expression, value):
    assert evaluate(expression) == value


@pytest.mark.parametrize("expression", ["1/0", "1+", "(1", "a", "1 2", "9^9^9^9", "1" * 300])
def test_bad_expressions(expression):
    with pytest.raises(BadExpression):
        evaluate(expression)
    assert evaluate_or_empty(expression) == ""


@given(st.text("0123456789.+-*/^()<>=einmodrau ", max_size=60))
def test_any_expression_has_a_value_or_none(expression):
    assert isinstance(evaluate_or_empty(expression), str)


@pytest.mark.parametrize(
    ("head", "more", "shown"),
    [
        ("formatnum:1234567", [], "1,234,567"),
        ("formatnum:1234.5678", [], "1,234.5678"),
        ("ucfirst:abc", [], "Abc"),
        ("#if: ", ["yes", "no"], "no"),
        ("#ifeq:1", ["1.0", "same", "other"], "same"),
        ("plural:2", ["day", "days"], "days"),
        ("padleft:7", ["3", "0"], "007"),
        ("PAGENAME:", [], "Title"),
        ("unknown:x", [], None),
    ],
)
def test_functions(head, more, shown):
    assert call_function(head, more, "Title") == shown


def test_numbers_follow_the_language():
    assert call_function("formatnum:1234567.5", [], "", "de") == "1.234.567,5"
    assert call_function("formatnum:1234567.5", [], "", "fr") == "1 234 567,5"
