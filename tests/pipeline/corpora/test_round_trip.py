"""What `wikisum export` writes, `wikisum import` reads again."""

import pytest

from benchmarks.topics import TopicSettings, write_topics
from wikisum.models.export.export import export
from wikisum.models.export.source import Source, documents_of
from wikisum.pipeline.corpora.corpus import CORPORA
from wikisum.pipeline.corpora.read import plan, read
from wikisum.pipeline.corpora.records import records_of
from wikisum.pipeline.corpora.settings import CorpusSettings
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.records import SPLITS


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out = tmp_path_factory.mktemp("data") / "data"
    write_topics(out, 40, TopicSettings(facts=2, distractors=4), 400)
    return out


def imported(corpus: str, patterns: list[str]) -> set[tuple]:
    """(split, title, lead, texts of the documents) of each entry that is read."""
    settings = CorpusSettings(units="lines")
    found = set()
    for task in plan(CORPORA[corpus], expand(patterns)):
        for row in read(CORPORA[corpus], task):
            article, _, documents = records_of(row, row.entry, settings)
            texts = frozenset("\n".join(d.paragraphs) for d in documents)
            found.add((article.split, article.title, article.lead, texts))
    return found


def exported(data, with_title: bool = True) -> set[tuple]:
    return {
        (split, row["title"] * with_title, row["lead"], frozenset(documents_of(row)))
        for split in SPLITS
        for row in Source(str(data)).rows(split)
    }


@pytest.mark.parametrize(("to", "files"), [("jsonl", "*.jsonl"), ("hf", "data/*.parquet")])
def test_examples_return_with_titles_leads_documents_and_splits(data, tmp_path, to, files):
    export(str(data), to, tmp_path / "out")
    found = imported("examples", [str(tmp_path / "out" / files)])
    assert found == exported(data)
    assert len(found) == 40


def test_text_returns_without_titles(data, tmp_path):
    export(str(data), "text", tmp_path / "out")
    patterns = [str(tmp_path / "out" / end) for end in ("*.src", "*.tgt")]
    assert imported("multinews", patterns) == exported(data, with_title=False)
