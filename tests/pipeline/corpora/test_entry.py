import pytest

from wikisum.pipeline.corpora.entry import lines, split_of_name


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train_000.bin", "train"),
        ("val_001.bin", "validation"),
        ("finished_files/chunked/test_000.bin", "test"),
        ("validation-00000-of-00002.parquet", "validation"),
        ("dev.jsonl", "validation"),
        ("all_valid.txt", "validation"),
        ("train/part-test.jsonl", "test"),
        ("training.csv", "train"),
        ("TRAIN", "train"),
        ("contest.csv", None),
        ("trainer.jsonl", None),
        ("devices.jsonl", None),
        ("wikihowAll.csv", None),
    ],
)
def test_a_name_says_a_split_as_a_word(name, split):
    assert split_of_name(name) == split


def test_lines_are_clean_and_not_empty():
    assert lines(" a  b \n\n\u200bc\r\nd\ud800 ") == ["a b", "c", "d?"]
    assert lines(" \n ") == []
