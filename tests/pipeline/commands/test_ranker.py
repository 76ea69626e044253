import json

import pytest

from wikisum.pipeline.cli import main


@pytest.mark.slow
def test_a_dataset_is_ranked_by_another_method(flow, tmp_path, capsys):
    words = ["rank", flow.job.workspace.out, "--method", "random", "--max-paragraphs", "1"]
    assert main([*words, "--out", str(tmp_path / "ranked"), "--workers", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed == f"{tmp_path}/ranked: 2 examples, 2 of 4 paragraphs kept\n"


def test_rankings_are_compared_and_saved(flow, tmp_path, capsys):
    (split,) = {row["split"] for row in _examples(flow)} & {"train"}
    words = ["evaluate", "ranking", flow.job.workspace.out, "--split", split]
    out = tmp_path / "deep" / "results.json"
    assert main([*words, "--methods", "identity,tfidf", "--out", str(out)]) == 0
    table = capsys.readouterr().out
    assert [line.split("|")[1].strip() for line in table.splitlines() if "tfidf" in line]
    assert "textrank" not in table
    assert {row["method"] for row in json.loads(out.read_text())} >= {"identity", "tfidf"}
    assert main([*words, "--methods", "identity"]) == 0
    assert capsys.readouterr().out.count("\n") < table.count("\n")


def _examples(flow) -> list[dict]:
    paths = flow.results["tokenize"].files
    return [{"split": file.path.split("/")[1].split("-")[0]} for file in paths if file.rows]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rank", "data", "--out", "x"], "one of the arguments --method --model is required"),
        (["rank", "data", "--method", "a", "--model", "b", "--out", "x"], "not allowed with"),
        (["train", "ranker", "--data", "data"], "required: --out"),
        (["train", "ranker", "--out", "x"], "required: --data"),
        (["evaluate", "ranking", "data", "--split", "dev"], "--split: invalid choice"),
        (["evaluate", "ranking", "data", "--limit", "0"], "--limit"),
    ],
)
def test_wrong_calls(words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "x").exists()
