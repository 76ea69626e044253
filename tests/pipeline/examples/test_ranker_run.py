import pytest

from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.examples.ranker_run import MODEL_FILES, check_run, copy_run, local_run


@pytest.fixture
def run(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in MODEL_FILES:
        (folder / name).write_bytes(name.encode())
    return folder


def test_a_local_run_is_read_where_it_is(run):
    with local_run(str(run)) as folder:
        assert folder == run


def test_the_hash_depends_on_each_file_of_the_model(run, tmp_path):
    workspace = Workspace(str(tmp_path / "out"))
    first = copy_run(workspace, str(run))
    assert copy_run(workspace, str(run)) == first
    hashes = {first}
    for name in MODEL_FILES:
        (run / name).write_bytes(b"other")
        hashes.add(copy_run(workspace, str(run)))
        assert (tmp_path / "out" / ".work" / "ranker" / name).read_bytes() == b"other"
    assert len(hashes) == 1 + len(MODEL_FILES)


def test_a_folder_without_a_ranker_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        check_run(str(tmp_path))
