import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.graphs import encoder, entities
from wikisum.graphs.encoder import BLOCK, DenseLayer, Encoder, maxout, product

TEXT = "Can't the U.N. envoy  meet\tMerkel? \U0001f600"
COLUMNS = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]


def vectors_of_spacy(text):
    """The document, its attributes, and spaCy's vectors without and with their context."""
    nlp = entities.recognizer()
    document = nlp.make_doc(text)
    layer = nlp.get_pipe("ner").model.get_ref("tok2vec").layers[0]
    (words,), (in_context,) = layer.get_ref("embed").predict([document]), layer.predict([document])
    return document, document.to_array(COLUMNS), words, in_context


def with_gaps(encoder, texts):
    """The vectors of texts with rows of zeros around each, and which rows are of texts."""
    gap = np.zeros((encoder.reach, encoder.width), np.float32)
    parts = [gap] + [part for text in texts for part in (text, gap)]
    is_text = np.concatenate([np.full(len(part), part is not gap) for part in parts])
    return np.concatenate(parts), is_text


def test_maxout_by_hand():
    values = np.float32([[1, 5, 2, 4, 3, 3]])
    assert maxout(values, 2).tolist() == [[3, 5]]
    assert maxout(values, 3).tolist() == [[4, 5, 3]]


def test_layer_by_hand():
    weights = np.float32([[1, 0, 0, 0], [0, 1, 3, 0]])
    layer = DenseLayer(weights, np.float32([0, 0, 0, 5]), np.float32([2, 2]), np.float32([0, 1]))
    assert layer(np.float32([[1, 1]])) == pytest.approx(np.float32([[-2, 3]]), abs=1e-5)


def test_vectors_are_those_of_spacy():
    document, attributes, words, in_context = vectors_of_spacy(TEXT)
    mine = entities.network().encoder
    found = mine.words(np.arange(len(document), dtype=np.uint64), attributes)
    assert found == pytest.approx(words, abs=1e-4)
    rows, is_text = with_gaps(mine, [found])
    assert mine.in_context(rows)[is_text] == pytest.approx(in_context, abs=1e-4)


@settings(max_examples=20)
@given(st.integers(1, 3 * BLOCK), st.integers(0, 1000))
def test_the_rounding_of_a_row_does_not_depend_on_others(count, seed):
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(count, 288)).astype(np.float32)
    weights = chance.normal(size=(288, 96)).astype(np.float32)
    row = int(chance.integers(count))
    assert (product(rows, weights)[row] == product(rows[row : row + 1], weights)[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("kernels", ["Haswell", "Nehalem"])
def test_rounding_depends_on_nothing_else_with_other_kernels_of_openblas(kernels):
    """Another BLAS ignores the variable. Haswell's kernels do not round all of 256 rows alike."""
    code = (
        "import numpy as np\nfrom wikisum.graphs.encoder import product\n"
        "chance = np.random.default_rng(0)\n"
        "rows, weights = (chance.normal(size=(n, 96)).astype(np.float32) for n in (300, 288))\n"
        "found = product(rows, weights.T)\n"
        "assert all((product(rows[i:], weights.T) == found[i:]).all() for i in range(40))\n"
    )
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernels}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def test_texts_do_not_change_each_other():
    mine = entities.network().encoder
    chance = np.random.default_rng(0)
    texts = [chance.normal(size=(n, mine.width)).astype(np.float32) for n in (1, 300, 3)]
    rows, is_text = with_gaps(mine, texts)
    alone = []
    for text in texts:
        own, is_own = with_gaps(mine, [text])
        alone.append(mine.in_context(own)[is_own])
    assert (mine.in_context(rows)[is_text] == np.concatenate(alone)).all()


class Doubling:
    """An embedding that counts its rows."""

    rows = 0

    def predict(self, attributes):
        self.rows += len(attributes)
        return 2 * attributes.astype(np.float32)


class Same:
    """A layer that changes nothing."""

    gain = np.ones(1, np.float32)

    def __call__(self, rows):
        return rows


@pytest.mark.parametrize(("limit", "embedded"), [(4, 3), (3, 4), (1, 4)])
def test_vectors_of_words_are_kept_up_to_a_limit(monkeypatch, limit, embedded):
    monkeypatch.setattr(encoder, "MAX_KNOWN", limit)
    embed = Doubling()
    mine = Encoder(embed, Same(), [])
    for keys in ([7, 5, 7], [5, 9], []):
        column = np.array(keys, np.uint64)
        assert mine.words(column, column[:, None])[:, 0].tolist() == [2 * key for key in keys]
        assert len(mine._row_of) <= max(limit, 2)  # or the words of a batch
    assert embed.rows == embedded
