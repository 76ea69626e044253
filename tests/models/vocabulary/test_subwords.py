import pickle

import pytest

from wikisum.models.vocabulary.subwords import Subwords
from wikisum.ranker.data.shards import find_vocab
from wikisum.ranker.data.vocab import END_OF_PARAGRAPH, END_OF_TITLE, load_model


@pytest.fixture
def subwords(topics):
    return Subwords(load_model(find_vocab(str(topics)), "topics"))


def test_subwords_go_to_other_processes_and_end_sentences(subwords):
    title, (paragraph,) = subwords.encode("The mill", ["It was built of granite."])
    assert title.size
    assert paragraph[-1] in subwords.sentence_ends
    again = pickle.loads(pickle.dumps(subwords))
    assert again.decode(paragraph.tolist(), "", []) == "It was built of granite."


def test_sentences_end_with_marks_and_separators(subwords):
    assert {END_OF_TITLE, END_OF_PARAGRAPH} < subwords.sentence_ends
    assert subwords.ids(["."]) <= subwords.sentence_ends
    assert not subwords.ids([","]) & subwords.sentence_ends


def test_a_token_has_its_ids_within_words_and_at_their_start(subwords):
    found = subwords.ids([".", "no such token"])
    assert {subwords.processor.id_to_piece(i) for i in found} <= {".", "▁."}
    assert found
    assert subwords.ids(["no such token"]) == frozenset()


def test_a_fingerprint_is_that_of_the_model(subwords):
    again = pickle.loads(pickle.dumps(subwords))
    assert again.fingerprint() == subwords.fingerprint()
    assert len(subwords.fingerprint()) == 64
    assert subwords.size == len(subwords.processor)
