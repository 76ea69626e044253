from tests.builders import article, stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import ARTICLE
from wikisum.pipeline.report import names
from wikisum.pipeline.report.names import CountNames, NameCount, read_names

STAGE = Stage("report", "articles", (Output(".work/names/", NameCount),))


def counted(folder, *shards: list[tuple[list[str], list[str]]]) -> dict:
    paths = []
    for index, rows in enumerate(shards):
        path = f"articles/articles-{index:05d}.parquet"
        with open_shard(str(folder), path, ARTICLE, {}) as shard:
            for categories, unknown in rows:
                shard.write(article(categories=categories, unknown_templates=unknown))
        paths += [f.path for f in CountNames(stage_writer(folder, STAGE, 2))(index, path).files]
    return read_names(Workspace(str(folder)), paths)


def test_names_are_counted_once_per_article_over_all_shards(tmp_path):
    found = counted(
        tmp_path,
        [(["Ships", "Ships", "Bridges"], []), (["Ships"], ["frob"])],
        [(["Bridges"], ["frob"]), (["Arches"], [])],
    )
    assert list(found["categories"].items()) == [("Bridges", 2), ("Ships", 2), ("Arches", 1)]
    assert found["unknown_templates"] == {"frob": 2}


def test_long_lists_are_cut_per_shard_and_in_the_report(tmp_path, monkeypatch):
    monkeypatch.setattr(names, "MAX_NAMES_PER_SHARD", 2)
    monkeypatch.setattr(names, "SHOWN_NAMES", 1)
    found = counted(tmp_path, [(["A", "B", "C"], []), (["C", "B"], []), (["B"], [])])
    assert found["categories"] == {"B": 3}
