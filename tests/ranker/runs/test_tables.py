import csv
import io
import math

import pytest

from wikisum.ranker.runs.tables import csv_of, markdown_table, shown_p, text_columns

ROWS = [["system", "R-1"], ["first words", "7.25"], ["a|b", "12.50"]]


@pytest.mark.parametrize(
    ("p", "text"),
    [(math.nan, "-"), (0.0, "<0.0001"), (0.00009, "<0.0001"), (0.0001, "0.0001"), (1.0, "1.0000")],
)
def test_a_p_value_is_never_shown_as_zero(p, text):
    assert shown_p(p) == text


def test_the_first_column_stands_to_the_left_and_numbers_to_the_right():
    assert text_columns(ROWS) == [
        "system         R-1",
        "first words   7.25",
        "a|b          12.50",
    ]


def test_a_table_in_markdown():
    assert markdown_table(ROWS) == (
        "| system | R-1 |\n| --- | --- |\n| first words | 7.25 |\n| a\\|b | 12.50 |\n"
    )


def test_csv_is_read_back_and_nan_is_empty():
    text = csv_of([["a,b", 1.5], ['say "x"', math.nan]])
    assert list(csv.reader(io.StringIO(text))) == [["a,b", "1.5"], ['say "x"', ""]]
    assert text.endswith("\n")
    assert "\r" not in text
