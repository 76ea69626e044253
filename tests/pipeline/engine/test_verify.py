"""Finished files whose content has changed are found and made again, to the same bytes."""

from pathlib import Path

import pytest

from tests.pipeline.conftest import SETTINGS, write_inputs
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.verify import recorded_files, verify
from wikisum.pipeline.engine.workspace import PartResult
from wikisum.pipeline.examples.stage import JOIN, join_pages
from wikisum.pipeline.stages import stages


def flip(path: Path) -> None:
    """Change one bit in the middle of a file, whose size stays."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_sound_files_stay(flow):
    """All but the manifest, which is written anew."""
    out = Path(flow.job.workspace.out)
    (out / "manifest.json").unlink(missing_ok=True)
    before = {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()}
    assert verify(flow.job, stages()) == []
    assert {p: p.stat().st_mtime_ns for p in out.rglob("*") if p.is_file()} == before
    assert "files, 0 damaged" in flow.messages


@pytest.mark.slow
def test_only_the_damaged_part_of_a_join_is_made_again(flow):
    out = Path(flow.job.workspace.out)
    joined = flow.results["examples"]
    path = next(f.path for f in joined.files if f.path.startswith(".work/joined/train-") and f.rows)
    whole = (out / path).read_bytes()
    others = {f.path: (out / f.path).stat().st_ino for f in joined.files if f.path != path}
    flip(out / path)
    assert verify(flow.job, stages()) == [path]
    assert f"{path}: its SHA-256 is " in flow.messages
    results = flow.results
    again = join_pages(
        flow.job, SETTINGS, results["articles"], results["wanted"], [results["scan"]]
    )
    assert not again.skipped
    assert again.files == joined.files
    assert again.counts == joined.counts
    assert (out / path).read_bytes() == whole
    part = Path(path).stem
    kept = {p: (out / p).stat().st_ino for p in others if part not in p}
    assert kept == {p: inode for p, inode in others.items() if part not in p}


def test_a_file_of_another_size_is_named(flow):
    out = Path(flow.job.workspace.out)
    path = flow.results["articles"].files[0].path
    (out / path).write_bytes(b"short")
    assert verify(flow.job, stages()) == [path]
    assert f"{path}: has 5 bytes, not " in flow.messages
    assert not (out / path).exists()


def test_parts_of_an_unfinished_stage_are_compared(flow):
    workspace = flow.job.workspace
    done = flow.results["examples"]
    Path(workspace.work("examples.json")).unlink()
    assert next(f.path for f in done.files) in recorded_files(workspace, [JOIN])


def test_a_record_of_other_settings_makes_no_file_damaged(flow):
    """The parts of an earlier build under other settings stay recorded in their own folder."""
    workspace = flow.job.workspace
    file = flow.results["examples"].files[0]
    other = workspace.parts("examples", "0123456789abcdef")
    other.record({0: PartResult([file._replace(sha256="0" * 64)])})
    assert len(recorded_files(workspace, [JOIN])[file.path]) == 2
    assert verify(flow.job, stages()) == []


FOLDERS = ("articles/", "wanted/", "documents/", ".work/joined/", ".work/graphs/", "examples/")


@pytest.mark.slow
def test_the_command_repairs_what_validate_finds(tmp_path, capfd):
    write_inputs(tmp_path)
    out = tmp_path / "out"
    words = ["build", "--articles", f"{tmp_path}/dump.xml", "--warcs", f"{tmp_path}/pages.warc.gz"]
    words += [
        "--search-results",
        f"{tmp_path}/search.jsonl",
        "--shards",
        "1",
        "--vocab-size",
        "70",
        "--workers",
        "1",
        "--out",
        str(out),
    ]
    assert main(words) == 0
    files = [*out.rglob("*.parquet"), *(out / "report").iterdir(), out / "README.md"]
    whole = {p: p.read_bytes() for p in files}
    for folder in FOLDERS:
        flip(max((p for p in whole if folder in str(p)), key=lambda p: p.stat().st_size))
    assert main(["validate", str(out)]) == 1
    assert "run the same `wikisum build` command with --verify" in capfd.readouterr().out
    assert main([*words, "--verify"]) == 0
    assert capfd.readouterr().err.count("it is made again") == len(FOLDERS)
    assert {p: p.read_bytes() for p in files} == whole
    assert main(["validate", str(out)]) == 0
    for path in files[-3:]:  # which have no recorded hash
        flip(path)
    assert main([*words, "--verify"]) == 0
    assert {p: p.read_bytes() for p in files} == whole
