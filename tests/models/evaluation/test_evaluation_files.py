import io
import json

import pytest

from wikisum.models.evaluation import evaluation_files
from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
from wikisum.models.evaluation.evaluation_files import write_evaluation
from wikisum.models.evaluation.tables import csv_text, examples_csv, markdown


@pytest.fixture
def evaluation(tmp_path):
    """An evaluation of one file with one summary, and its systems."""
    row = {"id": "00", "title": "Élan", "lead": "A bridge.", "summary": "A bridge – a long one."}
    path = tmp_path / "ht.jsonl"
    path.write_text(json.dumps({**row, "model": "ht", "paragraphs": []}) + "\n")
    return evaluate([path], None, EvaluationSettings(samples=20), io.StringIO())


def test_the_files_hold_the_tables_in_utf_8(evaluation, tmp_path):
    out = tmp_path / "deep" / "out"
    write_evaluation(out, *evaluation)
    found, _ = evaluation
    texts = {path.name: path.read_text("utf-8") for path in out.iterdir()}
    assert texts["evaluation.md"] == markdown(found)
    assert texts["evaluation.csv"] == csv_text(found)
    assert texts["examples.csv"] == examples_csv(found)
    assert json.loads(texts["evaluation.json"])["examples"] == 1
    assert "Élan" in texts["index.html"]
    assert len(texts) == 5


def test_a_file_that_cannot_be_made_leaves_the_old_one(evaluation, tmp_path, monkeypatch):
    write_evaluation(tmp_path / "out", *evaluation)
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    monkeypatch.setattr(evaluation_files, "csv_text", lambda evaluation: "\ud800")  # no UTF-8
    with pytest.raises(UnicodeEncodeError):
        write_evaluation(tmp_path / "out", *evaluation)
    assert before == {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
