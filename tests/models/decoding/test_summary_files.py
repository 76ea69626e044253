import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from wikisum.models.decoding.summary_files import (
    BadSummaries,
    Candidate,
    ReadParagraph,
    count_summaries,
    read_summaries,
)

ROW = {
    "id": "a1",
    "title": "Tavin Bridge",
    "lead": "An iron bridge.",
    "summary": "A bridge.",
    "score": -0.5,
    "log_prob": -3.0,
    "tokens": 4,
    "lead_tokens": 6,
    "lead_log_prob": -12.0,
    "model": "ht",
    "run": "f00d",
    "settings": {"beam": 5},
    "paragraphs": [
        {"text": "It is a bridge.", "document_url": "http://a.example/", "attention": 1}
    ],
    "n_best": [
        {"text": "A bridge.", "score": -0.5, "log_prob": -3.0, "tokens": 4},
        {"text": "Bridge.", "score": -0.75, "log_prob": -4.0, "tokens": 3},
    ],
}


def lines(path, *rows):
    path.write_text("".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows))
    return path


def test_json_lines_and_parquet_hold_the_same(tmp_path):
    bare = {name: ROW[name] for name in ("id", "title", "lead", "summary")} | {"id": "a2"}
    text = lines(tmp_path / "s.jsonl", ROW, "\n", bare)
    pq.write_table(pa.Table.from_pylist([ROW, bare]), tmp_path / "s.parquet")
    found = list(read_summaries(text))
    assert found == list(read_summaries(tmp_path / "s.parquet"))
    assert found[0].paragraphs == (ReadParagraph("It is a bridge.", "http://a.example/", 1),)
    assert (found[0].lead_log_prob, found[0].settings) == (-12.0, {"beam": 5})
    assert (found[1].tokens, found[1].paragraphs) == (None, ())
    assert found[0].n_best[1] == Candidate("Bridge.", -0.75, -4.0, 3)
    assert found[0].plain()["n_best"] == ROW["n_best"]
    assert found[1].n_best is None
    assert count_summaries(text) == count_summaries(tmp_path / "s.parquet") == 2


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"id": "a2", "ti\n', "line 2: is not JSON"),
        ("[]\n", "line 2: is not an object"),
        ({**ROW, "summary": None}, "line 2: has no summary"),
        ({**ROW, "lead": 7}, "line 2: lead is 7"),
        ({**ROW, "lead_log_prob": float("nan")}, "line 2: lead_log_prob is nan"),
        ({**ROW, "tokens": True}, "line 2: tokens is True"),
        ({**ROW, "paragraphs": "text"}, "line 2: paragraphs is not a list"),
        ({**ROW, "n_best": [{"text": "A"}]}, "line 2: n_best is not a list of text, score"),
        ({**ROW, "sections": "text"}, "line 2: sections is not a list"),
        (
            {**ROW, "gold_sections": [{"title": "Use", "level": "2", "text": ""}]},
            "line 2: gold_sections: section 0 has no title, level or text of the right type",
        ),
        ({**ROW, "paragraphs": [{"text": 1}]}, "line 2: paragraph 0 has no text"),
        ({**ROW, "paragraphs": [{"text": "", "attention": "1"}]}, "line 2: paragraph 0 has a"),
        ({**ROW, "paragraphs": [{"text": "", "attention": -1}]}, "line 2: paragraph 0 has"),
        ({**ROW, "paragraphs": [{"text": "", "attention": math.nan}]}, "line 2: paragraph 0 has"),
    ],
)
def test_a_bad_row_is_named(tmp_path, bad, message):
    path = lines(tmp_path / "s.jsonl", ROW, bad)
    with pytest.raises(BadSummaries) as result:
        list(read_summaries(path))
    assert f"{path}: {message}" in str(result.value)


def test_bytes_that_are_no_text_and_broken_parquet_are_named(tmp_path):
    (tmp_path / "s.jsonl").write_bytes(b'{"id": "\xff"}\n')
    with pytest.raises(BadSummaries, match=r"s\.jsonl: line 1: is not JSON"):
        list(read_summaries(tmp_path / "s.jsonl"))
    (tmp_path / "s.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(BadSummaries, match=r"s\.parquet: is not a complete Parquet file"):
        list(read_summaries(tmp_path / "s.parquet"))
    assert count_summaries(tmp_path / "s.parquet") == 0
