import json

from benchmarks.show_summary import example_text


def test_an_example_is_shown_in_parts():
    row = {
        "title": "Tavin Bridge", "lead": "Tavin Bridge is old.", "summary": "It is old.",
        "paragraphs": [{"text": f"Text {n}."} for n in range(6)],
    }  # fmt: skip
    assert example_text(json.dumps(row)).splitlines() == [
        "Tavin Bridge",
        "paragraph 1:  Text 0.",
        "paragraph 2:  Text 1.",
        "paragraph 3:  Text 2.",
        "paragraph 4:  Text 3.",
        "gold lead:    Tavin Bridge is old.",
        "summary:      It is old.",
    ]
