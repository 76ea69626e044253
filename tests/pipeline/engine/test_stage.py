import pytest

from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.records import DROPPED, Dropped


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
    assert stage.all_outputs == (pages, Output("dropped/dropped-toy-", Dropped, DROPPED))
    assert stage.prefixes == ("pages/pages-", "dropped/dropped-toy-")
    assert Stage("toy", "pages", (pages,)).prefixes == ("pages/pages-",)


def test_a_fingerprint_depends_on_name_and_key_alone():
    def run(name: str = "toy", part_count: int = 1, **key: object) -> str:
        return StageRun(Stage(name, "pages"), key, part_count, part_count, {"n": 1}).fingerprint

    assert run(a=1, b=2) == run(b=2, a=1) == run(part_count=9, a=1, b=2)
    assert len({run(), run("other"), run(a=1), run(a=2), run(b=1)}) == 5
