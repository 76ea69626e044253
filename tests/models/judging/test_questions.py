import json

import pytest

from wikisum.models.judging.questions import Question, read_questions

ROWS = [
    {"id": "e0", "question": "Where is it?", "answer": "In Maine."},
    {"id": "e1", "question": "Who founded it?", "answer": "Fur\x07 traders"},
    {"id": "e0", "question": "When was it founded?", "answer": "1635"},
]
EXPECTED = {
    "e0": [Question("Where is it?", "In Maine."), Question("When was it founded?", "1635")],
    "e1": [Question("Who founded it?", "Fur traders")],
}


def test_json_lines(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("\n\n".join(map(json.dumps, ROWS)))
    assert read_questions(path) == EXPECTED


def test_toml(tmp_path):
    path = tmp_path / "questions.toml"
    tables = ("\n".join(f"{k} = {json.dumps(v)}" for k, v in row.items()) for row in ROWS)
    path.write_text("\n".join(f"[[question]]\n{table}" for table in tables))
    assert read_questions(path) == EXPECTED


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("q.jsonl", '{"id": "e0"', "line 1: is not JSON"),
        ("q.jsonl", '\n["e0"]', "line 2: needs id, question and answer"),
        ("q.jsonl", '{"id": "e0", "question": " ", "answer": "x"}', "line 1: needs id"),
        ("q.jsonl", "", "has no questions"),
        ("q.toml", "[[question]\n", "is not TOML"),
        ("q.toml", "[[question]]\nid = 'e0'", "question 1: needs id, question and answer"),
    ],
)
def test_a_fault_is_named(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as caught:
        read_questions(path)
    assert str(path) in str(caught.value)
