import os
import resource

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import stage_writer
from wikisum.pipeline.engine.shards import open_shard
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.locate.keys import Lookup, Lookups, SortKeys
from wikisum.pipeline.records import WANTED, WantedUrl, schema_of, to_table

KEYS = "acegikm"


def lookup(key: str, url: str = "u", wanted: str = "w") -> Lookup:
    return Lookup(key, url, wanted)


@pytest.fixture(scope="module")
def paths(tmp_path_factory) -> tuple[str, ...]:
    """Two sorted files with the keys in turn, in row groups of two."""
    folder = tmp_path_factory.mktemp("lookups")
    names = []
    for number in range(2):
        names.append(str(folder / f"{number}.parquet"))
        rows = to_table([lookup(key) for key in KEYS[number::2]], schema_of(Lookup))
        pq.write_table(rows, names[-1], row_group_size=2)
    return tuple(names)


def keys(lookups: Lookups, low: str, high: str | None) -> str:
    return "".join(found.surt for found in lookups.between(low, high))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [("", None, KEYS), ("c", "i", "cegi"), ("d", "h", "eg"), ("m", None, "m"), ("n", None, ""),
     ("", "a", "a"), ("", "A", ""), ("g", "g", "g"), ("h", "g", "")],
)  # fmt: skip
def test_keys_between_bounds_are_merged_in_order(low, high, expected, paths):
    assert keys(Lookups(paths, 7), low, high) == expected


@given(st.text(KEYS + "bz", max_size=2), st.none() | st.text(KEYS + "bz", max_size=2))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_bounds_select_what_a_comparison_selects(paths, low, high):
    expected = [key for key in KEYS if key >= low and (high is None or key <= high)]
    assert keys(Lookups(paths, 7), low, high) == "".join(expected)


def test_only_lookups_for_the_chosen_urls(tmp_path):
    path = str(tmp_path / "x.parquet")
    rows = [lookup("a", "u1", "w1"), lookup("a", "u2", "w2"), lookup("b", "u3", "w1")]
    pq.write_table(to_table(rows, schema_of(Lookup)), path)
    chosen = Lookups((path,), 3, frozenset(["w1"]))
    assert list(chosen.between("", None)) == [rows[0], rows[2]]


def test_wanted_urls_are_sorted_by_key_and_each_is_there_once(tmp_path):
    wanted = [
        WantedUrl("http://b.example/", "1", "citation", 0),
        WantedUrl("http://a.example/x", "1", "citation", 1),
        WantedUrl("http://b.example/", "2", "search", 0),
        WantedUrl("http://en.wikipedia.org/", "2", "search", 1, "wikipedia_itself"),
    ]
    with open_shard(str(tmp_path), "wanted/0.parquet", WANTED, {}) as shard:
        for row in wanted:
            shard.write(row)
    stage = Stage("keys", "URLs", (Output("keys/keys-", Lookup, count="keys_out"),))
    result = SortKeys(stage_writer(tmp_path, stage))(0, "wanted/0.parquet")
    (file,) = result.files
    found = list(Lookups((str(tmp_path / file.path),), 2).between("", None))
    assert [(f.surt, f.url) for f in found] == [
        ("example,a)/x", "http://a.example/x"),
        ("example,b)/", "http://b.example/"),
    ]
    assert all(f.url == f.wanted for f in found)
    assert result.counts == {"keys_out": 2}


@pytest.mark.slow
def test_more_shards_than_a_process_may_open_are_merged(tmp_path):
    """English Wikipedia has 1,684 shards, and the usual limit is 1,024 files."""
    paths = []
    for number in range(100):
        paths.append(str(tmp_path / f"{number}.parquet"))
        rows = [lookup(f"{number:03}"), lookup(f"{number + 100:03}")]
        pq.write_table(to_table(rows, schema_of(Lookup)), paths[-1], row_group_size=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 40, hard))
    try:
        found = [each.surt for each in Lookups(tuple(paths), 200).between("", None)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert found == [f"{number:03}" for number in range(200)]
