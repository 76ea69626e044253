import os
import sys

import pytest

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs import training_log
from wikisum.ranker.runs.training_log import TrainingLog, read_log


@pytest.fixture
def no_board(monkeypatch):
    """A machine without TensorBoard."""
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)


class Board:
    """Keeps what TensorBoard would be given."""

    def __init__(self, folder, purge_step):
        self.folder, self.purge_step = folder, purge_step
        self.scalars, self.flushes, self.is_closed = [], 0, False
        self.texts = []

    def add_scalar(self, *scalar):
        self.scalars.append(scalar)

    def add_text(self, *text):
        self.texts.append(text)

    def flush(self):
        self.flushes += 1

    def close(self):
        self.is_closed = True


@pytest.fixture
def board(monkeypatch):
    boards = []

    def new(folder, purge_step):
        boards.append(Board(folder, purge_step))
        return boards[-1]

    tensorboard = type(sys)("tensorboard")
    tensorboard.SummaryWriter = new
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", tensorboard)
    return boards


def steps(run):
    return [row["step"] for row in read_log(run)]


def test_a_run_without_a_log_has_no_rows(tmp_path):
    assert read_log(tmp_path) == []


def test_rows_are_lines_of_json(no_board, tmp_path):
    with TrainingLog(tmp_path, 0) as log:
        log.write({"step": 1, "loss": 0.5})
        log.write({"step": 2, "loss": 0.25})
    assert (tmp_path / "log.jsonl").read_text() == (
        '{"step": 1, "loss": 0.5}\n{"step": 2, "loss": 0.25}\n'
    )
    assert read_log(tmp_path) == [{"step": 1, "loss": 0.5}, {"step": 2, "loss": 0.25}]


def test_an_incomplete_last_row_is_ignored_even_if_it_parses(no_board, tmp_path):
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"step": 2}')
    assert steps(tmp_path) == [1]


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"step": 1', "not JSON: Expecting"),
        ("\x00\x00", "not JSON: Expecting"),
        ("[" * 100_000, "not JSON"),
        ("", "not JSON"),
        ("[1]", "not an object"),
        ('{"loss": 1}', "not an object with a whole number as its step"),
        ('{"step": "1"}', "not an object with a whole number as its step"),
    ],
)
def test_a_damaged_row_is_named(row, fault, tmp_path):
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n' + row + '\n{"step": 2}\n')
    with pytest.raises(BadFile, match=r"/log\.jsonl, line 2: " + fault):
        read_log(tmp_path)


@pytest.mark.parametrize(("step", "kept"), [(0, []), (1, [1]), (2, [1, 2]), (9, [1, 2, 3])])
def test_rows_after_the_step_are_cut_off(step, kept, no_board, tmp_path):
    with TrainingLog(tmp_path, 0) as log:
        for number in (1, 2, 3):
            log.write({"step": number})
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"step": 4, "lo')
    assert steps(tmp_path) == [1, 2, 3]
    with TrainingLog(tmp_path, step) as log:
        assert steps(tmp_path) == kept
        log.write({"step": step + 1})
    assert steps(tmp_path) == [*kept, step + 1]


def test_a_row_is_on_disk_when_write_returns(no_board, tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(training_log.os, "fsync", lambda number: synced.append(os.fstat(number)))
    with TrainingLog(tmp_path, 0) as log:
        synced.clear()
        log.write({"step": 1})
        assert steps(tmp_path) == [1]
        assert [entry.st_ino for entry in synced] == [(tmp_path / "log.jsonl").stat().st_ino]


def test_the_file_is_closed_at_the_end(no_board, tmp_path):
    log = TrainingLog(tmp_path, 0)
    with log as entered:
        assert entered is log
    with pytest.raises(ValueError, match="closed"):
        log.write({"step": 1})


def test_tensorboard_shows_the_same_figures(board, tmp_path):
    with TrainingLog(tmp_path, 4) as log:
        log.write({"step": 5, "loss": 0.5, "rate": 0.1})
        log.write({"step": 6, "loss": 0.25})
        (one,) = board
        assert one.flushes == 2
        assert not one.is_closed
    assert one.is_closed
    assert (one.folder, one.purge_step) == (str(tmp_path), 5)
    assert one.scalars == [("loss", 0.5, 5), ("rate", 0.1, 5), ("loss", 0.25, 6)]


def test_a_damaged_tensorboard_is_not_passed_over(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", type(sys)("tensorboard"))
    with pytest.raises(ImportError, match="SummaryWriter"):
        training_log._board(tmp_path, 0)


def test_the_log_is_replaced_in_one_step(no_board, tmp_path, monkeypatch):
    """A kill while the later rows are cut off leaves the old log."""
    (tmp_path / "log.jsonl").write_text('{"step": 1}\n{"step": 2}\n')

    def stop(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", stop)
    with pytest.raises(KeyboardInterrupt):
        TrainingLog(tmp_path, 1)
    assert steps(tmp_path) == [1, 2]


def test_texts_go_to_the_board_alone(board, tmp_path):
    with TrainingLog(tmp_path, 0) as log:
        log.write_text("settings", "a table", 0)
        log.write({"step": 1, "loss": 0.5})
    assert board[0].texts == [("settings", "a table", 0)]
    assert steps(tmp_path) == [1]
