import resource

import pytest
import torch

from wikisum.ranker.runs.checkpoints import device_of, load_checkpoint, load_vocab, save_checkpoint

CPU = torch.device("cpu")


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    state = {"step": 3, "model": {"w": torch.arange(4.0)}, "settings": {"fit": {"steps": 5}}}
    save_checkpoint(tmp_path / "last.pt", "ranker", state)
    found = load_checkpoint(tmp_path / "last.pt", "ranker", CPU)
    assert found.keys() == state.keys()
    assert torch.equal(found["model"]["w"], state["model"]["w"])
    assert found["settings"] == state["settings"]
    assert [p.name for p in tmp_path.iterdir()] == ["last.pt"]


def test_a_run_of_another_kind_is_refused(tmp_path):
    save_checkpoint(tmp_path / "best.pt", "summarizer", {"step": 1})
    with pytest.raises(ValueError, match=r"best.pt is a checkpoint of a summarizer, not of a rank"):
        load_checkpoint(tmp_path / "best.pt", "ranker", CPU)
    torch.save([1, 2], tmp_path / "list.pt")
    with pytest.raises(ValueError, match="of a stranger, not of a ranker"):
        load_checkpoint(tmp_path / "list.pt", "ranker", CPU)


@pytest.fixture
def _small_disk():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("_small_disk")
def test_a_full_disk_is_told_and_leaves_what_was_there(tmp_path):
    save_checkpoint(tmp_path / "last.pt", "ranker", {"step": 1})
    with pytest.raises(OSError, match=r"last\.pt could not be written"):
        save_checkpoint(tmp_path / "last.pt", "ranker", {"w": torch.zeros(100_000)})
    assert load_checkpoint(tmp_path / "last.pt", "ranker", CPU) == {"step": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["last.pt"]


def test_no_run_and_a_broken_file_are_told_apart(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no run of a summarizer: no best\.pt"):
        load_checkpoint(tmp_path / "best.pt", "summarizer", CPU)
    save_checkpoint(tmp_path / "best.pt", "ranker", {"model": {"w": torch.zeros(1000)}})
    whole = (tmp_path / "best.pt").read_bytes()
    for broken in (b"", b"text", whole[: len(whole) // 2]):
        (tmp_path / "best.pt").write_bytes(broken)
        with pytest.raises(ValueError, match=r"best\.pt is no checkpoint"):
            load_checkpoint(tmp_path / "best.pt", "ranker", CPU)


def test_a_file_that_is_no_vocabulary_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such vocabulary"):
        load_vocab(tmp_path / "vocab.model")
    (tmp_path / "vocab.model").write_bytes(b"text")
    with pytest.raises(ValueError, match=r"vocab\.model is no SentencePiece model"):
        load_vocab(tmp_path / "vocab.model")


def test_devices_have_names():
    assert device_of("cpu") == CPU
    with pytest.raises(ValueError, match="auto, cpu or cuda, not 'tpu'"):
        device_of("tpu")
    if not torch.cuda.is_available():
        assert device_of("auto") == CPU
        with pytest.raises(ValueError, match="no GPU"):
            device_of("cuda")
