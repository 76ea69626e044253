import pytest

from wikisum.pipeline.cli import main
from wikisum.pipeline.commands.summarize import _default_checkpoint
from wikisum.pipeline.errors import JobFailed


def test_a_run_without_validations_gives_its_last_weights(tmp_path, capsys):
    assert _default_checkpoint(tmp_path) == "best"  # not a run: `best` reports what is missing
    (tmp_path / "last.safetensors").write_bytes(b"")
    assert _default_checkpoint(tmp_path) == "last"
    assert "has no validated checkpoint: using the last weights" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "checkpoint"), [([], "best"), (["--checkpoint", "7"], "7")])
def test_the_checkpoint_is_the_named_one_or_the_best(words, checkpoint, monkeypatch, capsys):
    def load_run(run, chosen, *_):
        raise JobFailed(f"loads {chosen}")

    monkeypatch.setattr("wikisum.pipeline.commands.summarize.load_run", load_run)
    assert main(["summarize", "--run", "run", "--split", "test", *words]) == 1
    assert f"loads {checkpoint}" in capsys.readouterr().err


def test_the_run_must_be_named(capsys):
    assert main(["summarize", "--split", "test"]) == 2
    assert "required: --run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--text", "x"], "--text needs --title, the topic of the summary"),
        (["--text", "x", "--title", "T", "--checkpoint", "each"], "--checkpoint each goes with"),
        (["--text", "x", "--title", "T", "--batch-tokens", "5"], "--batch-tokens goes with"),
        (["--split", "test", "--batch-tokens", "0"], "--batch-tokens must be at least 1, not 0"),
        (["--split", "dev"], "--split: invalid choice"),
        (["--split", "test", "--out", "."], "--out . is a directory"),
    ],
)
def test_flags_that_do_not_go_together(words, message, capsys):
    assert main(["summarize", "--run", "run", *words]) == 2
    assert message in capsys.readouterr().err
