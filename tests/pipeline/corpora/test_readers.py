import pytest

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.corpora.entry import SourceText
from wikisum.pipeline.corpora.readers import (
    multi_news_entry,
    multi_news_row,
    multi_xscience_entry,
    wcep_entry,
    wikihow_entry,
    wikihow_key,
)


def test_wikihow_loses_the_commas_of_its_lists():
    row = {
        "title": "How to Whistle1",
        "headline": "\nPurse your lips.,\nBlow.",
        "text": "Make an O with your lips.\n\n, Blow gently and then harder, until it sounds.",
    }
    entry = wikihow_entry(row)
    assert entry.title == entry.name == "How to Whistle1"
    assert entry.summary == "\nPurse your lips.\nBlow."
    assert entry.documents == [
        SourceText("Make an O with your lips.\n Blow gently and then harder, until it sounds.")
    ]
    assert wikihow_key("How to Whistle1") == "HowtoWhistle1"


def test_wikihow_drops_a_summary_of_three_quarters_of_the_text():
    row = {"title": "T", "headline": "x" * 3, "text": "y" * 4}
    with pytest.raises(BadLine) as caught:
        wikihow_entry(row)
    assert caught.value.reason == "long_summary"
    assert wikihow_entry({**row, "text": "y" * 5}).summary == "xxx"


def test_multi_news_separates_documents_by_bars():
    source, summary = "One. NEWLINE_CHAR Two. ||||| Three.\n", "– A NEWLINE_CHAR B\n"
    entry = multi_news_entry(source, summary)
    assert [d.text for d in entry.documents] == ["One. \n Two. ", " Three.\n"]
    assert entry.summary == "– A \n B\n"
    assert multi_news_row({"document": source, "summary": summary}) == entry


def test_wcep_has_articles_or_a_list_of_texts():
    articles = [{"title": "T", "text": "A.", "url": "http://a.example/"}, {"text": "B."}]
    entry = wcep_entry({"id": 7, "summary": "S.", "articles": articles})
    assert entry.documents == [SourceText("T\nA.", "http://a.example/"), SourceText("B.")]
    assert (entry.name, entry.summary) == ("7", "S.")
    other = wcep_entry({"summary": "S.", "document": ["A.", "B."]})
    assert other.documents == [SourceText("A."), SourceText("B.")]


@pytest.mark.parametrize(
    "cited",
    [
        {"@cite_1": {"mid": "1", "abstract": "B."}, "@cite_2": {"mid": "2", "abstract": ""}},
        {"cite_N": ["@cite_1", "@cite_2"], "mid": ["1", "2"], "abstract": ["B.", ""]},
    ],
)
def test_multi_xscience_has_the_papers_abstract_first(cited):
    row = {"aid": "x", "mid": "0", "abstract": "A.", "related_work": "R.", "ref_abstract": cited}
    entry = multi_xscience_entry(row)
    assert entry.documents == [SourceText("A."), SourceText("B.")]
    assert (entry.name, entry.summary) == ("x", "R.")
    with pytest.raises(BadLine, match="'ref_abstract' is not an object"):
        multi_xscience_entry({**row, "ref_abstract": None})
