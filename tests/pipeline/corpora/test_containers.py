import bz2
import gzip
import io
import lzma
import tarfile

import pytest

from wikisum.crawl.errors import BadRecord
from wikisum.pipeline.corpora.containers import checked, is_archive, opened
from wikisum.pipeline.engine.files import expand


def archive(path, mode: str, members: dict[str, bytes]):
    with tarfile.open(path, mode) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return expand([str(path)])[0]


def contents(file) -> dict[str, bytes]:
    return {name: raw.read() for name, raw in opened(file)}


@pytest.mark.parametrize(("end", "mode"), [(".tar", "w"), (".tgz", "w:gz"), (".tar.xz", "w:xz")])
def test_members_of_an_archive_are_read_one_after_the_other(tmp_path, end, mode):
    file = archive(tmp_path / f"a{end}", mode, {"x/one.bin": b"1", "two.bin": b"22"})
    assert is_archive(file.name)
    assert contents(file) == {f"a{end}/x/one.bin": b"1", f"a{end}/two.bin": b"22"}


@pytest.mark.parametrize(
    ("end", "pack"),
    [("", bytes), (".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)],
)
def test_a_file_is_decompressed_by_its_suffix(tmp_path, end, pack):
    (tmp_path / f"a.jsonl{end}").write_bytes(pack(b"data"))
    file = expand([str(tmp_path / f"a.jsonl{end}")])[0]
    assert not is_archive(file.name)
    assert contents(file) == {"a.jsonl": b"data"}


@pytest.mark.parametrize(("end", "mode"), [(".tar", "w"), (".tgz", "w:gz"), (".tar.xz", "w:xz")])
def test_a_cut_archive_gives_what_is_whole_and_then_a_bad_record(tmp_path, end, mode):
    noise = bytes(range(256)) * 40
    archive(tmp_path / f"a{end}", mode, {"one": b"1", "two": noise + noise[::-1] * 9})
    data = (tmp_path / f"a{end}").read_bytes()
    (tmp_path / f"a{end}").write_bytes(data[: len(data) * 3 // 4])
    file = expand([str(tmp_path / f"a{end}")])[0]
    read = []

    def read_all():
        for name, raw in opened(file):
            with checked(name):
                read.append((name, raw.read()))

    with pytest.raises(BadRecord, match="is damaged or incomplete") as caught:
        read_all()
    assert caught.value.reason == "truncated_file"
    assert read in ([(f"a{end}/one", b"1")], [])
