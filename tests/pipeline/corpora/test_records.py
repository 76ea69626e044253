from dataclasses import replace

import pytest

from wikisum.crawl.errors import BadLine
from wikisum.pipeline.corpora.entry import CorpusRow, Entry, SourceText
from wikisum.pipeline.corpora.records import paragraphs, records_of
from wikisum.pipeline.corpora.settings import CorpusSettings

SETTINGS = CorpusSettings(units="lines")
ENTRY = Entry("A title", "One.\n Two. ", [SourceText("a\nb"), SourceText(" "), SourceText("c")])


def of(entry: Entry, settings: CorpusSettings = SETTINGS, file: str = "all.jsonl", number: int = 3):
    return records_of(CorpusRow(file, number, 40, entry), entry, settings)


def test_an_entry_is_an_article_with_a_reference_per_document():
    article, wanted, documents = of(ENTRY)
    assert (article.title, article.lead) == ("A title", "One.\nTwo.")
    assert article.url == "import:all.jsonl#3"
    assert [d.url for d in documents] == ["import:all.jsonl#3.0", "import:all.jsonl#3.1"]
    assert [d.paragraphs for d in documents] == [["a", "b"], ["c"]]
    assert [(d.warc_file, d.offset, d.language) for d in documents] == [("all.jsonl", 40, "en")] * 2
    assert [(w.url, w.article, w.source, w.rank) for w in wanted] == [
        (d.url, article.id, "original", n) for n, d in enumerate(documents)
    ]
    assert article.citations == [d.url for d in documents]


def test_urls_of_the_corpus_are_kept_with_a_mark_of_the_entry():
    texts = [SourceText("a", "HTTP://A.example"), SourceText("b", "no url")]
    texts.append(SourceText("c", "http://a.example/#x"))
    article, _, documents = of(ENTRY._replace(documents=texts))
    assert [d.url for d in documents] == [
        f"http://a.example/#{article.id}.0",
        "import:all.jsonl#3.1",
        f"http://a.example/#{article.id}.2",
    ]
    assert documents[0].source_url == "HTTP://A.example"


def test_ids_differ_by_file_and_number_even_for_equal_entries():
    places = [("a", 0), ("a", 1), ("b", 0)]
    assert len({of(ENTRY, file=file, number=n).article.id for file, n in places}) == 3


def test_the_split_is_that_of_the_entry_then_of_the_file_then_of_a_hash():
    def split(entry: Entry = ENTRY, file: str = "all.jsonl", splits: str = "given") -> str:
        return of(entry, replace(SETTINGS, splits=splits), file).article.split

    assert split(ENTRY._replace(split="test"), "train.jsonl") == "test"
    assert split(file="val.jsonl") == "validation"
    assert split(ENTRY._replace(split="test"), "train.jsonl", "validation") == "validation"
    hashed = {split(ENTRY._replace(title=f"{n}"), "train.jsonl", "hash") for n in range(60)}
    assert hashed == {"train", "validation", "test"}
    untitled = [ENTRY._replace(title="", summary=f"{n}") for n in range(60)]
    assert {split(entry) for entry in untitled} == {"train", "validation", "test"}
    # equal texts share a split wherever they stand
    assert all(split(e, "a") == split(e, "b") for e in untitled)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (ENTRY._replace(summary=" \n"), "no_summary"),
        (ENTRY._replace(documents=[SourceText("\n")]), "no_text"),
        (ENTRY._replace(documents=[]), "no_text"),
    ],
)
def test_an_entry_without_summary_or_text_is_refused(entry, reason):
    with pytest.raises(BadLine) as caught:
        of(entry)
    assert caught.value.reason == reason


def test_paragraphs_are_lines_or_sentences_alone_or_joined():
    text = "One two. Three.\nFour five six."
    sentences = replace(SETTINGS, units="sentences")
    assert paragraphs(text, SETTINGS) == ["One two. Three.", "Four five six."]
    assert paragraphs(text, sentences) == ["One two.", "Three.", "Four five six."]
    joined = [paragraphs(text, replace(sentences, paragraph_words=n)) for n in (1, 3, 4, 6)]
    assert joined == [
        ["One two.", "Three.", "Four five six."],
        ["One two. Three.", "Four five six."],
        ["One two. Three.", "Four five six."],
        ["One two. Three. Four five six."],
    ]
