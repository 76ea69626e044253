import io
import json
import tarfile

import pytest

from tests.pipeline.corpora.test_cnndm import ABSTRACT, ARTICLE, chunk
from wikisum.crawl.errors import BadLine, DataError
from wikisum.pipeline.corpora.cnndm import story_key
from wikisum.pipeline.corpora.corpus import CORPORA
from wikisum.pipeline.corpora.entry import Entry
from wikisum.pipeline.corpora.read import Task, plan, read, split_lists
from wikisum.pipeline.engine.files import InputFile, expand

CNNDM = CORPORA["cnndm"]


def named(*names: str) -> list[InputFile]:
    return [InputFile(name, f"/in/{name}", 10, 0.0) for name in names]


def test_stories_share_parts_and_other_files_have_their_own():
    stories = named(*(f"{n:05d}.story" for n in range(5000)))
    chunks = named("test_000.bin", "all.tgz")
    tasks = plan(CNNDM, [*stories, *chunks])
    assert [len(task.files) for task in tasks] == [4096, 904, 1, 1]
    assert tasks[1].work == 9040


def test_sources_are_paired_with_their_summaries():
    files = named("test.src", "test.tgt", "train.src.cleaned", "train.tgt")
    assert plan(CORPORA["multinews"], files) == [Task(files[:2], True), Task(files[2:], True)]
    with pytest.raises(ValueError, match=r"/in/test\.src has no \.tgt file beside it"):
        plan(CORPORA["multinews"], files[:1])


def test_a_file_of_another_kind_is_a_wrong_call():
    with pytest.raises(ValueError, match=r"/in/a\.bin is not a file of WikiHow"):
        plan(CORPORA["wikihow"], named("a.bin"))


def rows_of(corpus, *paths):
    found = [row for task in plan(corpus, expand([*map(str, paths)])) for row in read(corpus, task)]
    return [(r.file, r.number, r.entry.reason if isinstance(r.entry, DataError) else "")
            for r in found]  # fmt: skip


def test_an_archive_is_read_member_by_member_up_to_its_damage(tmp_path):
    members = {"x/val_000.bin": chunk((ARTICLE, ABSTRACT)) * 2, "x/notes.md": b"?",
               "x/train_000.bin": chunk((ARTICLE, ABSTRACT)) * 400}  # fmt: skip
    with tarfile.open(tmp_path / "a.tar", "w") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    whole = rows_of(CNNDM, tmp_path / "a.tar")
    assert whole[:3] == [
        ("a.tar/x/val_000.bin", 0, ""),
        ("a.tar/x/val_000.bin", 1, ""),
        ("a.tar/x/notes.md", 0, "unknown_format"),
    ]
    assert len(whole) == 403
    data = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(data[: len(data) // 2])
    cut = rows_of(CNNDM, tmp_path / "a.tar")
    assert cut[:-1] == whole[: len(cut) - 1]
    assert cut[-1][2] == "truncated_file"
    assert 100 < len(cut) < 300


def test_lines_of_a_pair_belong_together(tmp_path):
    (tmp_path / "test.src").write_text("a ||||| b\nc\nd\n")
    (tmp_path / "test.tgt").write_text("s\nt\n")
    assert rows_of(CORPORA["multinews"], tmp_path / "test.*") == [
        ("test.src", 0, ""),
        ("test.src", 1, ""),
        ("test.src", 2, "unpaired_line"),
    ]


def test_a_bad_row_is_reported_from_a_bad_line(tmp_path):
    lines = [json.dumps({"article": "A.", "highlights": "B."}), "{", '{"article": "A."}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert rows_of(CNNDM, tmp_path / "a.jsonl") == [
        ("a.jsonl", 0, ""),
        ("a.jsonl", 1, "bad_line"),
        ("a.jsonl", 2, "missing_column"),
    ]


def test_lists_say_the_split_and_the_url_of_a_story(tmp_path):
    url = "http://a.example/story"
    (tmp_path / "all_test.txt").write_text(f"{url}\n\n")
    lists = split_lists(CNNDM, expand([str(tmp_path / "all_test.txt")]))
    found = lists.listed(Entry("", "", [], story_key(url)))
    assert (found.split, found.name) == ("test", url)
    with pytest.raises(BadLine) as caught:
        lists.listed(Entry("", "", [], "0" * 40))
    assert caught.value.reason == "not_listed"
    assert split_lists(CNNDM, []) is None


def test_lists_of_titles_are_found_by_their_letters(tmp_path):
    (tmp_path / "all_val.txt").write_text("HowtoWhistle1\n")
    lists = split_lists(CORPORA["wikihow"], expand([str(tmp_path / "all_val.txt")]))
    assert lists.listed(Entry("", "", [], "How to Whistle1")).split == "validation"


def test_lists_that_cannot_be_used_are_a_wrong_call():
    with pytest.raises(ValueError, match=r"--lists: the name of /in/urls\.txt says no split"):
        split_lists(CNNDM, named("urls.txt"))
    with pytest.raises(ValueError, match="--lists goes with cnndm and wikihow, not with wcep"):
        split_lists(CORPORA["wcep"], named("test.txt"))
