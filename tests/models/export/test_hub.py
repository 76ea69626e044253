import re

import datasets
import pytest

from benchmarks.topics import TopicSettings, write_topics
from wikisum.models.export.export import export
from wikisum.models.export.hub import COLUMNS, hub_card
from wikisum.models.export.source import Source
from wikisum.pipeline.records import EXAMPLE
from wikisum.pipeline.report.card import card


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    write_topics(folder / "data", 40, TopicSettings(facts=2, distractors=4), 400)
    (folder / "data" / "README.md").write_text(card("en", {"train": 32}, {"documents_out": 9}))
    export(str(folder / "data"), "hf", folder / "hub")
    return folder


def test_the_hub_folder_loads_by_its_own_card(hub, tmp_path):
    def rows(config: str, split: str) -> list[str]:
        loaded = datasets.load_dataset(
            str(hub / "hub"), config, split=split, cache_dir=str(tmp_path)
        )
        return loaded["id"][:]

    for split in ("train", "validation", "test"):
        ids = [row["id"] for row in Source(str(hub / "data")).rows(split, ["id"])]
        assert rows(split, split) == ids
        assert rows("default", split) == ids


def test_the_hub_folder_has_nothing_else_and_no_absolute_path(hub):
    names = {p.relative_to(hub / "hub").parts[0] for p in (hub / "hub").rglob("*")}
    assert names == {"README.md", "data", "vocab"}
    assert str(hub) not in (hub / "hub" / "README.md").read_text()


def test_the_card_has_tags_sizes_columns_and_citation(hub):
    text = (hub / "hub" / "README.md").read_text()
    front = text.split("---\n")[1]
    assert "license: cc-by-sa-4.0" in front
    assert "tags:\n  - summarization\n" in front
    assert re.findall(r"config_name: (\w+)", front) == ["default", "train", "validation", "test"]
    assert "path: examples/" not in text
    assert text.count("## Columns") == 1
    for name in EXAMPLE.names:
        assert f"| `{name}` |" in text
    assert list(COLUMNS) == EXAMPLE.names
    assert "@inproceedings{liu2018generating," in text
    assert "# WikiSum, rebuilt" in text


def test_paths_of_the_builders_machine_are_removed():
    text = hub_card("---\nlicense: other\n---\n\nSee /home/me/data/x.md and https://a.example/b/c.",
                    {"train": 1}, {"train": 2})  # fmt: skip
    assert "/home/me" not in text
    assert "https://a.example/b/c." in text
    assert "| train | 1 | 2 |" in text
