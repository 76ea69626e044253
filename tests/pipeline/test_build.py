import json
import os
import random
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.pipeline.conftest import SETTINGS, make_dataset
from tests.power_cuts import Disk, PowerCut
from wikisum.pipeline.build import finish, finished_stages, made_pages, with_language
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.examples.stage import (
    encode_subwords,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.live.stage import LIVE, LIVE_SCAN, documents_key
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.setting import Settings


def languages(settings: Settings) -> tuple[str | None, str | None]:
    return settings[PageSettings].language, settings[ExampleSettings].language


def test_the_language_of_the_dump_is_taken_where_none_is_named():
    assert languages(with_language(SETTINGS, "de")) == ("de", "de")
    named = SETTINGS.changed(PageSettings(language="fr"))
    assert languages(with_language(named, "de")) == ("fr", "de")
    named = SETTINGS.changed(ExampleSettings(language="any"))
    assert languages(with_language(named, "de")) == ("de", "any")


def test_finished_stages_stand_in_the_order_of_the_flow(flow):
    names = [result.stage for result in finished_stages(flow.job)]
    assert names == ["articles", "wanted", "scan", "examples", "graphs", "vocab", "tokenize"]


def test_report_card_and_manifest_are_written(flow):
    out = Path(flow.job.workspace.out)
    for name in ("manifest.json", "README.md", "report/report.json", "report/index.html"):
        (out / name).unlink()
    manifest = finish(flow.job, finished_stages(flow.job))
    assert json.loads((out / "manifest.json").read_text()) == manifest
    assert sorted(manifest["others"]) == ["README.md", "report/index.html", "report/report.json"]
    assert all((out / name).is_file() for name in manifest["others"])
    assert manifest["counts"]["tokenize"]["examples_out"] == 2


def test_a_report_is_written_again_only_after_a_stage_has_run(flow):
    page = Path(flow.job.workspace.out) / "report" / "index.html"
    page.write_text("mine")
    finish(flow.job, finished_stages(flow.job))
    assert page.read_text() == "mine"
    (Path(flow.job.workspace.out) / "manifest.json").unlink()  # as a stage does that runs
    finish(flow.job, finished_stages(flow.job))
    assert page.read_text() != "mine"


def test_deleted_intermediate_examples_are_made_again_and_nothing_else(flow):
    out = Path(flow.job.workspace.out)
    before = shards(out)
    shutil.rmtree(out / ".work" / "joined")
    flow.job.to.truncate(flow.job.to.seek(0))
    results = flow.results
    joined = join_pages(
        flow.job, SETTINGS, results["articles"], results["wanted"], [results["scan"]]
    )
    linked = link_paragraphs(flow.job, SETTINGS, joined)
    trained = train_vocab(flow.job, SETTINGS, [], joined)
    encode_subwords(flow.job, SETTINGS, linked, trained)
    again = [x for x in flow.job.to.getvalue().splitlines() if not x.endswith("already done")]
    assert [line.split()[0] for line in again] == ["examples"]
    assert shards(out) == before


def test_documents_are_those_of_the_same_wanted_pages(flow):
    wanted = flow.results["wanted"]
    assert [result.stage for result in made_pages(flow.job, wanted)] == ["scan"]
    with pytest.raises(JobFailed, match="has no pages: run `wikisum scan` or `wikisum fetch`"):
        made_pages(flow.job, replace(wanted, fingerprint="other"))


def record(flow, stage, **extra) -> None:
    """Record a stage as finished."""
    flow.job.workspace.finish(StageResult(stage.name, stage.name, [], {}, extra, 0.0))


def test_live_pages_count_until_crawls_are_read_again(flow):
    wanted, scan = flow.results["wanted"], flow.results["scan"]
    after = documents_key([scan])
    record(flow, LIVE)
    record(flow, LIVE_SCAN, wanted=wanted.fingerprint, after=after)
    names = [result.stage for result in made_pages(flow.job, wanted)]
    assert names == ["scan", "live", "live-scan"]
    record(flow, LIVE_SCAN, wanted=wanted.fingerprint, after="other documents")
    assert [result.stage for result in made_pages(flow.job, wanted)] == ["scan"]
    assert flow.job.workspace.finished(LIVE_SCAN.name) is None
    assert flow.job.workspace.finished(LIVE.name) is not None


def shards(out: Path) -> dict[str, bytes]:
    paths = [p for p in out.rglob("*") if p.suffix in (".parquet", ".model", ".vocab")]
    return {str(p.relative_to(out)): p.read_bytes() for p in paths}


@pytest.fixture(scope="module")
def operations(tmp_path_factory) -> int:
    """How often a whole build creates, syncs, renames or deletes a file."""
    folder = tmp_path_factory.mktemp("counted")
    disk = Disk(folder / "out")
    with disk.watched():
        make_dataset(folder)
    return disk.operations


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(int(os.environ.get("WIKISUM_POWER_CUTS", "3"))))
def test_after_a_power_cut_a_build_ends_in_the_same_bytes(flow, tmp_path, seed, operations):
    """WIKISUM_POWER_CUTS is the number of moments that are tried."""
    chance = random.Random(seed)
    folder = tmp_path / "again"
    folder.mkdir()
    disk = Disk(folder / "out")
    cut_at = chance.randrange(1, operations + 1)
    with disk.watched(cut_at), pytest.raises((PowerCut, JobFailed)):
        make_dataset(folder)
    disk.lose(chance)
    make_dataset(folder)
    assert shards(folder / "out") == shards(Path(flow.job.workspace.out))
