from pathlib import Path

from wikisum.pipeline import machine


def test_a_container_limits_the_memory(tmp_path, monkeypatch):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine, "CGROUP_LIMIT", limit)
    whole = machine.memory_bytes()
    limit.write_text("max\n")
    assert machine.memory_bytes() == whole > 0
    limit.write_text("1048576\n")
    assert machine.memory_bytes() == 1 << 20


def test_the_disk_of_a_folder_to_come_is_that_of_the_folder_above(tmp_path):
    assert machine.existing_folder(str(tmp_path / "a" / "b")) == tmp_path
    assert machine.existing_folder(".") == Path.cwd()
