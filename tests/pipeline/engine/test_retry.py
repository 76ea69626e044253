"""Results of a previous run that a retry reuses: what is kept, and what is done again."""

from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.retry import forget_previous, keep_previous
from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.stage import Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, StageResult, Workspace

FETCH = Stage("fetch", "pages")
SETTINGS = {"extractor": "fast", "crawls": ["A"]}


def finished(tmp_path, key: str = "f") -> Workspace:
    """A stage `fetch` of two parts, the second of which lost a page to a timeout."""
    workspace, fingerprint = Workspace(str(tmp_path)), run_of(key).fingerprint
    shards = []
    for index, counts in enumerate(({"documents_out": 3}, {"dropped_timeout": 1})):
        path = f"documents/documents-fetch-{index}.parquet"
        files.write_bytes(workspace.path(path), b"data")
        shards.append(ShardFile(path, 1, 4, "hash"))
        workspace.parts("fetch", fingerprint).record({index: PartResult([shards[-1]], counts)})
    extra = {"settings": SETTINGS}
    workspace.finish(StageResult("fetch", fingerprint, shards, {}, extra, 1.0))
    return workspace


def run_of(key: str = "f", settings: dict = SETTINGS) -> StageRun:
    return StageRun(stage=FETCH, part_count=2, key={"before": key}, extra={"settings": settings})


def keep(workspace: Workspace, *reasons: str, of_other_inputs: bool = False):
    return keep_previous(workspace, run_of(), reasons, of_other_inputs=of_other_inputs)


def test_parts_with_such_failures_are_opened_and_their_files_kept(tmp_path):
    workspace = finished(tmp_path)
    previous = keep(workspace, "timeout", "http_503")
    assert previous.reasons == {"timeout", "http_503"}
    assert sorted(workspace.parts("fetch", run_of().fingerprint).load(2)) == [0]
    assert workspace.finished("fetch") is None
    assert previous.path("documents/documents-fetch-0.parquet") is None
    kept = previous.path("documents/documents-fetch-1.parquet")
    assert files.exists(kept)
    assert not files.exists(workspace.path("documents/documents-fetch-1.parquet"))


def test_without_such_failures_nothing_changes(tmp_path):
    workspace = finished(tmp_path)
    assert keep(workspace) is None
    assert keep(workspace, "http_503") is None
    assert workspace.finished("fetch", run_of().fingerprint) is not None


def test_what_a_killed_run_had_kept_is_used_again_with_its_reasons(tmp_path):
    workspace = finished(tmp_path)
    keep(workspace, "timeout")
    again = keep(workspace)
    assert again.reasons == {"timeout"}
    assert again.path("documents/documents-fetch-1.parquet") is not None
    forget_previous(workspace, run_of())
    assert keep(workspace) is None


def test_files_of_other_inputs_are_kept_under_the_same_settings_only(tmp_path):
    workspace = finished(tmp_path, "other")
    previous = keep(workspace, of_other_inputs=True)
    assert previous.path("documents/documents-fetch-0.parquet") is not None
    other = finished(tmp_path / "b", "other")
    changed = {**SETTINGS, "extractor": "soup"}
    run = run_of(settings=changed)
    assert keep_previous(other, run, (), of_other_inputs=True) is None
