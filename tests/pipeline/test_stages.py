"""The stages: adding one takes its own folder and one entry in the tuple, nothing else."""

import ast
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.conftest import GOLDEN
from wikisum.pipeline import stages
from wikisum.pipeline.build import build
from wikisum.pipeline.cli import main
from wikisum.pipeline.commands.command import Parser
from wikisum.pipeline.commands.flags import add_job_flags
from wikisum.pipeline.commands.settings import (
    add_article_flags,
    add_build_settings,
    build_settings,
)
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.funnel import Funnel
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.examples.settings import VocabSettings
from wikisum.pipeline.live.stage import LIVE
from wikisum.pipeline.reasons import without_status
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.report.report import READ
from wikisum.pipeline.rerank.stage import RANK
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.stages import STEPS, Step
from wikisum.pipeline.validate.validate import validate
from wikisum.ranker.setting import Checked, setting

ROOT = Path(__file__).parents[2]
PIPELINE, CRAWL = ROOT / "pipeline", ROOT / "crawl"


class Toy(NamedTuple):
    article: str


@dataclass(frozen=True)
class ToySettings(Checked):
    reason: str = setting("too_plain", "why toys are dropped", flag="toy-reason")
    shelf: str | None = setting(None, "where toys are", is_recorded=False)


BOX = Stage(name="box", unit="toys", outputs=(Output(".work/box/"),))
TOY = Stage(
    name="toy",
    unit="articles",
    settings=ToySettings,
    title="toys",
    funnels=(
        Funnel(
            "toys_of_articles",
            "Toys of articles",
            lambda counts: {"found": 2, "made": counts.of("toy")["toys_out"], "dropped": 1},
            sampled="record",
        ),
    ),
    internal=(BOX,),
    outputs=(Output("toys/toys-", Toy, count="toys_out"),),
    reasons={"too_plain": "The article has nothing to play with."},
)


class MakeToys:
    """The work of a stage as its folder would have it: a shard, and one dropped row."""

    def __init__(self, writer, reason: str) -> None:
        self.writer, self.reason = writer, reason

    def __call__(self, index: int, task: str):
        with self.writer.part(index) as part:
            part.write(Toy(task))
            part.drop("record", self.reason, detail=task)
        return part.result()


def toy_step(is_wanted: bool = True) -> Step:
    def run(b: stages.Build) -> list:
        if not is_wanted:
            return []
        files.write_bytes(b.job.workspace.path(".work/box/0"), b"")
        run = StageRun(stage=TOY, settings=b.settings, part_count=1)
        made = MakeToys(b.job.writer(run), b.settings[ToySettings].reason)
        return [run_parts(b.job, run, ["car"], made)]

    return Step((TOY,), run)


def build_with(out: Path, monkeypatch, step: Step) -> dict:
    before = [s.stages[0].name for s in STEPS].index("graphs")
    monkeypatch.setattr(stages, "STEPS", (*STEPS[:before], step, *STEPS[before:]))
    manifest = build(
        Job(Workspace(str(out)), io.StringIO()),
        Settings(VocabSettings(vocab_size=500), ToySettings(shelf="/home/someone")),
        dump=expand([str(GOLDEN / "sample.xml.bz2")]),
        titles=[],
        urls=[],
        search_results=[],
        warcs=expand([str(GOLDEN / "sample-pages-*.gz")]),
        vocab=[],
        remote=RemoteSettings(),
    )
    monkeypatch.undo()
    return manifest


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """The sample, built with the toy stage before the graphs."""
    out = tmp_path_factory.mktemp("toy") / "out"
    with pytest.MonkeyPatch.context() as patch:
        build_with(out, patch, toy_step())
    return out


@pytest.mark.slow
def test_a_new_stage_runs_in_its_place_and_is_in_manifest_and_report(built):
    manifest = json.loads((built / "manifest.json").read_text())
    order = list(manifest["settings"])
    assert order.index("examples") < order.index("toy") < order.index("graphs")
    assert manifest["counts"]["toy"] == {"toys_out": 1, "dropped_too_plain": 1}
    assert manifest["files"]["toys/toys-00000-of-00001.parquet"]["rows"] == 1
    report = json.loads((built / "report/report.json").read_text())
    assert report["counts"]["toy"] == manifest["counts"]["toy"]
    assert ("toy", "too_plain") in {(row["stage"], row["reason"]) for row in report["dropped"]}


def test_a_new_stage_has_its_settings_in_the_manifest_and_its_shards(built):
    manifest = json.loads((built / "manifest.json").read_text())
    assert manifest["settings"]["toy"] == {"reason": "too_plain", "shelf": "/home/someone"}
    shard = pq.ParquetFile(built / "toys/toys-00000-of-00001.parquet")
    stored = json.loads(shard.schema_arrow.metadata[b"wikisum.settings"])
    assert stored == {"toy": {"reason": "too_plain"}}


def test_a_new_stage_has_its_flags(monkeypatch, capsys):
    monkeypatch.setattr(stages, "STEPS", (*STEPS, toy_step()))
    assert main(["build", "--help"]) == 0
    assert "toys:\n  --toy-reason NAME" in capsys.readouterr().out
    words = ["--articles", "a", "--out", "o", "--toy-reason", "too_big"]
    parser = Parser(prog="wikisum build")
    for add in (add_article_flags, add_build_settings, add_job_flags):
        add(parser)
    found = build_settings(parser.parse_args(words), *stages.setting_kinds())
    assert found[ToySettings].reason == "too_big"


def test_a_new_stage_has_its_funnel_in_the_report(built):
    report = json.loads((built / "report/report.json").read_text())
    assert report["funnel"]["toys_of_articles"] == {"found": 2, "made": 1, "dropped": 1}
    assert "Toys of articles" in (built / "report/index.html").read_text()


def test_a_new_stage_is_validated(built, monkeypatch):
    monkeypatch.setattr(stages, "STEPS", (*STEPS, toy_step()))
    assert list(validate(str(built))) == []
    manifest = json.loads((built / "manifest.json").read_text())
    broken = {**manifest, "counts": {**manifest["counts"], "toy": {"toys_out": 2}}}
    (built / "manifest.json").write_text(json.dumps(broken))
    faults = list(validate(str(built)))
    (built / "manifest.json").write_text(json.dumps(manifest))
    assert "toys: has 1 rows, but the counts say 2" in faults
    assert "dropped: 1 rows of toy, but its counts say 0" in faults


def test_a_reason_that_no_stage_declares_is_a_fault(built, monkeypatch):
    undeclared = Step((Stage(**{**vars(TOY), "reasons": {"too_big": "It is too big."}}),))
    monkeypatch.setattr(stages, "STEPS", (*STEPS, undeclared))
    (fault,) = validate(str(built))
    assert fault.endswith("stage toy does not declare the reason 'too_plain' of a record")


@pytest.mark.slow
def test_what_a_later_build_does_not_need_is_deleted(built, monkeypatch):
    build_with(built, monkeypatch, toy_step(is_wanted=False))
    manifest = json.loads((built / "manifest.json").read_text())
    assert "toy" not in manifest["counts"]
    assert not list(built.glob("toys/*"))
    assert not list(built.glob(".work/box/*"))
    assert not list(built.glob("dropped/dropped-toy-*"))
    assert {row["stage"] for row in ds.dataset(built / "dropped").to_table().to_pylist()} - {"toy"}
    assert list(validate(str(built))) == []


def test_names_and_prefixes_are_unique():
    every = [each for stage in stages.stages() for each in (stage, *stage.internal)]
    every += [RANK, READ]
    assert len({stage.name for stage in every}) == len(every)
    deleted = [stage for stage in every if stage not in (LIVE, RANK)]  # what these have stays
    prefixes = [prefix for stage in deleted for prefix in stage.prefixes]
    assert len(set(prefixes)) == len(prefixes)
    for one in prefixes:
        assert [p for p in prefixes if p.startswith(one)] == [one]


def test_the_order_is_that_of_the_flow():
    assert [stage.name for stage in stages.stages()] == [
        "import",
        "templates", "template-store", "articles", "queries", "candidates", "search", "wanted",
        "lookup", "follow", "locate", "fetch", "scan", "live", "live-scan", "examples", "order",
        "graphs", "vocab", "tokenize",
    ]  # fmt: skip
    pages = [stage.name for stage in stages.page_stages()]
    assert pages == ["import", "fetch", "scan", "live-scan"]


def test_internal_stages_write_into_the_work_folder_alone():
    inner = {each.name: each for stage in stages.stages() for each in stage.internal}
    assert set(inner) == {
        "keys",
        "filter",
        "live-filter",
        "index",
        "statistics",
        "merge",
        "recurring",
    }
    assert all(output.is_internal for each in inner.values() for output in each.all_outputs)


def test_stages_beside_the_flow_are_those_of_a_search():
    every = [each for stage in stages.stages() for each in (stage, *stage.internal)]
    assert {stage.name for stage in every if stage.is_beside} == {
        "queries", "index", "statistics", "candidates", "merge", "search",
    }  # fmt: skip


ERRORS = {
    "BadUrl", "BadRecord", "BadPage", "BadArticle", "BadLine", "BadAnswer", "NotFetched",
}  # fmt: skip
# the position of the reason among the arguments
REASON_AT = {"Rejected": 1, "_lost": 1, "reject": 0, "_break": 0, "drop": 1, "Dropped": 4}


def reasons_in(path: Path) -> set[str]:
    """The reasons that stand in a file as strings: in errors, in dropped rows, in `*_reason()`."""
    found: list[ast.expr] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            at = 0 if name in ERRORS else REASON_AT.get(name)
            if at is not None and len(node.args) > at:
                found.append(node.args[at])
            found += [k.value for k in node.keywords if k.arg == "reason"]
        if isinstance(node, ast.FunctionDef) and node.name.strip("_").endswith("reason"):
            returns = [n for n in ast.walk(node) if isinstance(n, ast.Return)]
            found += [n.value for n in returns if n.value is not None]
    return {text for expression in found for text in texts_of(expression)}


def texts_of(expression: ast.expr) -> set[str]:
    if isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        return {expression.value}
    if isinstance(expression, ast.JoinedStr):
        return {"".join(getattr(part, "value", "404") if isinstance(part, ast.Constant) else "404"
                        for part in expression.values)}  # fmt: skip
    if isinstance(expression, ast.IfExp):
        return texts_of(expression.body) | texts_of(expression.orelse)
    return set()


# fates of paragraphs and reasons to skip a page: they are counted and have no rows
PARAGRAPHS = {"crawl/paragraphs.py", "crawl/original/t2t.py"}
SKIPPED = {"namespace", "not_selected", "duplicate"}


@pytest.mark.slow
def test_every_reason_in_the_code_is_declared():
    paths = [p for p in [*PIPELINE.rglob("*.py"), *CRAWL.rglob("*.py")]]
    named = {
        reason
        for path in paths
        if str(path.relative_to(ROOT)) not in PARAGRAPHS
        for reason in reasons_in(path)
    }
    assert {"bad_url", "http_404", "http_status_404", "no_lead", "timeout", "clone"} <= named
    declared = {reason for stage in stages.stages() for reason in stage.reasons}
    assert {without_status(r) for r in named} - declared - SKIPPED == set()


def test_no_declared_reason_is_unknown_to_the_code():
    text = "".join(p.read_text() for p in [*PIPELINE.rglob("*.py"), *CRAWL.rglob("*.py")]
                   if p.name not in ("stage.py", "reasons.py"))  # fmt: skip
    declared = {reason for stage in stages.stages() for reason in stage.reasons}
    plain = {reason for reason in declared if "<" not in reason}
    assert {reason for reason in plain if f'"{reason}"' not in text} == set()


def test_every_reason_is_one_sentence():
    for stage in stages.stages():
        for reason, sentence in stage.reasons.items():
            assert sentence[0].isupper(), (stage.name, reason)
            assert sentence.endswith("."), (stage.name, reason)


def test_the_status_of_a_reason_is_left_out():
    assert without_status("http_404") == "http_<code>"
    assert without_status("http_status_301") == "http_status_<code>"
    assert without_status("not_http") == "not_http"


def test_a_reference_may_bear_the_reason_of_any_stage():
    assert stages.is_declared("examples", "reference", "http_status_404")
    assert not stages.is_declared("examples", "article", "http_status_404")
    assert not stages.is_declared("examples", "reference", "unheard_of")
