"""The notebooks run, and print what they show."""

import json

import pytest

from tests.notebooks import NOTEBOOKS, code_cells, run, stored_output


def test_there_are_notebooks():
    assert [path.name for path in NOTEBOOKS] == ["dataset.ipynb", "rankers.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_shows(path, tmp_path):
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    printed = run(notebook, tmp_path)
    assert printed == [stored_output(cell) for cell in code_cells(notebook)]
    assert any(printed)
