"""The real chunks of CNN/DailyMail: every article is read, and Lead-3 is scored as elsewhere."""

from itertools import islice

import pytest
from rouge_score.rouge_scorer import RougeScorer

from wikisum.crawl.errors import DataError
from wikisum.models.decoding.summary_files import Summary
from wikisum.models.evaluation.metrics import summary_parts
from wikisum.pipeline.corpora.corpus import CORPORA
from wikisum.pipeline.corpora.read import plan, read
from wikisum.pipeline.corpora.records import records_of
from wikisum.pipeline.corpora.settings import CorpusSettings
from wikisum.pipeline.engine.files import expand
from wikisum.ranker.select import lead_sentences
from wikisum.ranker.sentences import sentences

SETTINGS = CorpusSettings(units="sentences")
NAMES = {"rouge1": "rouge1", "rouge2": "rouge2", "rougeLsum": "rougeLsum"}


@pytest.fixture(scope="module")
def rows(real_data):
    """The first articles of a chunk of the archive, as it is."""
    corpus = CORPORA["cnndm"]
    (task,) = plan(corpus, expand([str(real_data / "cnndm-part.tar.xz")]))
    return list(islice(read(corpus, task), 60))


def test_articles_of_the_archive_become_sentences_and_highlights(rows):
    whole = [row for row in rows if not isinstance(row.entry, DataError)]
    assert len(whole) == 60
    assert {row.file for row in whole} == {"cnndm-part.tar.xz/cnndm/train_001.bin"}
    for row in whole:
        if not row.entry.documents[0].text.strip():
            continue  # a few training articles of the corpus are empty
        article, _, (document,) = records_of(row, row.entry, SETTINGS)
        assert article.split == "train"
        assert " ".join(document.paragraphs).split() == row.entry.documents[0].text.split()
        assert len(document.paragraphs) > 3
        assert "<s>" not in article.lead
        assert len(article.lead.split("\n")) == row.entry.summary.count("\n") + 1


def test_lead3_equals_rouge_score_to_the_digit(rows):
    scorer = RougeScorer(list(NAMES), use_stemmer=True)
    for row in rows[:25]:
        article, _, (document,) = records_of(row, row.entry, SETTINGS)
        summary = lead_sentences(document.paragraphs)
        ours = summary_parts(Summary(article.id, "", article.lead, summary), stem=True)
        # one sentence per line, as everyone scores CNN/DailyMail
        gold, lead3 = "\n".join(sentences(article.lead)), "\n".join(document.paragraphs[:3])
        theirs = scorer.score(gold, lead3)
        for name in NAMES:
            assert ours[name] == (theirs[name].fmeasure, 1.0)
