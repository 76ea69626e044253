import pytest

from wikisum.pipeline.examples.shards import ExampleShards

SHARDS = ExampleShards({"train": 8, "validation": 2, "test": 1})


def test_the_shards_of_all_splits_are_numbered_through():
    names = [SHARDS.name(index) for index in range(SHARDS.part_count)]
    assert names[0] == "train-00000-of-00008"
    assert names[7:] == [
        "train-00007-of-00008",
        "validation-00000-of-00002",
        "validation-00001-of-00002",
        "test-00000-of-00001",
    ]
    with pytest.raises(IndexError):
        SHARDS.name(11)


@pytest.mark.parametrize(
    ("article", "split", "name"),
    [
        ("000000000000000a", "train", "train-00002-of-00008"),
        ("000000000000000b", "validation", "validation-00001-of-00002"),
        ("ffffffffffffffff", "test", "test-00000-of-00001"),
        ("", "", "train-00000-of-00008"),
    ],
)
def test_an_article_belongs_to_a_shard_of_its_split(article, split, name):
    assert SHARDS.name(SHARDS.part(article, split)) == name
