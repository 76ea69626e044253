from argparse import Namespace

import pytest

from wikisum.pipeline.cli import main
from wikisum.pipeline.commands.train import _config, _run_settings


def test_a_file_of_settings_is_toml_or_json(tmp_path):
    toml, json = tmp_path / "a.toml", tmp_path / "a.json"
    toml.write_text("steps = 3\n[model]\nwidth = 8\n")
    json.write_text('{"train": {"steps": 3}, "data": "folder"}')
    assert _config(toml, "ht") == {"steps": 3, "width": 8}
    assert _config(json, "ht") == {"steps": 3}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.json", '{"steps": 3,\n "width": }', r"a\.json: .*line 2 column 11"),
        ("a.toml", "steps = 3\nwidth = = 8", r"a\.toml: .*line 2"),
        ("a.json", "[1]", r"a\.json must hold a JSON object"),
        ("a.json", "", r"a\.json: not JSON"),
        ("a.json", '{"a":' * 100_000, r"a\.json: not JSON"),
    ],
)
def test_a_wrong_file_is_named_with_its_line(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        _config(path, "ht")


def test_a_wrong_setting_is_reported_with_its_file(tmp_path):
    path = tmp_path / "a.json"
    path.write_text('{"steps": null}')
    args = Namespace(preset=None, model=None, config=path)
    with pytest.raises(ValueError, match=r"a\.json: steps must be of type int, not None"):
        _run_settings(args, 100)


def test_a_missing_file_is_reported_in_words(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"--config: there is no file .*none\.toml"):
        _config(tmp_path / "none.toml", "ht")


@pytest.mark.parametrize("what", ["summarizer", "ranker"])
@pytest.mark.parametrize("missing", ["--data", "--out"])
def test_a_run_needs_its_data_and_its_folder(what, missing, capsys):
    flags = {"--data": "data", "--out": "run"}
    words = [word for flag, value in flags.items() if flag != missing for word in (flag, value)]
    assert main(["train", what, *words]) == 2
    assert f"arguments are required: {missing}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--stpes", "5"], "no flag --stpes; did you mean --steps?"),
        (["--steps", "many"], "--steps must be a whole number, not 'many'"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_written(words, message, tmp_path, capsys):
    run = tmp_path / "run"
    call = ["train", "summarizer", "--preset", "tiny", "--data", "data", "--out", str(run)]
    assert main([*call, *words]) == 2
    assert message in capsys.readouterr().err
    assert not run.exists()
