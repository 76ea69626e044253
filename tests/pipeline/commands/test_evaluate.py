import json

import pytest

from wikisum.pipeline.cli import main

ROW = {"id": "00", "title": "A", "lead": "A long bridge.", "summary": "A bridge."}


@pytest.fixture
def summaries(tmp_path) -> str:
    path = tmp_path / "ht.jsonl"
    path.write_text(json.dumps({**ROW, "model": "ht", "paragraphs": []}) + "\n")
    return str(path)


def test_a_table_is_printed_and_files_are_written_on_request(summaries, tmp_path, capsys):
    assert main(["evaluate", "summaries", summaries, "--samples", "20"]) == 0
    table = capsys.readouterr().out
    assert "\nht " in table
    assert "next:" not in table
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ht.jsonl"]
    out = tmp_path / "scores"
    assert main(["evaluate", "summaries", summaries, "--samples", "20", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{table}next: open {out}/index.html or read {out}/evaluation.md\n"
    assert (out / "index.html").is_file()


def test_flags_reach_the_evaluation(summaries, tmp_path):
    out = tmp_path / "scores"
    flags = ["--samples", "30", "--seed", "4", "--no-stem", "--out", str(out)]
    assert main(["evaluate", "summaries", summaries, *flags]) == 0
    settings = json.loads((out / "evaluation.json").read_text())["settings"]
    assert (settings["samples"], settings["seed"], settings["stem"]) == (30, 4, False)


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--out", "ht.jsonl"], 2, "--out ht.jsonl is not a directory"),
        (["absent.jsonl"], 2, "absent.jsonl"),
        (["--samples", "0"], 2, "--samples"),
        (["bad.jsonl"], 1, "bad.jsonl"),
    ],
)
def test_wrong_calls_are_one_line(summaries, words, code, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.jsonl").write_text("no JSON\n")
    assert main(["evaluate", "summaries", summaries, *words]) == code
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
