import json
from dataclasses import dataclass, replace
from typing import Any

import pytest

from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.records import Dropped
from wikisum.pipeline.setting import Settings
from wikisum.ranker.setting import Checked, setting


@pytest.mark.parametrize(
    ("prefix", "folder", "is_internal"),
    [
        ("examples/train-", "examples", False),
        (".work/index/part-", ".work/index", True),
        ("README", "", False),
    ],
)
def test_the_folder_of_an_output(prefix, folder, is_internal):
    output = Output(prefix)
    assert (output.folder, output.is_internal) == (folder, is_internal)


def test_a_stage_with_reasons_also_writes_dropped_rows():
    pages = Output("pages/pages-")
    stage = Stage("toy", "pages", (pages,), {"too_old": "The page is too old."})
    assert stage.all_outputs == (pages, Output("dropped/dropped-toy-", Dropped))
    assert stage.prefixes == ("pages/pages-", "dropped/dropped-toy-")
    assert Stage("toy", "pages", (pages,)).prefixes == ("pages/pages-",)


@dataclass(frozen=True)
class ToySettings(Checked):
    size: int = setting(3, "size of a toy")
    path: str | None = setting(None, "where toys are", is_recorded=False)


TOY = Stage("toy", "toys", settings=ToySettings)
BEFORE = StageResult("older", "hash", [], {}, {"origin": {"older": {"a": 1}}}, 0.0)
FILE = InputFile("list", "/lists/list", 5, 1.5)


def test_a_fingerprint_depends_on_all_that_decides_about_the_content():
    def hash_of(stage: Stage = TOY, **changes: Any) -> str:
        return StageRun(**{"stage": stage, "part_count": 1, **changes}).fingerprint

    same = [
        hash_of(),
        hash_of(part_count=9, total_work=5.0, extra={"n": 1}),
        hash_of(settings=Settings(ToySettings(path="/home/someone"))),
    ]
    other = [
        hash_of(Stage("other", "toys", settings=ToySettings)),
        hash_of(settings=Settings(ToySettings(4))),
        hash_of(before=[BEFORE]),
        hash_of(before=[replace(BEFORE, fingerprint="other")]),
        hash_of(inputs={"lists": [FILE]}),
        hash_of(inputs={"lists": [FILE._replace(modified=2.5)]}),
        hash_of(key={"a": 1}),
    ]
    assert len(set(same)) == 1
    assert len({*same, *other}) == 1 + len(other)


def test_shards_name_all_settings_before_them_and_no_path_of_this_machine():
    settings = Settings(ToySettings(4, "/home/someone"))
    run = StageRun(stage=TOY, settings=settings, before=[BEFORE], part_count=1)
    assert json.loads(run.metadata["wikisum.settings"]) == {"older": {"a": 1}, "toy": {"size": 4}}
    without = StageRun(stage=Stage("plain", "toys"), before=[BEFORE], part_count=1)
    assert json.loads(without.metadata["wikisum.settings"]) == {"older": {"a": 1}}


def test_the_order_of_stages_before_does_not_show_in_shards():
    other = replace(BEFORE, stage="other", extra={"origin": {"other": {"b": 2}}})
    one, two = (
        StageRun(stage=TOY, before=before, part_count=1).metadata
        for before in ([BEFORE, other], [other, BEFORE])
    )
    assert one == two


def test_a_result_records_settings_and_inputs():
    settings = Settings(ToySettings(4, "here"))
    run = StageRun(
        stage=TOY, settings=settings, inputs={"lists": [FILE]}, part_count=1, extra={"n": 1}
    )
    assert run.recorded == {
        "settings": {"size": 4, "path": "here"},
        "origin": {"toy": {"size": 4}},
        "inputs": {"lists": [{"name": "list", "path": "/lists/list", "bytes": 5}]},
        "n": 1,
    }
