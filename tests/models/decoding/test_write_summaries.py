import json

import pyarrow.parquet as pq
import pytest

from wikisum.models.decoding.summary_files import ReadParagraph, Summary, read_summaries
from wikisum.models.decoding.write_summaries import write_summaries

GROUPS = [[0, 1, 2], [3], [4, 5]]
COUNTS = [len(group) for group in GROUPS]


def summary(number):
    paragraphs = (ReadParagraph(f"é {number}", "http://a.example/", 0.5),) * (number % 2)
    return Summary(f"{number}", "Tïtle", "lead", "text", tokens=number, paragraphs=paragraphs)


def rows_from(group):
    return (summary(n) for numbers in GROUPS[group:] for n in numbers)


def killed_after(count):
    def rows(group):
        for done, row in enumerate(rows_from(group)):
            if done == count:
                raise KeyboardInterrupt
            yield row

    return rows


@pytest.mark.parametrize("name", ["s.jsonl", "s.parquet", "new/s.jsonl"])
def test_what_is_written_is_read_again(name, tmp_path):
    out = tmp_path / name
    assert write_summaries(out, "k", COUNTS, rows_from) == 6
    assert list(read_summaries(out)) == [summary(n) for n in range(6)]
    assert [p.name for p in out.parent.iterdir()] == [out.name]


def test_lines_are_plain_json_with_letters_as_they_are(tmp_path):
    out = tmp_path / "s.jsonl"
    write_summaries(out, "k", COUNTS, rows_from)
    lines = out.read_text(encoding="utf-8").splitlines()
    assert "Tïtle" in lines[0]
    assert json.loads(lines[1])["paragraphs"] == [
        {"text": "é 1", "document_url": "http://a.example/", "attention": 0.5}
    ]


def test_parquet_is_compressed(tmp_path):
    out = tmp_path / "s.parquet"
    write_summaries(out, "k", COUNTS, rows_from)
    assert pq.read_metadata(out).row_group(0).column(0).compression == "ZSTD"


@pytest.mark.parametrize("name", ["s.jsonl", "s.parquet"])
@pytest.mark.parametrize(("count", "first"), [(0, 0), (2, 0), (3, 1), (4, 2), (5, 2), (6, 3)])
def test_a_killed_run_goes_on_at_its_first_incomplete_group(count, first, name, tmp_path):
    out, whole = tmp_path / name, tmp_path / "whole" / name
    write_summaries(whole, "k", COUNTS, rows_from)
    asked = []

    def watched(group):
        asked.append(group)
        return rows_from(group)

    if count < 6:
        with pytest.raises(KeyboardInterrupt):
            write_summaries(out, "k", COUNTS, killed_after(count))
    else:  # killed between the last row and the name
        lines = tmp_path / "lines.jsonl"
        write_summaries(lines, "k", COUNTS, rows_from)
        lines.rename(tmp_path / f".{name}.k.part")
    assert not out.exists()
    assert write_summaries(out, "k", COUNTS, watched) == 6
    assert asked == [first]
    assert out.read_bytes() == whole.read_bytes()


def test_a_line_that_was_cut_off_is_written_again(tmp_path):
    whole = tmp_path / "whole.jsonl"
    write_summaries(whole, "k", COUNTS, rows_from)
    part = tmp_path / ".s.jsonl.k.part"
    part.write_bytes(b"".join(whole.read_bytes().splitlines(keepends=True)[:4])[:-1])
    assert write_summaries(tmp_path / "s.jsonl", "k", COUNTS, rows_from) == 6
    assert (tmp_path / "s.jsonl").read_bytes() == whole.read_bytes()


def test_another_key_starts_anew(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        write_summaries(tmp_path / "s.jsonl", "old", COUNTS, killed_after(5))
    asked = []
    write_summaries(tmp_path / "s.jsonl", "new", COUNTS, lambda g: asked.append(g) or rows_from(g))
    assert asked == [0]
