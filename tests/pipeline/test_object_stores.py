"""Builds with inputs and output on an object store: killed and resumed, with requests refused."""

import hashlib
import subprocess
import sys
import time

import pytest

from tests.conftest import GOLDEN
from tests.object_stores import BUCKET, gcs_store, s3_store
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine import files, progress, workspace

INPUTS = ("sample.xml.bz2", "sample-pages-00000.warc.gz", "sample-wet-00000.warc.wet.gz")
OUT_OF_FOLDERS = ("articles", "wanted", "documents", "examples", "dropped", "vocab")


GRAPHS = {"none": ["--graphs", "none"], "fast": ["--entities", "fast"]}


def _words(root, out, graphs="none"):
    articles, *crawl = (f"{root}/{name}" for name in INPUTS)
    return [
        "build", "--articles", articles, "--warcs", *crawl, "--vocab-size", "300",
        *GRAPHS[graphs], "--workers", "1", "--out", out,
    ]  # fmt: skip


def _hashes(out):
    found = {}
    for folder in OUT_OF_FOLDERS:
        for path in files.list_tree(f"{out}/{folder}"):
            found[path.removeprefix(out)] = hashlib.sha256(files.read_bytes(path)).hexdigest()
    return found


def _count(out):
    return sum(path.endswith(".json") for path in files.list_tree(f"{out}/.work"))


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The hashes of the files of a local build."""
    out = str(tmp_path_factory.mktemp("local"))
    assert main(_words(GOLDEN, out)) == 0
    return _hashes(out)


@pytest.mark.longest
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_build_on_a_store_is_killed_and_resumed(scheme, local, monkeypatch):
    """The same bytes as a local build, though a fifth of the requests is refused."""
    with (s3_store if scheme == "s3" else gcs_store)(monkeypatch) as store:
        root = f"{scheme}://{BUCKET}"
        for name in INPUTS:
            files.write_bytes(f"{root}/in/{name}", (GOLDEN / name).read_bytes())
        words = _words(f"{root}/in", f"{root}/out")
        process = subprocess.Popen([sys.executable, "-m", "wikisum", *words])
        while _count(f"{root}/out") < 8 and process.poll() is None:
            time.sleep(0.2)
        assert process.poll() is None
        process.kill()
        process.wait()
        assert files.exists(f"{root}/out/.work/lock")  # its owner has ended
        store.refused_share = 0.2
        assert main(words) == 0
        assert store.refused > 10
        store.refused_share = 0.0
        assert _hashes(f"{root}/out") == local
        assert not files.exists(f"{root}/out/.work/lock")


@pytest.mark.slow
@pytest.mark.parametrize(("graphs", "most"), [("none", 5.0), ("fast", 6.0)])
def test_a_build_takes_few_requests_per_visible_file(graphs, most, monkeypatch):
    """On a slow machine too: lists for progress and more records of parts come every 10 seconds."""
    monkeypatch.setattr(workspace, "HOLD_SECONDS", 1_000.0)
    monkeypatch.setattr(progress, "_PLAIN_LINE_EVERY_SECONDS", 1_000.0)
    with s3_store(monkeypatch) as store:
        root = f"s3://{BUCKET}"
        assert main(_words(GOLDEN, f"{root}/out", graphs)) == 0
        requests = store.requests.total()
        visible = [path for path in files.list_tree(f"{root}/out") if "/.work/" not in path]
        assert requests <= most * len(visible), sorted(store.paths.items())
