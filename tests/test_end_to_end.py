"""The whole flow on the bundled sample, through the command, as a user runs it."""

import functools
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from tests import conftest
from tests.conftest import GOLDEN
from tests.processes import end, start
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import DROPPED

SAMPLE = ["build", *conftest.SAMPLE]


@pytest.fixture
def call(capfd) -> Callable[..., SimpleNamespace]:
    """The command in this process, which has loaded Beam and spaCy: it saves seconds per call."""

    def called(*words: object) -> SimpleNamespace:
        code = main(list(map(str, words)))
        output = capfd.readouterr()
        return SimpleNamespace(returncode=code, stdout=output.out, stderr=output.err)

    return called


def digests(out: Path) -> dict[str, str]:
    """SHA-256 of all data files of a dataset, and of its report."""
    paths = [p for p in out.rglob("*") if p.is_file() and ".work" not in p.parts]
    suffixes = (".parquet", ".model", ".vocab", ".html")
    data = [p for p in paths if p.suffix in suffixes or p.name == "report.json"]
    return {str(p.relative_to(out)): hashlib.sha256(p.read_bytes()).hexdigest() for p in data}


@pytest.fixture
def built(sample_build) -> Path:
    """The sample, built once with one worker; other tests read it too."""
    return sample_build


@pytest.fixture
def copy(sample_build, tmp_path) -> Path:
    """A copy of it to change."""
    return shutil.copytree(sample_build, tmp_path / "copy", copy_function=shutil.copy2)


def dropped(out: Path) -> list[dict]:
    return ds.dataset(out / "dropped", schema=DROPPED).to_table().to_pylist()


def test_every_reason_is_exercised(built):
    found = Counter((r["kind"], r["reason"]) for r in dropped(built))
    expected = {
        ("article", "disambiguation"), ("article", "no_lead"), ("article", "no_documents"),
        ("reference", "not_http"), ("reference", "not_in_crawl"), ("reference", "clone"),
        ("reference", "other_language"), ("reference", "short_document"),
        ("reference", "wikipedia_itself"), ("record", "other_language"),
        ("reference", "http_status_404"), ("reference", "http_status_301"),
        ("reference", "not_html"), ("reference", "truncated_record"),
        ("reference", "bad_encoding"), ("reference", "no_text"),
        ("record", "bad_line"), ("record", "unknown_title"), ("record", "bad_record"),
        ("record", "older_capture"), ("record", "http_status_404"), ("record", "no_text"),
        ("article", "duplicate_title"), ("reference", "no_paragraphs"), ("reference", "revisit"),
    }  # fmt: skip
    assert expected <= set(found)
    assert all(
        r["file"] and r["offset"] is not None for r in dropped(built) if r["kind"] == "record"
    )
    counts = json.loads((built / "manifest.json").read_text())["counts"]
    for reason in ("too_short", "no_letters", "no_sentence", "boilerplate"):
        assert counts["scan"][f"paragraphs_{reason}"] > 0
    assert counts["examples"]["paragraphs_duplicate"] > 0
    assert counts["examples"]["paragraphs_clone"] > 0


def test_examples_are_whole(built):
    rows = ds.dataset(built / "examples").to_table().to_pylist()
    assert len(rows) >= 10
    for split in ("train", "validation", "test"):
        shards = sorted((built / "examples").glob(f"{split}-*-of-*.parquet"))
        assert sum(pq.ParquetFile(s).metadata.num_rows for s in shards) > 0
    bridge = next(r for r in rows if r["title"] == "Tavin Bridge")
    assert bridge["lead"].startswith("The Tavin Bridge is an iron arch bridge")
    assert "142 m" in bridge["lead"]
    assert [d["source"] for d in bridge["documents"]] == ["citation"] * 4 + ["search"]
    assert any(r["similarity_graph"]["weight"] for r in rows)
    assert any(max(r["discourse_graph"]["weight"], default=0) >= 1 for r in rows)
    assert all(len(r["paragraph_ids"]) == len(r["paragraphs"]) for r in rows)


def test_the_newest_capture_is_taken(built):
    (older,) = (r for r in dropped(built) if r["reason"] == "older_capture")
    captures = {
        (d["warc_file"], d["offset"]): d["fetched_at"]
        for d in ds.dataset(built / "documents").to_table().to_pylist()
        if d["url"] == older["url"]
    }
    taken = {
        (d["warc_file"], d["offset"])
        for r in ds.dataset(built / "examples").to_table().to_pylist()
        for d in r["documents"]
        if d["url"] == older["url"]
    }
    assert len(captures) == 2
    assert [captures[place] for place in taken] == [max(captures.values())]


def test_a_document_can_be_traced_to_its_bytes(built):
    from wikisum.crawl.warc.warc import read_captures

    rows = ds.dataset(built / "examples").to_table().to_pylist()
    document = rows[0]["documents"][0]
    length = {
        d["url"]: d["length"] for d in ds.dataset(built / "documents").to_table().to_pylist()
    }[document["url"]]
    with (GOLDEN / document["warc_file"]).open("rb") as raw:
        raw.seek(document["offset"])
        import io

        (capture,) = read_captures(io.BytesIO(raw.read(length)))
    assert capture.digest == document["digest"]


@pytest.mark.slow
def test_two_workers_write_the_same_bytes(built, tmp_path, call):
    done = call(*SAMPLE, "--out", tmp_path / "out", "--workers", 2)
    assert done.returncode == 0, done.stderr
    assert digests(tmp_path / "out") == digests(built)


def test_a_second_run_finds_all_done(copy, call):
    before = {p: p.stat().st_mtime_ns for p in (copy / "examples").iterdir()}
    done = call(*SAMPLE, "--out", copy)
    assert done.returncode == 0
    assert done.stderr.count("already done") == 12
    assert {p: p.stat().st_mtime_ns for p in (copy / "examples").iterdir()} == before


def rows_of(folder: Path) -> list[tuple]:
    rows = ds.dataset(folder).to_table().to_pylist()
    return sorted(((r["file"], r["offset"], str(r)) for r in rows), key=repr)


@pytest.mark.slow
def test_crawl_files_in_parts_give_the_same_bytes(built, tmp_path, monkeypatch):
    from wikisum.crawl.warc.split_points import records_between
    from wikisum.pipeline.pages import plan as plan_scan
    from wikisum.pipeline.pages import read_records as crawl_records

    monkeypatch.setattr(plan_scan, "MIN_BYTES", 5_000)
    small = functools.partial(records_between, certain_bytes=1_000)
    monkeypatch.setattr(crawl_records, "records_between", small)
    out = tmp_path / "out"
    assert main([*SAMPLE, "--out", str(out), "--workers", "1"]) == 0
    shards = [pq.read_metadata(p).num_rows for p in sorted((out / "documents").iterdir())]
    assert len(shards) > 20
    assert sum(rows > 0 for rows in shards) > 10
    whole, parts = digests(built), digests(out)
    examples = {name: sha for name, sha in whole.items() if name.startswith("examples/")}
    assert examples == {name: parts[name] for name in examples}
    assert rows_of(out / "dropped") == rows_of(built / "dropped")
    counts = [json.loads((o / "manifest.json").read_text())["counts"] for o in (built, out)]
    assert counts[0] == counts[1]


@pytest.mark.longest
@pytest.mark.slow
def test_killed_at_any_moment_it_ends_in_the_same_bytes(built, tmp_path):
    """With one worker, and in a stage of several parts with two, which outlive the kill."""
    out = tmp_path / "out"
    moments = [
        "documents/*", ".work/joined/*", ".work/graphs/*", ".work/vocab.json", "examples/*",
    ]  # fmt: skip
    for moment in moments:
        workers = 2 if moment == "documents/*" else 1
        process = start([*SAMPLE, "--out", out, "--workers", workers])
        deadline = time.monotonic() + 120
        while not list(out.glob(moment)) and process.is_alive():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert end(process, signal.SIGKILL) == -signal.SIGKILL
        for shard in out.glob("*/*.parquet"):
            pq.ParquetFile(shard)  # whatever is there under its final name is whole
    assert main([*SAMPLE, "--out", str(out), "--workers", "1"]) == 0
    assert digests(out) == digests(built)
    assert not list(out.rglob(".*.tmp"))


def test_other_settings_redo_what_they_change(copy, call):
    out = copy
    done = call(*SAMPLE, "--out", out, "--max-paragraphs", 2, "--shards", 2, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("already done") == 7  # templates to pages, and recurring lines
    rows = ds.dataset(out / "examples").to_table().to_pylist()
    assert max(len(r["paragraphs"]) for r in rows) == 2
    assert len(list((out / "examples").iterdir())) == 4
    assert main(["validate", str(out)]) == 0


def test_stages_one_by_one_give_the_same_examples(built, tmp_path, call):
    out = tmp_path / "out"
    flags = dict(zip(SAMPLE[1::2], SAMPLE[2::2], strict=True))
    steps = [
        ["articles", "--articles", flags["--articles"]],
        ["scan", "--warcs", flags["--warcs"], "--search-results", flags["--search-results"]],
        ["examples"],
    ]
    assert call("examples", "--out", out).stderr.strip().endswith("run `wikisum articles` first")
    for step in steps:
        done = call(*step, "--out", out, "--workers", 1)
        assert done.returncode == 0, done.stderr
    row = ds.dataset(out / "examples").to_table().to_pylist()[0]
    assert row["paragraph_ids"] is None
    assert row["similarity_graph"] is not None
    assert main(["validate", str(out)]) == 0
    done = call("tokenize", "--vocab-size", 500, "--out", out, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert {k: v for k, v in digests(out).items() if k.startswith("examples/")} == {
        k: v for k, v in digests(built).items() if k.startswith("examples/")
    }


def test_a_crawl_by_its_list_and_its_metadata_gives_the_same_documents(built, tmp_path, call):
    names = sorted(path.name for path in GOLDEN.glob("sample-*.gz"))
    (tmp_path / "all.paths").write_text("\n".join(names))
    (tmp_path / "metadata").mkdir()
    for name in names:
        empty = name == names[0]
        result = tmp_path / "metadata" / f"{name}.metadata.json"
        result.write_text("{}" if empty else '{"http://unheard.example/": [1]}')
    for path in (tmp_path / "metadata").glob(f"{names[1]}*"):
        path.unlink()
    flags = ["--search-results", GOLDEN / "search.jsonl", "--workers", 1, "--crawl-root", GOLDEN]
    assert call("articles", *SAMPLE[1:3], "--out", tmp_path / "out").returncode == 0
    scan = ["scan", "--warcs", tmp_path / "all.paths", *flags, "--out", tmp_path / "out"]
    done = call(*scan)
    assert done.returncode == 0, done.stderr
    whole = {k: v for k, v in digests(built).items() if k.startswith("documents/")}
    found = {k: v for k, v in digests(tmp_path / "out").items() if k.startswith("documents/")}
    assert found == whole
    done = call(*scan, "--metadata", tmp_path / "metadata")
    assert done.returncode == 0, done.stderr
    shards = (tmp_path / "out" / "documents").iterdir()
    (left,) = (path for path in shards if pq.ParquetFile(path).metadata.num_rows)
    assert whole[f"documents/{left.name}"] == digests(tmp_path / "out")[f"documents/{left.name}"]


def test_slices(tmp_path, call):
    titles = tmp_path / "titles.txt"
    titles.write_text("tavin_Bridge\nOsterby\n")
    out = tmp_path / "out"
    flags = [*SAMPLE[:-2], "--vocab-size", "300", "--workers", "1"]
    assert call(*flags, "--titles", titles, "--out", out).returncode == 0
    rows = ds.dataset(out / "examples").to_table().to_pylist()
    assert {r["title"] for r in rows} == {"Tavin Bridge", "Osterby"}
    assert not any(r["reason"] == "unknown_title" for r in dropped(out))
    assert call(*flags, "--limit", 3, "--out", out).returncode == 0
    assert ds.dataset(out / "articles").to_table().num_rows == 3


def test_others_open_the_shards(built, tmp_path):
    import datasets
    import duckdb
    import pandas

    pattern = str(built / "examples" / "train-*.parquet")
    count = sum(pq.ParquetFile(p).metadata.num_rows for p in built.glob("examples/train-*"))
    assert ds.dataset(sorted(map(str, built.glob("examples/train-*")))).count_rows() == count
    assert duckdb.sql(f"select count(*) from '{pattern}'").fetchall() == [(count,)]
    first = next(p for p in sorted(built.glob("examples/train-*")) if pq.read_table(p).num_rows)
    assert len(pandas.read_parquet(first)) > 0
    loaded = datasets.load_dataset(
        "parquet", data_files={"train": pattern}, cache_dir=str(tmp_path)
    )["train"]
    assert loaded.num_rows == count
    assert loaded[0]["paragraphs"]


def test_report_tells_the_funnel_and_it_adds_up(built):
    report = json.loads((built / "report" / "report.json").read_text())
    for parts in report["funnel"].values():
        (_, whole), *rest = parts.items()
        assert whole == sum(number for _, number in rest)
    scanned = json.loads((built / "manifest.json").read_text())["counts"]["scan"]
    read, taken = (report["funnel"][name] for name in ("records_read", "records_taken"))
    assert read["read"] >= scanned["records_in"] > read["wanted_or_broken"] > 0
    assert (taken["documents"], taken["no_text"]) == (
        scanned["documents_out"], scanned["dropped_no_text"]
    )  # fmt: skip
    assert report["sizes"]["lead_words"]["100"] > report["sizes"]["lead_words"]["20"] > 10
    assert 0 < report["sizes"]["rouge1_recall"]["mean"] < 1
    assert report["leakage"]["test_urls"] >= report["leakage"]["test_urls_in_train"] > 0
    assert sum(report["histograms"]["lead_words"]["counts"]) == sum(report["splits"].values())
    similarity = report["graphs"]["similarity"]
    assert similarity["paragraphs"] > similarity["paragraphs_alone"] > 0 < similarity["edges"]
    reasons = Counter((r["kind"], r["stage"], r["reason"]) for r in dropped(built))
    result = Counter((r["kind"], r["stage"], r["reason"]) for r in report["dropped"])
    assert result == {reason: min(number, 5) for reason, number in reasons.items()}
    manifest = json.loads((built / "manifest.json").read_text())
    assert {"report/index.html", "report/report.json"} <= set(manifest["others"])
    page = (built / "report" / "index.html").read_text()
    assert "<li>sample-pages-00000.warc.gz, " in page
    assert str(GOLDEN.parent) not in page
    card = (built / "README.md").read_text()
    assert card.startswith("---\n")
    assert "examples/validation-*.parquet" in card


def test_ranked_again_it_keeps_card_report_and_history(built, tmp_path, capsys):
    out = tmp_path / "ranked"
    ranking = ["rank", "--method", "lexrank", "--max-paragraphs", "3", "--workers", "1"]
    assert main([*ranking, "--data", str(built), "--out", str(out)]) == 0
    assert main(["validate", str(out)]) == 0
    rows = ds.dataset(out / "examples").to_table().to_pylist()
    assert len(rows) == len(ds.dataset(built / "examples").to_table())
    assert max(len(row["paragraphs"]) for row in rows) == 3
    manifest, old = (json.loads((d / "manifest.json").read_text()) for d in (out, built))
    assert {k: v for k, v in manifest["settings"].items() if k != "rank"} == old["settings"]
    whole = (built / "manifest.json").read_bytes()
    assert manifest["derived_from"] == hashlib.sha256(whole).hexdigest()
    card = (out / "README.md").read_text()
    assert card.startswith("---\n")
    assert "by the method lexrank" in card
    assert {p.name for p in (out / "report").iterdir()} == {"report.json", "index.html"}
    shutil.copytree(built, tmp_path / "copy", copy_function=shutil.copy2)
    (tmp_path / "copy" / "manifest.json").unlink()
    assert main([*ranking, "--data", str(tmp_path / "copy"), "--out", str(out)]) == 2
    assert "its build is not finished" in capsys.readouterr().err
    assert main([*ranking, "--data", str(out), "--out", str(built)]) == 2
    assert "--out holds a build" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["build"], 2, "required: --articles"),
        (["bild"], 2, "no command 'bild'; did you mean build?"),
        (
            [*SAMPLE, "--out", "x", "--corpu", "search"],
            2,
            "did you mean --corpus?",
        ),
        ([*SAMPLE, "--out", "x", "--corpus", "web"], 2, "--corpus must be one of"),
        (
            [*SAMPLE, "--out", "x", "--extractor", "magic"],
            2,
            "--extractor must be one",
        ),
        (
            [*SAMPLE, "--out", "x", "--clone-threshold", "7"],
            2,
            "--clone-threshold must be",
        ),
        ([*SAMPLE, "--out", "x", "--workers", "0"], 2, "--workers must be at least 1"),
        ([*SAMPLE, "--out", "x", "--vocab", __file__], 2, "is not a SentencePiece model"),
        ([*SAMPLE, "--out", "x", "--", "--no_such_flag=1"], 2, "Beam has no flag"),
        ([*SAMPLE[:2], "no.xml", *SAMPLE[3:], "--out", "x"], 2, "--articles: no such file: no.xml"),
        ([*SAMPLE[:2], "/", *SAMPLE[3:], "--out", "x"], 2, "is a directory"),
        ([*SAMPLE, "--out", __file__], 2, "is not a directory"),
        ([*SAMPLE, "--out", ""], 2, "--out is empty"),
        (
            [*SAMPLE, "--out", "x", "--metadata", "no"],
            2,
            "--metadata: no is not a",
        ),
        (["validate", "no-such-folder"], 2, "the build is not finished"),
        (["tokenize", "--out", "empty"], 1, "run `wikisum articles` first"),
    ],
)
def test_a_wrong_call_is_one_line(words, code, message, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert main(words) == code
    output = capfd.readouterr().err.strip().splitlines()
    assert message in output[-1]
    assert "Traceback" not in "\n".join(output)


@pytest.mark.parametrize(("content", "reason"), [(b"", "empty_file"), (b"just text", "not_a_dump")])
def test_a_dump_that_is_none(content, reason, tmp_path, call):
    bad = tmp_path / "bad.xml"
    bad.write_bytes(content)
    done = call(*SAMPLE[:2], bad, *SAMPLE[3:], "--out", tmp_path / "out", "--workers", 1)
    assert done.returncode == 1
    assert reason in done.stderr.strip().splitlines()[-1]


def test_a_cut_dump_and_bad_crawl_files_lose_only_themselves(tmp_path, call):
    cut = tmp_path / "cut.xml.bz2"
    import bz2

    xml = bz2.decompress((GOLDEN / "sample.xml.bz2").read_bytes())
    cut.write_bytes(bz2.compress(xml[: len(xml) * 2 // 3]))
    (tmp_path / "empty.warc.gz").write_bytes(b"")
    flags = [*SAMPLE[:2], cut, *SAMPLE[3:4], *sorted(GOLDEN.glob("*.gz")), *SAMPLE[5:]]
    flags[flags.index("--warcs") + 1 : flags.index("--warcs") + 1] = [tmp_path / "empty.warc.gz"]
    done = call(*flags, "--out", tmp_path / "out", "--workers", 1)
    assert done.returncode == 0, done.stderr
    reasons = {(r["stage"], r["reason"], r["file"]) for r in dropped(tmp_path / "out")}
    assert ("articles", "truncated_file", "cut.xml.bz2") in reasons
    assert any(reason == "not_a_warc" for _, reason, _ in reasons)
    assert main(["validate", str(tmp_path / "out")]) == 0


@pytest.mark.skipif(not os.access("/proc", os.R_OK), reason="needs /proc")
def test_two_runs_do_not_mix(copy, call):
    import fcntl

    with (copy / ".work" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = call(*SAMPLE, "--out", copy)
    assert done.returncode == 1
    assert "another run is writing" in done.stderr


@pytest.mark.longest
def test_files_that_others_broke_can_stand_among_the_crawl(real_data, tmp_path, call):
    wanted = tmp_path / "search.jsonl"
    row = {"title": "Alabama", "urls": ["http://example.com/", "http://www.iana.org/"]}
    wanted.write_text(json.dumps(row) + "\n")
    warcs = [*sorted((real_data / "broken-warcs").iterdir()), real_data / "pages-dev.warc.gz"]
    done = call(
        "build", "--articles", real_data / "enwiki-dev.xml.bz2", "--warcs", *warcs,
        "--search-results", wanted, real_data / "search-results-dev.jsonl",
        "--vocab-size", 500, "--workers", 1, "--graphs", "none", "--out", tmp_path / "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    records = [r for r in dropped(tmp_path / "out") if r["kind"] == "record"]
    assert any(r["file"].endswith("bad.arc") and r["reason"] == "bad_record" for r in records)
    assert all(r["offset"] is not None for r in records if r["stage"] == "scan")
    assert main(["validate", str(tmp_path / "out")]) == 0


def test_an_interrupt_leaves_at_once_with_a_line(tmp_path):
    """`python -m wikisum`, as a user starts it."""
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "wikisum", *SAMPLE, "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 120
    while not (out / ".work" / "articles.json").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, result = process.communicate(timeout=60)
    assert process.returncode == 130
    assert result.strip().splitlines()[-1].endswith("run the same command to resume")


def test_a_finished_dataset_stays_finished(copy, tmp_path):
    """What `search` and `live` write is added to it."""
    out = copy
    flags = dict(zip(SAMPLE[1::2], SAMPLE[2::2], strict=True))
    assert main(["search", "--warcs", flags["--warcs"], "--out", str(out), "--workers", "1"]) == 0
    assert (
        "search/results-00000-of-00001.jsonl"
        in json.loads((out / "manifest.json").read_text())["files"]
    )
    assert main(["validate", str(out)]) == 0
    (tmp_path / "urls.txt").write_text("http://127.0.0.1:9/x\n")
    words = ["--urls", str(tmp_path / "urls.txt"), "--contact", "you@host.example"]
    assert main(["live", *words, "--out", str(out)]) == 0
    assert main(["validate", str(out)]) == 0


def test_folders_are_named_the_same_way_everywhere(copy, tmp_path, capsys):
    built = copy
    assert main(["validate", "--data", str(built)]) == 0
    assert main(["report", str(built)]) == main(["report", "--out", str(built)]) == 0
    for words in ([str(built)], ["--data", str(built)]):
        ranked = tmp_path / str(len(words))
        method = ["--method", "identity", "--out", str(ranked), "--workers", "1"]
        assert main(["rank", *words, *method]) == 0
        capsys.readouterr()
        assert main(["evaluate", "ranking", *words, "--methods", "identity"]) == 0
        assert "| identity |" in capsys.readouterr().out
