import json

import pytest

from wikisum.models.decoding.summary_files import BadSummaries
from wikisum.models.evaluation import systems as module
from wikisum.models.evaluation.systems import baseline_systems, file_systems


def write(path, *models):
    rows = [
        {"id": f"{n}", "title": "t", "lead": "l", "summary": "s", "model": model}
        for n, model in enumerate(models)
    ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_a_system_is_named_by_its_model_or_file_and_read_again(tmp_path):
    paths = [write(tmp_path / "a.jsonl", "ht", "ht"), write(tmp_path / "b.jsonl", None)]
    found = file_systems(paths)
    assert [s.name for s in found] == ["ht", "b"]
    assert [s.row_count for s in found] == [2, 1]
    assert [s.source for s in found] == list(map(str, paths))
    assert not any(s.is_baseline for s in found)
    assert [row.id for row in found[0].read()] == [row.id for row in found[0].read()] == ["0", "1"]


def test_equal_names_are_told_apart_by_file_then_path(tmp_path):
    a, b = write(tmp_path / "a.jsonl", "ht"), write(tmp_path / "b.jsonl", "ht")
    c = write(tmp_path / "c.jsonl", "ft")
    assert [s.name for s in file_systems([a, b, c])] == ["ht (a)", "ht (b)", "ft"]
    other = write(tmp_path / "x" / "a.jsonl", "ht")
    assert [s.name for s in file_systems([a, other, c])] == [
        f"ht (a) ({a})", f"ht (a) ({other})", "ft",
    ]  # fmt: skip


def test_one_file_twice_is_refused(tmp_path):
    a, b = write(tmp_path / "a.jsonl", "ht"), write(tmp_path / "b.jsonl", "ft")
    with pytest.raises(ValueError, match=r"twice: ht \(a\)"):
        file_systems([b, a, a])


def test_a_file_without_rows_is_refused(tmp_path):
    empty = write(tmp_path / "empty.jsonl")
    with pytest.raises(BadSummaries, match=r"empty\.jsonl.* holds no summary"):
        file_systems([empty])
    with pytest.raises(FileNotFoundError):
        file_systems([tmp_path / "absent.jsonl"])


def test_baselines_read_what_they_are_asked_for(monkeypatch):
    asked = []
    monkeypatch.setattr(module, "baseline_summaries", lambda *a: asked.append(a) or iter(()))
    one, other = baseline_systems(["first-words", "lexrank"], "data", "test", {"x", "y"}, 3)
    assert (one.name, one.row_count, one.is_baseline) == ("first-words", 2, True)
    assert one.source == other.source == "data, split test"
    list(other.read())
    assert asked == [("lexrank", "data", "test", {"x", "y"}, 3)]


def test_without_ids_all_examples_count(monkeypatch):
    groups = [type("Group", (), {"rows": rows}) for rows in (3, 4)]
    monkeypatch.setattr(module, "split_shards", lambda data, split: (data, split))
    monkeypatch.setattr(module, "row_groups", lambda shards: groups if shards else [])
    (found,) = baseline_systems(["lead"], "data", "test", None, None)
    assert found.row_count == 7
    (none,) = baseline_systems(["lead"], "data", "test", set(), None)
    assert none.row_count == 0
