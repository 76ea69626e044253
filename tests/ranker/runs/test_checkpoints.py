import math
import resource

import pytest
import torch
from safetensors.torch import save_file

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.runs.checkpoints import (
    check_weights,
    device_of,
    has_checkpoint,
    load_checkpoint,
    load_vocab,
    save_checkpoint,
)

CPU = torch.device("cpu")


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    state = {"step": 3, "model": {"w": torch.arange(4.0)}, "settings": {"fit": {"steps": 5}}}
    save_checkpoint(tmp_path / "last.safetensors", "ranker", state)
    found = load_checkpoint(tmp_path / "last.safetensors", "ranker", CPU)
    assert found.keys() == state.keys()
    assert torch.equal(found["model"]["w"], state["model"]["w"])
    assert found["settings"] == state["settings"]
    assert [p.name for p in tmp_path.iterdir()] == ["last.safetensors"]


def test_a_run_of_another_kind_is_refused(tmp_path):
    save_checkpoint(tmp_path / "best.safetensors", "summarizer", {"settings": {}, "model": {}})
    with pytest.raises(ValueError, match="is a checkpoint of a summarizer, not of a rank"):
        load_checkpoint(tmp_path / "best.safetensors", "ranker", CPU)
    save_file({"w": torch.zeros(2)}, tmp_path / "other.safetensors")
    with pytest.raises(ValueError, match="of a different program, not of a ranker"):
        load_checkpoint(tmp_path / "other.safetensors", "ranker", CPU)


def test_a_run_without_its_last_checkpoint_cannot_be_resumed(tmp_path):
    assert not has_checkpoint(tmp_path)
    (tmp_path / "last.safetensors").write_bytes(b"")
    assert has_checkpoint(tmp_path)


def test_an_optimizer_and_tied_weights_come_back(tmp_path):
    model = torch.nn.Linear(3, 3)
    model.register_parameter("tied", model.weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.ones(3)).sum().backward()
    optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "sums": [0.1, 2]}
    state["settings"] = {}
    save_checkpoint(tmp_path / "last.safetensors", "ranker", state)
    found = load_checkpoint(tmp_path / "last.safetensors", "ranker", CPU)
    assert found["sums"] == [0.1, 2]
    other = torch.optim.Adam(torch.nn.Linear(3, 3).parameters())
    other.load_state_dict(found["optimizer"])
    for key, values in optimizer.state_dict()["state"].items():
        assert all(torch.equal(values[n], other.state_dict()["state"][key][n]) for n in values)
    assert torch.equal(found["model"]["tied"], model.weight)


@pytest.fixture
def _small_disk():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("_small_disk")
def test_a_full_disk_is_reported_and_leaves_what_was_there(tmp_path):
    state = {"step": 1, "settings": {}, "model": {}}
    save_checkpoint(tmp_path / "last.safetensors", "ranker", state)
    with pytest.raises(OSError, match=r"last\.safetensors could not be written"):
        save_checkpoint(tmp_path / "last.safetensors", "ranker", {"w": torch.zeros(100_000)})
    assert load_checkpoint(tmp_path / "last.safetensors", "ranker", CPU) == state
    assert [p.name for p in tmp_path.iterdir()] == ["last.safetensors"]


def test_no_run_and_a_broken_file_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no run of a summarizer: no best\.safet"):
        load_checkpoint(tmp_path / "best.safetensors", "summarizer", CPU)
    save_checkpoint(tmp_path / "best.safetensors", "ranker", {"model": {"w": torch.zeros(1000)}})
    whole = (tmp_path / "best.safetensors").read_bytes()
    for broken in (b"", b"text", whole[: len(whole) // 2]):
        (tmp_path / "best.safetensors").write_bytes(broken)
        with pytest.raises(ValueError, match=r"best\.safetensors is not a checkpoint"):
            load_checkpoint(tmp_path / "best.safetensors", "ranker", CPU)


def test_a_file_that_is_no_vocabulary_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such vocabulary"):
        load_vocab(tmp_path / "vocab.model")
    (tmp_path / "vocab.model").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"vocab\.model is not a SentencePiece model"):
        load_vocab(tmp_path / "vocab.model")


def test_devices_have_names():
    assert device_of("cpu") == CPU
    with pytest.raises(ValueError, match="auto, cpu or cuda, not 'tpu'"):
        device_of("tpu")
    if not torch.cuda.is_available():
        assert device_of("auto") == CPU
        with pytest.raises(ValueError, match="CUDA is not available"):
            device_of("cuda")


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ("{}", "it has no settings"),
        ("[]", "it has no settings"),
        ('{"settings": {}}', "it has no model"),
        ('{"settings": {}, "model": 3}', "it has no model"),
        ("{", "its values are damaged"),
        ("[" * 100_000, "its values are damaged"),
        ('{"settings": {}, "model": {"w": {"__tensor__": "gone"}}}', "its values are damaged"),
        ('{"settings": {"__items__": 3}, "model": {}}', "its values are damaged"),
    ],
)
def test_a_checkpoint_without_its_parts_is_named(tmp_path, values, fault):
    path = tmp_path / "last.safetensors"
    save_file({"w": torch.zeros(2)}, path, {"kind": "ranker", "values": values})
    with pytest.raises(BadFile, match=rf"last\.safetensors is not a checkpoint: {fault}"):
        load_checkpoint(path, "ranker", CPU)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"weight": torch.zeros(2, 3)}, r"weight has the shape \[2, 3\], not \[2, 2\]"),
        ({"bias": torch.tensor([0.0, math.nan])}, "bias holds NaN or infinite values"),
        ({"bias": "text"}, "bias is missing"),
        ({"bias": None}, "bias is missing"),
        ({"other": torch.zeros(1)}, "other is of another model"),
    ],
)
def test_weights_that_do_not_fit_are_named(tmp_path, change, fault):
    model = torch.nn.Linear(2, 2)
    check_weights(tmp_path, model, model.state_dict())
    with pytest.raises(BadFile, match=f"the weight {fault}"):
        check_weights(tmp_path, model, {**model.state_dict(), **change})
