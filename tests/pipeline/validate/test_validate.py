import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.pipeline.cli import main
from wikisum.pipeline.records import EXAMPLE
from wikisum.pipeline.validate import fates, validate


@pytest.fixture
def out(flow) -> Path:
    return Path(flow.job.workspace.out)


def test_a_sound_dataset_has_no_faults(out, capsys):
    assert main(["validate", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: no faults found\n"


def rewrite(out: Path, path: Path, change) -> None:
    """Change the first row of a shard and make the manifest agree with the file."""
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, schema=EXAMPLE), path)
    manifest = json.loads((out / "manifest.json").read_text())
    result = manifest["files"][str(path.relative_to(out))]
    result["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    result["rows"] = len(rows)
    (out / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda r: r[0].update(lead=" "), "lead: is empty"),
        (lambda r: r.insert(0, {**r[0], "lead": None}), ".parquet: row 0: "),
        (lambda r: r.append({**r[0], "lead": None}), ".parquet: row 1: "),
        (lambda r: r[0].update(title=None), "(None): title: is null"),
        (lambda r: r[0].update(paragraphs=None), "paragraphs: is null"),
        (lambda r: r[0].update(documents=None), "documents: is null"),
        (lambda r: r[0]["documents"].insert(0, None), "documents: [0] is null"),
        (lambda r: r[0].update(similarity_graph=None), "similarity_graph: is null"),
        (lambda r: r[0].update(discourse_graph=None), "discourse_graph: is null"),
        (lambda r: r[0].update(dict.fromkeys(["title_ids", "lead_ids", "paragraph_ids"])),
         "title_ids: is null"),
        (lambda r: r[0]["paragraphs"][0].update(document=99), "is of document 99"),
        (lambda r: r[0]["paragraphs"][0].update(text=r[0]["lead"]), "contains the lead"),
        (lambda r: r[0]["paragraphs"].reverse(), "not best first"),
        (lambda r: r[0]["similarity_graph"].update(source=[1], target=[0], weight=[0.5]),
         "edge 1-0 is out of order"),
        (lambda r: r[0].update(lead_ids=[65_000]), "65000 is not in the vocabulary"),
        (lambda r: r[0]["paragraph_ids"].pop(), "not one list per paragraph"),
        (lambda r: r[0].update(id="f" * 16), "has 0 fates, not 1"),
        (lambda r: r.append(dict(r[0])), "has 2 fates, not 1"),
        (lambda r: r[0]["documents"].pop(), "has 0 fates, not 1"),
    ],
)  # fmt: skip
def test_validate_finds_what_is_wrong(out, capsys, change, fault):
    shards = sorted((out / "examples").glob("train-*"))
    rewrite(out, next(s for s in shards if pq.read_table(s).num_rows), change)
    assert main(["validate", str(out)]) == 1
    assert fault in capsys.readouterr().out


def test_a_row_that_only_the_readers_refuse_is_named(out, monkeypatch):
    shards = sorted((out / "examples").glob("train-*"))
    path = next(s for s in shards if pq.read_table(s).num_rows)
    rewrite(out, path, lambda r: r[0].update(lead=None))
    monkeypatch.setattr(validate, "row_faults", lambda *_: iter(()))
    assert list(validate.validate(str(out))) == [f"examples/{path.name}: row 0: lead is null"]


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({}, set()),
        ({"graphs": {}}, {"similarity_graph", "discourse_graph"}),
        ({"graphs": {"graphs": "discourse"}}, {"discourse_graph"}),
        ({"graphs": {"graphs": "none"}}, set()),
        ({"tokenize": {"vocab_sha256": None}}, set()),
        ({"tokenize": {"vocab_sha256": "f"}}, {"title_ids", "lead_ids", "paragraph_ids"}),
    ],
)
def test_the_settings_tell_which_columns_are_made(settings, made):
    assert validate._made_columns(settings) == made


def test_validate_finds_files_that_are_gone_changed_or_strange(out, capsys):
    first, second, *_ = sorted((out / "examples").iterdir())
    first.unlink()
    second.write_bytes(second.read_bytes()[:-1] + b"x")
    (out / "examples" / "extra.parquet").write_bytes(b"")
    assert main(["validate", str(out)]) == 1
    output = capsys.readouterr().out
    assert f"{first.name}: is missing" in output
    assert f"{second.name}: its SHA-256" in output
    assert "extra.parquet: is not in the manifest" in output


def test_validate_tells_how_far_it_is(out, monkeypatch):
    done: dict[str, list[float]] = {}

    @contextlib.contextmanager
    def watched(stage: str, unit: str, total: float, to: object) -> Iterator[SimpleNamespace]:
        done[stage] = [total, 0.0]

        def add(items: int = 0, work: float = 0.0) -> None:
            done[stage][1] += work

        yield SimpleNamespace(add=add)

    for module in (validate, fates):
        monkeypatch.setattr(module, "watched", watched)
    assert list(validate.validate(str(out))) == []
    assert list(done) == ["hashes", "examples", "fates"]
    assert all(0 < total == work for total, work in done.values())


def manifest_of(out: Path) -> dict:
    return json.loads((out / "manifest.json").read_text())


def save(out: Path, manifest: dict) -> list[str]:
    (out / "manifest.json").write_text(json.dumps(manifest))
    return list(validate.validate(str(out)))


def test_at_most_twenty_faults_of_a_kind_are_listed(out):
    for number in range(23):
        (out / "examples" / f"extra-{number:02}.parquet").write_bytes(b"")
    faults = list(validate.validate(str(out)))
    assert len(faults) == 21
    assert faults[19].endswith("extra-19.parquet: is not in the manifest")
    assert faults[20] == "... 3 more faults of the kind: stray"
    for number in (20, 21, 22):
        (out / "examples" / f"extra-{number:02}.parquet").unlink()
    assert len(list(validate.validate(str(out)))) == 20


def test_rows_and_columns_that_the_manifest_does_not_have(out):
    manifest = manifest_of(out)
    path = next(p for p, entry in manifest["files"].items()
                if p.startswith("examples/train-") and entry["rows"])  # fmt: skip
    manifest["files"][path]["rows"] = 3
    assert f"{path}: has 1 rows, not 3" in save(out, manifest)
    table = pq.read_table(out / path)
    pq.write_table(table.drop_columns(["title"]), out / path)
    manifest["files"][path]["sha256"] = hashlib.sha256((out / path).read_bytes()).hexdigest()
    assert f"{path}: its columns are not those of examples" in save(out, manifest)
    (out / path).write_bytes(b"no Parquet")
    manifest["files"][path]["sha256"] = hashlib.sha256(b"no Parquet").hexdigest()
    (fault,) = (f for f in save(out, manifest) if "is not a Parquet file" in f)
    assert fault.startswith(f"{path}: ")


def test_a_file_of_no_split_and_a_missing_page(out):
    manifest = manifest_of(out)
    path = next(p for p in manifest["files"] if p.startswith("examples/train-"))
    strange = path.replace("train-", "trial-")
    (out / path).rename(out / strange)
    manifest["files"][strange] = manifest["files"].pop(path)
    (out / "report" / "index.html").unlink()
    faults = save(out, manifest)
    assert f"{strange}: its name does not begin with a split" in faults
    assert "report/index.html: is missing" in faults


def test_counts_that_are_not_those_of_the_rows(out):
    manifest = manifest_of(out)
    manifest["counts"]["articles"]["articles_out"] = 3
    manifest["counts"]["wanted"]["dropped_record_bad_line"] = 2
    assert save(out, manifest) == [
        "articles: has 2 rows, but the counts say 3",
        "dropped: 1 rows of wanted, but its counts say 2",
    ]


def test_a_folder_without_a_finished_build(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(validate.validate(str(tmp_path)))


@pytest.mark.slow
def test_two_processes_find_the_same_in_the_same_order(out, monkeypatch):
    for path in sorted((out / "examples").glob("*")):
        if pq.read_table(path).num_rows:
            rewrite(out, path, lambda r: r[0].update(lead=" ", id="f" * 16, lead_ids=[65_000]))
    monkeypatch.setattr(validate, "_ROWS_PER_WORKER", 1)
    alone = list(validate.validate(str(out)))
    assert len(alone) > 6
    assert list(validate.validate(str(out), workers=2)) == alone
