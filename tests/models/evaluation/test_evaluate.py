"""The command on small files, as a user runs it."""

import csv
import json
import math
import re

import pyarrow.parquet as pq
import pytest

from wikisum.models.evaluation.systems import file_systems
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import EXAMPLE, Example, Paragraph, SourceDocument, to_table
from wikisum.ranker.rouge import rouge

TEXTS = [
    "The bridge carries trains over the river Tavin. It is painted green every ten years.",
    "Josiah Penrose drew the bridge in a week. He had drawn two before it.",
    "The river Tavin floods in spring. Nine men drowned in it in 1840.",
]
PARAGRAPHS = [
    {"text": text, "document_url": f"http://{n}.example/", "attention": share}
    for n, (text, share) in enumerate(zip(TEXTS, (0.5, 0.3, 0.2), strict=True))
]


def row(number, summary, **changes):
    return {
        "id": f"{number:016x}",
        "title": f"Bridge {number}",
        "lead": f"Bridge {number} is an iron bridge over the river Tavin. It opened in 1881.",
        "summary": summary,
        "lead_tokens": 20,
        "lead_log_prob": -40.0 - number,
        "tokens": 9,
        "model": "ht",
        "run": "f00d",
        "settings": {"beam": 5},
        "paragraphs": PARAGRAPHS,
        **changes,
    }


GOOD = [row(n, f"Bridge {n} is a bridge over the river Tavin.") for n in range(6)]
POOR = [row(n, "Nine men drowned in it in 1840.", model="ft") for n in range(6)]


def write(path, rows):
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    return path


@pytest.fixture
def files(tmp_path):
    return write(tmp_path / "ht.jsonl", GOOD), write(tmp_path / "ft.jsonl", POOR)


@pytest.fixture
def data(tmp_path):
    """A dataset whose test split has the six examples and one more."""
    pages = [
        SourceDocument(f"http://{n}.example/", "citation", n, "a.warc", 0, "", "", 0.0)
        for n in range(3)
    ]
    examples = [
        Example(
            r["id"], r["title"], "", r["lead"], [], pages,
            [Paragraph(t, n, 0, 1.0 - n, 0.0) for n, t in enumerate(TEXTS)],
            categories=["Bridges", "Iron" if r["id"] < GOOD[2]["id"] else "Stone arches"],
        )
        for r in [*GOOD, row(9, "")]
    ]  # fmt: skip
    folder = tmp_path / "data" / "examples"
    folder.mkdir(parents=True)
    pq.write_table(to_table(examples, EXAMPLE), folder / "test-00000-of-00001.parquet")
    return folder.parent


def evaluated(capsys, tmp_path, *words):
    """What the command prints, and its JSON."""
    out = tmp_path / "out"
    assert main(["evaluate", "summaries", *map(str, words), "--out", str(out)]) == 0
    return capsys.readouterr().out, json.loads((out / "evaluation.json").read_text())


def test_figures_are_means_over_examples(files, tmp_path, capsys):
    output, plain = evaluated(capsys, tmp_path, *files, "--samples", 500)
    ht, ft = plain["systems"]
    expected = [rouge(r["summary"], r["lead"], stem=True)["rougeL"]["f1"] for r in GOOD]
    assert ht["figures"]["rougeL"]["value"] == pytest.approx(sum(expected) / 6)
    assert ht["figures"]["rougeL"]["low"] <= ht["figures"]["rougeL"]["value"]
    log_perplexity = sum(40 + n for n in range(6)) / (6 * 20)
    assert ht["figures"]["log_perplexity"]["value"] == pytest.approx(log_perplexity)
    assert ht["figures"]["perplexity"]["value"] == pytest.approx(math.exp(log_perplexity))
    assert (ht["name"], ft["name"], ht["run"]) == ("ht", "ft", "f00d")
    assert plain["examples"] == 6
    assert re.search(r"^ht +\d", output, re.M)
    assert "Porter stems" in output


def test_significance_stands_in_json_and_on_the_screen(files, tmp_path, capsys):
    output, plain = evaluated(capsys, tmp_path, *files, "--samples", 500)
    by_metric = {d["metric"]: d for d in plain["differences"]}
    first = by_metric["rouge1"]
    assert (first["one"], first["other"]) == ("ht", "ft")
    assert 0 < first["low"] <= first["value"] <= first["high"]
    assert first["p"] == pytest.approx(2 / 2**6, abs=0.03)  # all six one way, of all swaps
    assert by_metric["log_perplexity"]["p"] == 1.0
    assert "ht - ft" in output


def test_a_rerun_writes_the_same_bytes_and_nothing_else(files, tmp_path, capsys):
    evaluated(capsys, tmp_path, *files, "--samples", 50)
    first = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    evaluated(capsys, tmp_path, *files, "--samples", 50)
    assert first == {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    assert sorted(first) == [
        "evaluation.csv", "evaluation.json", "evaluation.md", "examples.csv", "index.html",
    ]  # fmt: skip


def test_the_tables_hold_the_figures_of_the_json(files, tmp_path, capsys):
    _, plain = evaluated(capsys, tmp_path, *files, "--samples", 50)
    out = tmp_path / "out"
    with (out / "evaluation.csv").open() as text:
        rows = {r["system"]: r for r in csv.DictReader(text)}
    for system in plain["systems"]:
        for key, figure in system["figures"].items():
            for name, end in (("value", ""), ("low", "_low"), ("high", "_high")):
                result = rows[system["name"]][key + end]
                assert (float(result) if result else None) == figure[name]
    with (out / "examples.csv").open() as text:
        examples = [r for r in csv.DictReader(text) if r["system"] == "ht"]
    assert [r["id"] for r in examples] == [r["id"] for r in GOOD]
    mean = sum(float(r["rouge2"]) for r in examples) / 6
    assert mean == pytest.approx(plain["systems"][0]["figures"]["rouge2"]["value"])
    written = (out / "evaluation.md").read_text()
    assert f"| ht | {plain['systems'][0]['figures']['rouge1']['value'] * 100:.2f} [" in written


FIRST = "first-words"


def test_baselines_stand_beside_the_models(files, data, tmp_path, capsys):
    _, plain = evaluated(capsys, tmp_path, *files, "--data", data, "--samples", 50)
    assert [s["name"] for s in plain["systems"]] == ["ht", "ft", "first-words", "lexrank"]
    lead = plain["systems"][2]["figures"]
    assert lead["length_ratio"]["value"] == 1.0
    assert lead["log_perplexity"]["value"] is None
    assert plain["examples"] == 6


def test_a_mean_of_files_is_compared_with_others_alone(tmp_path, data, capsys):
    paths = [write(tmp_path / f"{n}.jsonl", rows) for n, rows in enumerate([GOOD, POOR])]
    ask = [*paths, "--mean", "--data", data, "--baselines", "first-words", "--samples", 50]
    _, plain = evaluated(capsys, tmp_path, *ask)
    one, other, lead, mean = (s["figures"]["rouge2"]["value"] for s in plain["systems"])
    assert mean == pytest.approx((one + other) / 2)
    assert mean != pytest.approx((one + other + lead) / 3)
    pairs = {(d["one"], d["other"]) for d in plain["differences"]}
    assert pairs == {("ht", "ft"), ("ht", FIRST), ("ft", FIRST), (FIRST, "mean of 2")}


def test_baselines_alone(data, tmp_path, capsys):
    _, plain = evaluated(
        capsys, tmp_path, "--data", data, "--baselines", "oracle,random", "--samples", 50
    )
    assert [s["name"] for s in plain["systems"]] == ["oracle", "random"]
    assert plain["examples"] == 7


def test_examples_that_not_all_systems_have_are_left_out_and_reported(tmp_path, capsys):
    ht, ft = write(tmp_path / "ht.jsonl", GOOD[::-1]), write(tmp_path / "ft.jsonl", POOR[2:])
    output, plain = evaluated(capsys, tmp_path, ht, ft, "--samples", 50)
    assert plain["examples"] == 4
    assert plain["systems"][0]["left_out"] == 2
    assert "2 summaries of ht are left out" in output
    with (tmp_path / "out" / "examples.csv").open() as text:
        found = [(r["system"], int(r["id"], 16), r["log_perplexity"]) for r in csv.DictReader(text)]
    order = (5, 4, 3, 2)  # that of the first file
    assert found == [(name, n, str((40 + n) / 20)) for name in ("ht", "ft") for n in order]


def test_a_name_with_a_bar_parts_no_cell(tmp_path, capsys):
    evaluated(capsys, tmp_path, write(tmp_path / "a|b.jsonl", [row(0, "A.", model=None)]))
    lines = (tmp_path / "out" / "evaluation.md").read_text().splitlines()
    (result,) = (line for line in lines if line.startswith("| a"))
    assert result.startswith("| a\\|b | ")


def test_runs_of_one_model_are_named_by_their_files(tmp_path, capsys):
    ht, other = write(tmp_path / "a.jsonl", GOOD), write(tmp_path / "b.jsonl", GOOD)
    _, plain = evaluated(capsys, tmp_path, ht, other, "--samples", 50)
    assert [s["name"] for s in plain["systems"]] == ["ht (a)", "ht (b)"]
    assert {d["p"] for d in plain["differences"]} == {1.0}


@pytest.mark.slow
def test_stems_are_a_choice_and_are_reported(tmp_path, capsys):
    rows = [row(0, "bridges opening", lead="bridge opened")]
    path = write(tmp_path / "s.jsonl", rows)
    _, plain = evaluated(capsys, tmp_path, path)
    output, plainer = evaluated(capsys, tmp_path, path, "--no-stem")
    assert plain["systems"][0]["figures"]["rouge1"]["value"] == 1.0
    assert plainer["systems"][0]["figures"]["rouge1"]["value"] == 0.0
    assert "words not stemmed" in output


@pytest.mark.parametrize(
    ("rows", "words", "code", "message"),
    [
        (GOOD, ["no.jsonl"], 2, "there is no file or folder no.jsonl"),
        (GOOD, ["--baselines", "best"], 2, "--baselines must be one of first-words, lead3"),
        (GOOD, ["--samples", "0"], 2, "--samples must be at least 1"),
        (GOOD, ["--data", "nowhere"], 2, "there is no directory nowhere"),
        (GOOD, ["--out", __file__], 2, "is not a directory"),
        (GOOD, ["--sample", "5"], 2, "no flag --sample; did you mean --samples?"),
        ([], [], 1, "holds no summary"),
        ([*GOOD, "text"], [], 1, "line 7: is not an object"),
        ([*GOOD, GOOD[1]], [], 1, "occurs twice"),
        ([GOOD[0], POOR[1]], [], 1, "comes from another model or run"),
    ],
)
def test_a_wrong_call_or_file_is_one_line(tmp_path, capsys, rows, words, code, message):
    path = write(tmp_path / "s.jsonl", rows)
    assert main(["evaluate", "summaries", str(path), *words]) == code
    output = capsys.readouterr().err.strip().splitlines()
    assert message in output[-1]


def test_files_that_do_not_go_together_are_reported(files, data, tmp_path, capsys):
    other = write(tmp_path / "o.jsonl", [{**POOR[0], "lead": "Another lead."}])
    assert main(["evaluate", "summaries", str(files[0]), str(other)]) == 1
    assert "the files come from different datasets" in capsys.readouterr().err
    strange = write(tmp_path / "s.jsonl", [row(77, "Text.")])
    assert main(["evaluate", "summaries", str(files[0]), str(strange)]) == 1
    assert "no example is in all of" in capsys.readouterr().err
    assert main(["evaluate", "summaries", str(strange), "--data", str(data)]) == 1
    assert "1 of 1 examples to score are not in split test of" in capsys.readouterr().err
    assert main(["evaluate", "summaries"]) == 2
    assert "name a file of summaries" in capsys.readouterr().err


def test_files_of_one_name_are_named_by_their_paths(tmp_path, capsys):
    paths = [write(tmp_path / "s.jsonl", GOOD)]
    (tmp_path / "b").mkdir()
    paths.append(write(tmp_path / "b" / "s.jsonl", GOOD))
    assert [s.name for s in file_systems(paths)] == [f"ht (s) ({path})" for path in paths]
    assert main(["evaluate", "summaries", str(paths[0]), str(paths[0])]) == 2
    assert "a file is named twice" in capsys.readouterr().err


def test_attention_has_a_column_and_who_has_none_is_named(files, tmp_path, capsys):
    silent = [{**r, "model": "bart", "paragraphs": None} for r in POOR]
    third = write(tmp_path / "bart.jsonl", silent)
    call = ["evaluate", "summaries", *map(str, (*files, third)), "--samples", "20"]
    assert main([*call, "--out", str(tmp_path / "scores")]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^system.* attention ", shown, re.MULTILINE)
    assert "bart tells of no attention to paragraphs." in shown
    assert "ht tells of no attention" not in shown
    found = json.loads((tmp_path / "scores" / "evaluation.json").read_text())
    values = [s["figures"]["attention_cosine"]["value"] for s in found["systems"]]
    assert values[0] == values[1] > 0.5
    assert values[2] is None
    assert "attention_cosine" in (tmp_path / "scores" / "examples.csv").read_text()


def test_summaries_are_scored_without_their_title(files, tmp_path, capsys):
    call = ["evaluate", "summaries", str(files[0]), "--samples", "20", "--skip-title", "--out"]
    assert main([*call, str(tmp_path / "scores")]) == 0
    assert "without the title" in capsys.readouterr().out
    found = json.loads((tmp_path / "scores" / "evaluation.json").read_text())
    figures = found["systems"][0]["figures"]
    rest = [rouge("is a bridge over the river Tavin.", r["lead"][9:]) for r in GOOD]
    assert figures["rouge2"]["value"] == pytest.approx(rest[0]["rouge2"]["f1"])
    assert figures["words"]["value"] == 7


def test_a_category_is_scored_alone(files, data, tmp_path, capsys):
    _, whole = evaluated(capsys, tmp_path, *files, "--samples", 100)
    _, part = evaluated(
        capsys, tmp_path, *files, "--data", data, "--category", "^iron", "--samples", 100
    )
    assert (whole["examples"], part["examples"]) == (6, 2)
    for side in ("precision", "recall", "f1"):
        key = "rouge1" if side == "f1" else f"rouge1_{side}"
        expected = [rouge(r["summary"], r["lead"], stem=True)["rouge1"][side] for r in GOOD[:2]]
        figures = part["systems"][0]["figures"]
        assert figures[key]["value"] == pytest.approx(sum(expected) / 2)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--category", "("], "must be a regular expression"),
        (["--data", "DATA", "--category", ""], "--category must not be empty"),
        (["--category", "Iron"], "--category needs --data"),
        (["--data", "DATA", "--category", "Ships"], "has one like 'Ships'"),
    ],
)
def test_a_category_that_cannot_be_scored(files, data, capsys, words, message):
    call = [
        "evaluate",
        "summaries",
        str(files[0]),
        *(str(data) if w == "DATA" else w for w in words),
    ]
    assert main(call) == 2
    assert message in capsys.readouterr().err
