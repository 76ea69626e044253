"""The words of a run are counted once, by its main process, or taken from another run."""

import io

import pytest
import torch

from wikisum.models.table import preset
from wikisum.models.training import vocabulary
from wikisum.models.training.vocabulary import prepare_vocabulary
from wikisum.models.vocabulary.run_vocabulary import save_words
from wikisum.models.vocabulary.words import Words
from wikisum.ranker.data.vocab import PIECES
from wikisum.ranker.runs.checkpoints import LAST
from wikisum.ranker.training.distributed import ProcessGroup


@pytest.fixture
def words_of(tmp_path, monkeypatch):
    """A function: the words that a process reads, of which the last says where they come from."""
    monkeypatch.setattr(vocabulary, "count_words", lambda *_: Words([*PIECES, "counted"]))

    def prepare(rank=0, init_from=None):
        group = ProcessGroup(rank, 1, torch.device("cpu"))
        settings = preset("tiny-pointer")
        run = tmp_path / "run"
        found = prepare_vocabulary(run, [], settings, None, init_from, group, io.StringIO())
        return found.words[-1]

    return prepare


def test_words_are_counted_for_a_new_run(words_of, tmp_path):
    save_words(tmp_path / "run", Words([*PIECES, "of a run without weights"]))
    assert words_of() == "counted"


def test_a_run_that_is_resumed_keeps_its_words(words_of, tmp_path):
    save_words(tmp_path / "run", Words([*PIECES, "kept"]))
    (tmp_path / "run" / LAST).touch()
    assert words_of() == "kept"


def test_a_run_from_other_weights_takes_their_words(words_of, tmp_path):
    save_words(tmp_path / "other", Words([*PIECES, "taken"]))
    assert words_of(init_from=tmp_path / "other") == "taken"
    with pytest.raises(FileNotFoundError, match="no vocabulary of words"):
        words_of(init_from=tmp_path)


def test_only_the_main_process_counts(words_of, tmp_path):
    save_words(tmp_path / "run", Words([*PIECES, "of the main process"]))
    assert words_of(rank=1) == "of the main process"
