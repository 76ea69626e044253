"""Builds on other engines: the same bytes as with the embedded runner, also if a worker is lost."""

import pytest

from benchmarks.clusters import ENGINES, build, build_with_kill, hashes
from tests.conftest import GOLDEN
from wikisum.pipeline.cli import main

FLAGS = [
    "--articles", str(GOLDEN / "sample.xml.bz2"),
    "--warcs", str(GOLDEN / "sample-pages-00000.warc.gz"),
    str(GOLDEN / "sample-pages-00001.warc.gz"), str(GOLDEN / "sample-wet-00000.warc.wet.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"),
    "--vocab-size", "1000", "--graphs", "none",
]  # fmt: skip


@pytest.mark.slow
def test_a_build_on_dask_survives_the_loss_of_a_worker(tmp_path):
    """The workers run in another directory, so that relative paths would not do."""
    assert main(["build", *FLAGS, "--workers", "1", "--out", str(tmp_path / "embedded")]) == 0
    out = tmp_path / "dask"
    with ENGINES["dask"](tmp_path / "engine") as engine:
        went_on, redone = build_with_kill(out, FLAGS, engine, parts=6)
        if not went_on:
            build(out, FLAGS, engine)
    assert hashes(out) == hashes(tmp_path / "embedded")
    assert redone == 0
