import numpy as np
import pytest

from wikisum.models.vocabulary.vectors import read_vectors

WORDS = ["<pad>", "the", "mill", "élan"]


@pytest.fixture
def write(tmp_path):
    def to(text):
        path = tmp_path / "a.vec"
        path.write_text(text, encoding="utf-8")
        return path

    return to


def test_words_of_the_file_get_their_vectors_and_others_random_ones(write):
    path = write("3 2\nmill 3 4\nélan 0.5 -1e-1 \nother x y\n")
    vectors, found = read_vectors(path, WORDS, 2)
    assert found == 2
    np.testing.assert_allclose(vectors[2:], [[3, 4], [0.5, -0.1]], rtol=1e-6)
    assert vectors[:2].all()
    again, _ = read_vectors(path, WORDS, 2)
    assert (again == vectors).all()


def test_of_a_word_that_stands_twice_the_first_counts(write):
    vectors, _ = read_vectors(write("2 1\nmill 3\nmill 4\n"), WORDS, 1)
    assert vectors[2] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a.vec, line 1: expected the number of words and their width"),
        ("mill 1 2\n", "a.vec, line 1: expected the number of words"),
        ("1 3\nmill 1 2 3\n", "a.vec, line 1: vectors have 3 numbers, but --embedding is 2"),
        ("2 2\nthe 1 2\nmill 1\n", "a.vec, line 3: 1 numbers, not 2"),
        ("1 2\nmill 1 x\n", "a.vec, line 2: could not convert string to float"),
        ("1 2\nmill 1 nan\n", "a.vec, line 2: a number is not finite"),
        ("3 2\nmill 1 2\n", "a.vec: line 1 announces 3 words, but 1 lines follow"),
        ("1 2\nother 1 2\n", "a.vec has none of the words of the vocabulary"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(text, message, write):
    with pytest.raises(ValueError, match=message):
        read_vectors(write(text), WORDS, 2)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="--word-vectors: there is no file"):
        read_vectors(tmp_path / "b.vec", WORDS, 2)
