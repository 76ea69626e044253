import pytest

from wikisum.models.decoding.summary_files import Summary
from wikisum.models.evaluation.titles import row_without_title, without_title


@pytest.mark.parametrize(
    ("text", "rest"),
    [("Ada Lovelace was a writer.", "was a writer."), ("ada lovelace (1815) was", "(1815) was"),
     ("Ada Lovelaces were", "Ada Lovelaces were"), ("Her name: Ada Lovelace", None),
     ("Ada Lovelace", ""), ("", "")],
)  # fmt: skip
def test_the_title_goes_from_the_start_alone(text, rest):
    assert without_title(text, "Ada Lovelace") == (text if rest is None else rest)


def test_summary_and_lead_lose_it():
    row = Summary("1", "Ada", "Ada was.", "Ada is. Ada was.")
    assert row_without_title(row)[2:4] == ("was.", "is. Ada was.")
