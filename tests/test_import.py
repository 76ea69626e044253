"""`wikisum import` through the command: shards, splits, dropped rows, kills and reruns."""

import hashlib
import json
import signal
import struct
import time
from pathlib import Path

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests.pipeline.corpora.test_cnndm import chunk
from tests.processes import end, start
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import DROPPED

WORDS = ["storm", "river", "bridge", "city", "mayor", "school", "train", "market", "island", "port"]


def entry(number: int) -> tuple[str, str]:
    """An article of six tokenized sentences, and two of them as its abstract."""
    lines = [
        f"the {WORDS[(number + i // 2) % 10]} number {number} {WORDS[i]} opened ." for i in range(6)
    ]
    return " ".join(lines), f"<s> {lines[0]} </s> <s> {lines[2]} </s>"


@pytest.fixture(scope="module")
def chunks(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("chunks")
    for first, name in enumerate(("train_000", "train_001", "val_000", "test_000")):
        entries = [entry(100 * first + n) for n in range(12)]
        (folder / f"{name}.bin").write_bytes(chunk(*entries))
    with (folder / "train_001.bin").open("ab") as file:
        file.write(chunk(("", "<s> no text </s>"), ("no summary .", "")))
        file.write(struct.pack("<q", 900))
    return folder


def command(chunks: Path, out: Path) -> list[str]:
    paths = map(str, sorted(chunks.glob("*.bin")))
    settings = ["--graphs", "similarity", "--vocab-size", "60", "--shards", "2", "--workers", "1"]
    return ["import", "cnndm", *paths, "--out", str(out), *settings]


@pytest.fixture(scope="module")
def imported(chunks, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("imported") / "out"
    assert main(command(chunks, out)) == 0
    return out


def digests(out: Path) -> dict[str, str]:
    paths = [p for p in out.rglob("*") if p.is_file() and ".work" not in p.parts]
    paths = [p for p in paths if p.name != "manifest.json"]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in paths}


def test_the_result_is_a_dataset_that_validates(imported, capsys):
    assert main(["validate", str(imported)]) == 0
    assert "no faults found" in capsys.readouterr().out
    assert (imported / "README.md").read_text().count("\n# CNN/DailyMail\n") == 1
    page = (imported / "report" / "index.html").read_text()
    assert "paper's" not in page
    assert 'href="import:' not in page  # such an address is none of the web
    assert "discourse graph of" not in page  # none was made
    assert "similarity graph of" in page


def test_examples_keep_their_sentences_in_order_and_their_split(imported):
    for split, first in (("train", 0), ("validation", 200), ("test", 300)):
        files = sorted(map(str, (imported / "examples").glob(f"{split}-*.parquet")))
        rows = ds.dataset(files).to_table().to_pylist()
        assert len(rows) == (24 if split == "train" else 12)
        for row in rows:
            number = int(row["lead"].split()[3])
            assert number >= first
            article, abstract = entry(number)
            assert " ".join(p["text"] for p in row["paragraphs"]) == article
            assert [p["position"] for p in row["paragraphs"]] == list(range(6))
            assert [p["score"] for p in row["paragraphs"]] == [0, -1, -2, -3, -4, -5]
            assert row["lead"].split("\n") == [
                s.strip() for s in abstract.replace("<s>", "").split("</s>") if s.strip()
            ]
            assert row["paragraphs"][0]["rouge2_recall"] > 0.4
            assert len(row["paragraph_ids"]) == 6
            assert row["discourse_graph"] is None
            assert len(row["similarity_graph"]["source"]) > 0
            assert row["title"] == ""
            assert row["documents"][0]["warc_file"].endswith(".bin")


def test_what_is_bad_is_dropped_with_file_and_offset(imported):
    rows = ds.dataset(imported / "dropped", schema=DROPPED).to_table().to_pylist()
    found = [(r["kind"], r["stage"], r["reason"], r["file"]) for r in rows]
    assert sorted(found) == [
        ("record", "import", reason, "train_001.bin")
        for reason in ("no_summary", "no_text", "truncated_file")
    ]
    details = sorted(r["detail"] for r in rows)
    assert details[0].startswith("train_001.bin, entry 12: entry 12 has no text")
    assert all(row["offset"] > 0 for row in rows)


def test_a_second_run_does_nothing_and_other_settings_redo_what_they_concern(
    imported, chunks, capfd
):
    before = digests(imported)
    assert main(command(chunks, imported)) == 0
    assert capfd.readouterr().err.count("already done") == 6
    assert digests(imported) == before


def test_an_import_refuses_the_folder_of_a_build(imported, chunks, capsys, monkeypatch):
    record = imported / ".work" / "articles.json"
    plain = json.loads((imported / ".work" / "import.json").read_text())
    record.write_text(json.dumps({**plain, "stage": "articles"}))
    try:
        assert main(command(chunks, imported)) == 2
    finally:
        record.unlink()
    assert f"--out holds a build: {imported}" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_at_any_moment_it_ends_in_the_same_bytes(imported, chunks, tmp_path):
    out = tmp_path / "out"
    moments = (
        lambda: any(out.glob(".work/import-*/part-*.json")),
        lambda: any(out.glob(".work/joined/*.parquet")),
        lambda: any(out.glob("vocab/*.model")),
        lambda: any(out.glob("examples/*.parquet")),
    )
    for has_come in moments:
        process = start(command(chunks, out))
        while process.is_alive() and not has_come():
            time.sleep(0.02)
        assert end(process, signal.SIGKILL) == -signal.SIGKILL
    assert main(command(chunks, out)) == 0
    assert digests(out) == digests(imported)


def test_a_table_with_named_columns(tmp_path, capsys):
    rows = [
        {"id": f"n{n}", "body": [entry(n)[0], entry(n + 1)[0]], "short": f"Number {n}.",
         "head": f"Title {n}", "part": ("train", "dev", "test", "other")[n % 4]}
        for n in range(16)
    ]  # fmt: skip
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{\n")
    out = tmp_path / "out"
    columns = ["--text", "body", "--summary", "short", "--title", "head"]
    columns += ["--id", "id", "--split", "part"]
    rest = ["--graphs", "none", "--vocab-size", "60", "--shards", "1", "--workers", "1"]
    assert main(["import", "table", str(path), *columns, *rest, "--out", str(out)]) == 0
    test = pq.read_table(out / "examples" / "test-00000-of-00001.parquet").to_pylist()
    assert sorted(row["url"] for row in test) == ["n10", "n14", "n2", "n6"]
    row = next(row for row in test if row["url"] == "n2")
    assert (row["title"], row["lead"]) == ("Title 2", "Number 2.")
    assert [p["document"] for p in row["paragraphs"]] == [0, 1]
    assert row["similarity_graph"] is None
    reasons = ds.dataset(out / "dropped", schema=DROPPED).to_table()["reason"].to_pylist()
    assert sorted(reasons) == ["bad_line", *["unknown_split"] * 4]
    assert main(["validate", str(out)]) == 0


def test_a_wrong_call_is_one_line_and_creates_nothing(tmp_path, capsys):
    out = tmp_path / "out"
    (tmp_path / "a.txt").write_text("x")
    for words, message in [
        (["cnndm", tmp_path / "none.bin"], "FILE: no such file"),
        (["wcep", tmp_path / "a.txt"], "a.txt is not a file of WCEP"),
        (["table", tmp_path / "a.txt", "--units", "words"], "--units"),
    ]:
        assert main(["import", *map(str, words), "--out", str(out), "--graphs", "none"]) == 2
        assert message in capsys.readouterr().err
        assert not out.exists()
