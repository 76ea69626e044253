from dataclasses import replace

from tests.builders import article, stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import ARTICLE, DROPPED, Dropped
from wikisum.pipeline.report import names
from wikisum.pipeline.report.names import CountNames, NameCount, read_names
from wikisum.pipeline.report.samples import ReadDropped

NOTICE = "Your request has been blocked."
STAGE = Stage("report", "articles", (Output(".work/names/", NameCount),))


def counted(folder, *shards: list[tuple[list[str], list[str]]]) -> dict:
    paths = []
    for index, rows in enumerate(shards):
        path = f"articles/articles-{index:05d}.parquet"
        with open_shard(str(folder), path, ARTICLE, {}) as shard:
            for categories, unknown in rows:
                shard.write(article(categories=categories, unknown_templates=unknown))
        paths += [f.path for f in CountNames(stage_writer(folder, STAGE, 2))(index, [path]).files]
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
    monkeypatch.setattr(names, "MAX_NAMES_PER_PART", 2)
    monkeypatch.setattr(names, "SHOWN_NAMES", 1)
    found = counted(tmp_path, [(["A", "B", "C"], []), (["C", "B"], []), (["B"], [])])
    assert found["categories"] == {"B": 3}


def test_recurring_lines_are_counted_once_per_article(tmp_path):
    rows = [("a", "recurring_line", NOTICE), ("a", "recurring_line", NOTICE),
            ("b", "recurring_line", NOTICE), ("b", "short_document", "other")]  # fmt: skip
    path = "dropped/dropped-examples-train-00000-of-00001.parquet"
    with open_shard(str(tmp_path), path, DROPPED, {}) as shard:
        for article_id, reason, detail in rows:
            shard.write(Dropped("paragraph", article_id, None, "examples", reason, detail=detail))
    outputs = (Output(".work/samples/", Dropped), *STAGE.outputs)
    stage = replace(STAGE, outputs=outputs)
    written = ReadDropped(stage_writer(tmp_path, stage))(0, [path]).files[1:]
    found = read_names(Workspace(str(tmp_path)), [file.path for file in written])
    assert found["recurring_lines"] == {NOTICE: 2}
