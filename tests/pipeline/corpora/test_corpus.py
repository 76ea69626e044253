import pytest

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.commands.exchange import imports
from wikisum.pipeline.corpora.corpus import CORPORA, table
from wikisum.pipeline.corpora.entry import Entry, SourceText
from wikisum.pipeline.corpora.settings import ColumnSettings

ROW = {
    "text": "One. || Two.", "summary": "Both.", "name": "Tavin", "number": 7, "part": "valid",
}  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({}, Entry("", "Both.", [SourceText("One. || Two.")], None, None)),
        ({"separator": " || "}, Entry("", "Both.", [SourceText("One."), SourceText("Two.")])),
        ({"title": "name"}, Entry("Tavin", "Both.", [SourceText("One. || Two.")])),
        ({"id": "number"}, Entry("", "Both.", [SourceText("One. || Two.")], "7")),
        ({"id": "missing"}, Entry("", "Both.", [SourceText("One. || Two.")], None)),
        ({"split": "part"},
         Entry("", "Both.", [SourceText("One. || Two.")], None, "validation")),
    ],
)  # fmt: skip
def test_the_columns_of_a_table(columns, expected):
    assert table(ColumnSettings(**columns)).row(ROW) == expected


def test_a_list_of_texts_is_a_list_of_documents():
    corpus = table(ColumnSettings(separator="/"))
    found = corpus.row({**ROW, "text": ["a/b", "c"]})
    assert [text.text for text in found.documents] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("columns", "row", "reason"),
    [
        ({"text": "body"}, {}, "missing_column"),
        ({"title": "name"}, {"name": 5}, "missing_column"),
        ({"split": "part"}, {"part": "dev-set-3"}, None),
        ({"split": "part"}, {"part": "held out"}, "unknown_split"),
    ],
)
def test_a_row_that_does_not_fit_is_named(columns, row, reason):
    corpus = table(ColumnSettings(**columns))
    if reason is None:
        assert corpus.row(ROW | row).split == "validation"
        return
    with pytest.raises(BadLine) as caught:
        corpus.row(ROW | row)
    assert caught.value.reason == reason


def test_every_corpus_has_a_command():
    assert set(CORPORA) == set(imports.CORPORA)
    assert all(name == corpus.name for name, corpus in CORPORA.items())
