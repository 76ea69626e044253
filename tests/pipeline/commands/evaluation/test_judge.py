import json
import re
import socket
import sys

import pytest

from wikisum.pipeline.cli import main

ROW = {"title": "A", "lead": "A long bridge.", "summary": "A bridge."}
PREPARE = ["judge", "prepare", "one.jsonl", "two.jsonl"]
DUC = ["--protocol", "duc"]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        rows = [json.dumps({**ROW, "id": str(n), "model": name}) for n in range(3)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows))
    (tmp_path / "bad.jsonl").write_text("{")
    (tmp_path / "bad.toml").write_text("title = 1")
    return tmp_path


def test_from_files_to_a_report(folder, capsys):
    words = ["--judges", "4", "--judges-per-item", "2", "--url", "https://x.org/"]
    assert main([*PREPARE, *DUC, *words, "--out", "study"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == [
        "Linguistic quality: 3 examples, systems one, two",
        "4 judges, 3 to 3 screens each",
    ]
    links = [line for line in printed if re.fullmatch(r"judge \d: https://x\.org/[\w-]{43}/", line)]
    assert len(links) == 4
    assert printed[-1] == "next: wikisum judge serve study"
    assert main(["judge", "report", "study", "--samples", "50"]) == 0
    printed = capsys.readouterr().out
    assert "0 of 12 screens are complete" in printed
    assert "next: open study/report/index.html or read study/report/report.md" in printed
    assert (folder / "study" / "report" / "index.html").is_file()


def test_flags_reach_the_study(folder):
    flags = ["--gold", "--comments", "--seed", "3", "--examples", "2", "--lead", "--no-sources"]
    assert main([*PREPARE, *DUC, *flags, "--out", "study"]) == 0
    study = json.loads((folder / "study" / "study.json").read_text())
    assert study["systems"] == ["one", "two", "gold"]
    expected = {"with_gold": True, "comments": True, "seed": 3, "examples": 2}
    assert expected.items() <= study["settings"].items()
    assert (study["protocol"]["shows_lead"], study["protocol"]["shows_sources"]) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([*PREPARE, "--out", "s"], 2, "one of the arguments --protocol --rubric is required"),
        ([*PREPARE, "--protocol", "other", "--out", "s"], 2, "invalid choice: 'other'"),
        ([*PREPARE, *DUC], 2, "--out"),
        ([*PREPARE, *DUC, "--out", "s", "--judges", "0"], 2, "--judges must be at least 1"),
        ([*PREPARE, *DUC, "--out", "s", "--judge", "2"], 2, "did you mean --judges"),
        ([*PREPARE, *DUC, "--out", "s", "--judges-per-item", "4"], 2, "--judges-per-item 4"),
        ([*PREPARE, *DUC, "--out", "one.jsonl"], 2, "one.jsonl exists already"),
        ([*PREPARE, "--protocol", "questions", "--out", "s"], 2, "needs --questions FILE"),
        ([*PREPARE, "--protocol", "best-worst", "--out", "s"], 2, "at least 3 systems"),
        ([*PREPARE, "--rubric", "bad.toml", "--out", "s"], 2, "bad.toml: Expected `str`"),
        ([*PREPARE, "--rubric", "absent.toml", "--out", "s"], 2, "absent.toml"),
        ([*PREPARE, "absent.jsonl", *DUC, "--out", "s"], 2, "absent.jsonl"),
        ([*PREPARE, "bad.jsonl", *DUC, "--out", "s"], 1, "bad.jsonl: line 1: is not JSON"),
        (["judge", "serve", "absent"], 2, "absent holds no study"),
        (["judge", "serve", "absent", "--port", "70000"], 2, "--port must be 0 to 65535"),
        (["judge", "report", "absent"], 2, "absent holds no study"),
    ],
)
def test_wrong_calls_are_one_line_and_leave_nothing(folder, words, code, message, capsys):
    before = sorted(folder.iterdir())
    assert main(words) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_port_in_use_is_said(capsys):
    assert main([*PREPARE, *DUC, "--out", "study"]) == 0
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["judge", "serve", "study", "--port", str(port)]) == 1
    expected = f"wikisum judge serve: cannot listen on 127.0.0.1, port {port}: Address already"
    assert capsys.readouterr().err.startswith(expected)


@pytest.mark.parametrize("module", ["starlette", "uvicorn"])
def test_a_missing_extra_is_named(monkeypatch, capsys, module):
    assert main([*PREPARE, *DUC, "--out", "study"]) == 0
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "wikisum.models.judging.web.app", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    assert main(["judge", "serve", "study"]) == 1
    assert "pip install 'wikisum[judge]'" in capsys.readouterr().err
