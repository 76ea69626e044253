import gzip
import json
import os

import pytest

from tests.fake_crawl import served
from wikisum.crawl.errors import BadAnswer
from wikisum.crawl.urls import url_key
from wikisum.pipeline.pages.crawl_files import crawl_files, may_hold
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings

NAMES = ["crawl-data/CC-1/segments/1/warc/b.warc.gz", "crawl-data/CC-1/segments/0/warc/a.warc.gz"]


@pytest.fixture
def crawl(tmp_path):
    """A crawl's folders as CommonCrawl has them: two files, and a list beside their segments."""
    for name in NAMES:
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_bytes(name.encode())
    data = gzip.compress("".join(f"{name}\n" for name in NAMES).encode())
    (tmp_path / "crawl-data" / "CC-1" / "warc.paths.gz").write_bytes(data)
    return tmp_path


def listed(*words, root=None):
    return [(f.name, f.path, f.size_bytes) for f in crawl_files([str(w) for w in words], root)]


def test_a_list_where_the_crawl_has_it(crawl):
    found = listed(crawl / "crawl-data" / "CC-1" / "warc.paths.gz")
    assert found == [(n, str(crawl / n), len(n)) for n in sorted(NAMES)]


def test_a_plain_list_elsewhere_needs_the_root(crawl, tmp_path_factory):
    path = tmp_path_factory.mktemp("elsewhere") / "my.paths"
    path.write_text(f"{NAMES[0]}\r\n\n")
    assert listed(path, root=str(crawl)) == [(NAMES[0], str(crawl / NAMES[0]), len(NAMES[0]))]
    with pytest.raises(FileNotFoundError, match=r"my.paths: line 1: .*--crawl-root"):
        listed(path)


def test_files_and_lists_may_be_mixed_and_a_file_comes_once(crawl):
    own = crawl / "own.warc.gz"
    own.write_bytes(b"")
    lists = crawl / "crawl-data" / "CC-1" / "warc.paths*"
    assert [f[0] for f in listed(own, lists, lists)] == [*sorted(NAMES), "own.warc.gz"]


def test_remote_files_are_not_asked_for_their_size(crawl):
    found = listed(crawl / "crawl-data" / "CC-1" / "warc.paths.gz", root="gs://bucket")
    assert found == [(n, f"gs://bucket/{n}", 0) for n in sorted(NAMES)]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\x1f\x8b nonsense", "is not a list of paths"),
        (gzip.compress(b"a\n")[:-6], "is not a list of paths"),
        (b"\xff\xfe\n", "is not a list of paths"),
        (b"a\n../b\n", "line 2 is not a relative path: ../b"),
        (b"/etc/passwd\n", "line 1 is not a relative path"),
        (b"gs://b/c\n", "line 1 is not a relative path"),
        (b"a\nb\n", "line 2: no such file"),
    ],
)
def test_a_wrong_list_is_reported_with_its_line(tmp_path, data, fault):
    (tmp_path / "a").write_bytes(b"")
    (tmp_path / "x.paths").write_bytes(data)
    with pytest.raises((ValueError, FileNotFoundError), match=fault):
        listed(tmp_path / "x.paths")


def test_a_list_on_a_server(crawl):
    with served(crawl) as server:
        access = Access(RemoteSettings(roots=(server.url,), first_pause_seconds=0.01), None, 1)
        found = crawl_files(
            [f"{server.url}crawl-data/CC-1/warc.paths.gz", f"{server.url}x/y.warc.gz"], None, access
        )
        with pytest.raises(BadAnswer, match="returned 404"):
            crawl_files([f"{server.url}none.paths.gz"], None, access)
    names = [*sorted(NAMES), "x/y.warc.gz"]
    assert [(f.name, f.path) for f in found] == [(n, server.url + n) for n in names]
    with pytest.raises(ValueError, match="is not under --crawl-root"):
        crawl_files(["https://elsewhere.example/warc.paths.gz"], None, access)


def test_metadata_tell_which_files_hold_a_wanted_page(tmp_path):
    keys = {url_key("http://a.example/x")}
    result = {
        "one": {"https://www.a.example/x": [3, 999], "ftp://b": [1]},
        "two": {"http://other.example/": [3]},
        "three": {},
    }
    for name, urls in result.items():
        (tmp_path / f"{name}.metadata.json").write_text(json.dumps(urls))
    (tmp_path / "broken.metadata.json").write_text("{")
    (tmp_path / "list.metadata.json").write_text("[]")

    def holds(name):
        return may_hold(keys, str(tmp_path), os.path.join("some/folder", name))

    assert holds("one")
    assert not holds("two")
    assert not holds("three")
    assert all(holds(name) for name in ("broken", "list", "absent"))
