"""Training runs in an object store: killed and resumed to the same weights, and read."""

import json
import os
import signal
import tempfile
import time

import pytest
import torch

from tests.object_stores import BUCKET, s3_store
from tests.processes import end, start
from wikisum.models.decoding.summarize import load_run
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine import files
from wikisum.ranker.runs.checkpoints import load_checkpoint
from wikisum.ranker.runs.files import LAST, LOG
from wikisum.ranker.runs.remote import local_copy

FLAGS = {
    "ranker": [
        "--embedding-size", "16", "--hidden-size", "16", "--feature-size", "16",
        "--batch-tokens", "2048",
        "--validation-articles", "20",
    ],
    "summarizer": ["--width", "16", "--heads", "4", "--layers", "LG", "--batch-tokens", "500"],
}  # fmt: skip
STORE = ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION")
RUN = f"s3://{BUCKET}/run"


@pytest.fixture(autouse=True)
def one_thread():
    """As in the process that is started: sums depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def store(monkeypatch):
    with s3_store(monkeypatch) as store:
        yield store


def words(kind, data, out, steps):
    call = ["train", kind, "--preset", "tiny", "--data", str(data), "--out", str(out)]
    rest = ["--device", "cpu", "--validate-every", "2", "--log-every", "1", "--steps", str(steps)]
    return [*call, *FLAGS[kind], *rest]


def log_of(data):
    return [json.loads(line) for line in data.splitlines()]


@pytest.mark.longest
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ranker", "summarizer"])
def test_a_run_in_a_store_is_killed_and_resumed(kind, store, topics, tmp_path, monkeypatch, capsys):
    environment = {"TMPDIR": str(tmp_path), **{name: os.environ[name] for name in STORE}}
    process = start(words(kind, topics, RUN, 100_000), tmp_path / "log", environment)
    deadline = time.monotonic() + 120
    while not files.exists(f"{RUN}/{LAST}") and process.is_alive():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert end(process, signal.SIGKILL) == -signal.SIGKILL, (tmp_path / "log").read_text()
    assert files.exists(f"{RUN}/.lock")  # its owner has ended
    assert list(tmp_path.glob("wikisum-run-*"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    done = max(row["step"] for row in log_of(files.read_bytes(f"{RUN}/{LOG}")))
    last = done + 2 + done % 2
    assert main(words(kind, topics, RUN, last)) == 0
    assert not files.exists(f"{RUN}/.lock")
    assert not list(tmp_path.glob("wikisum-run-*"))
    assert main(words(kind, topics, tmp_path / "run", last)) == 0
    assert files.read_bytes(f"{RUN}/{LOG}") == (tmp_path / "run" / LOG).read_bytes()
    with local_copy(RUN) as copy:
        found = load_checkpoint(copy / LAST, kind, torch.device("cpu"))["model"]
    expected = load_checkpoint(tmp_path / "run" / LAST, kind, torch.device("cpu"))["model"]
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert files.exists(f"{RUN}/settings.json")
    capsys.readouterr()
    if kind == "summarizer":
        call = ["summarize", "--run", RUN, "--title", "Bridge", "--text", __file__]
        assert main([*call, "--device", "cpu"]) == 0
        assert capsys.readouterr().out
        assert load_run(RUN, "last", "cpu").chosen.name == f"step {last}"


def test_a_run_that_another_machine_trains_is_refused(store, topics, capsys):
    holder = {"host": "another", "process": 7, "id": "x", "renewed": time.time()}
    files.write_bytes(f"{RUN}/.lock", json.dumps(holder).encode())
    assert main(words("ranker", topics, RUN, 2)) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"process 7 on another holds {RUN}/.lock\n")
    assert said.count("\n") == 1
    assert files.list_tree(RUN) == [f"{RUN}/.lock"]


def test_a_remote_run_is_exported_or_named(store, tmp_path, capsys):
    assert main(["export", RUN, "--to", "transformers", "--out", str(tmp_path / "model")]) == 2
    said = capsys.readouterr().err
    assert said == f"wikisum export: {RUN} holds no run of a summarizer: no last.safetensors\n"
