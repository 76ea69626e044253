"""Whole articles as targets: sections are encoded as row groups are read."""

import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest

from wikisum.models.data.batches import SplitReader
from wikisum.models.network.hierarchical_transformer import HierarchicalSettings
from wikisum.models.settings.run import SourceSettings
from wikisum.models.targets import split_article
from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab, split_shards
from wikisum.ranker.data.vocab import load_model
from wikisum.ranker.training.lengths import reader_key

WHOLE = SourceSettings(source_tokens=100, target="article", article_tokens=200)


@pytest.fixture
def vocab(articles):
    return load_model(find_vocab(str(articles)), "vocabulary")


@pytest.fixture
def make_reader(articles, vocab):
    def make(source=WHOLE):
        shards = split_shards(str(articles), "validation")
        return SplitReader(shards, HierarchicalSettings(), source, Subwords(vocab))

    return make


def targets(reader, *numbers):
    """The targets of examples, without the end."""
    labels = reader.batch(np.array(numbers)).label_BS.tolist()
    return [[i for i in row if i][:-1] for row in labels]


def test_targets_are_the_lead_and_the_sections(articles, vocab, make_reader):
    rows = pq.read_table(articles / "examples" / "validation-00000-of-00001.parquet").to_pylist()
    for row, ids in zip(rows, targets(make_reader(), 0, 1, 2), strict=False):
        lead, sections = split_article(ids)
        assert lead == row["lead_ids"]
        found = [(vocab.decode(s.title), s.level, vocab.decode(s.text)) for s in sections]
        assert found == [(s["title"], s["level"], s["text"]) for s in row["sections"]]


def test_targets_are_cut_and_lengths_are_those_of_batches(make_reader):
    whole = targets(make_reader(), 0)[0]
    reader = make_reader(SourceSettings(target="article", article_tokens=len(whole) - 2))
    assert targets(reader, 0)[0] == whole[:-2]
    lengths = reader.lengths()
    for number in (0, 5):
        assert lengths.target[number] == len(targets(reader, number)[0]) + 1


def test_a_reader_of_articles_travels(make_reader):
    reader = make_reader()
    again = pickle.loads(pickle.dumps(reader))
    assert targets(again, 3) == targets(reader, 3)
    assert reader_key(again) == reader_key(reader)


def test_another_target_has_another_key(make_reader):
    sources = [WHOLE, SourceSettings(source_tokens=100), SourceSettings(target="article")]
    assert len({reader_key(make_reader(source)) for source in sources}) == 3


def test_articles_need_a_vocabulary(articles):
    with pytest.raises(ValueError, match="whole articles need a vocabulary"):
        SplitReader(split_shards(str(articles), "train"), HierarchicalSettings(), WHOLE)
