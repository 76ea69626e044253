"""Run the notebooks in docs/notebooks/; `python -m tests.notebooks` also stores their output.

The cells of a notebook are run in order in one namespace, in an empty folder.
"""

import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def stored_output(cell: dict[str, Any]) -> str:
    return "".join(line for output in cell["outputs"] for line in output["text"])


def run(notebook: dict[str, Any], folder: Path) -> list[str]:
    """Return what each code cell prints."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = []
    with contextlib.chdir(folder):
        for cell in code_cells(notebook):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("".join(cell["source"]), "cell", "exec"), namespace)
            printed.append(out.getvalue())
    return printed


def store(path: Path) -> None:
    """Run a notebook and write its output into it."""
    notebook = json.loads(path.read_text())
    with tempfile.TemporaryDirectory() as folder:
        printed = run(notebook, Path(folder))
    for number, (cell, text) in enumerate(zip(code_cells(notebook), printed, strict=True), 1):
        stream = {
            "name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True),
        }  # fmt: skip
        cell.update(execution_count=number, outputs=[stream] if text else [])
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for notebook_path in NOTEBOOKS:
        store(notebook_path)
