"""The files of an evaluation: tables for people and for programs, and the page."""

from collections.abc import Sequence
from pathlib import Path

from wikisum.models.evaluation.evaluate import Evaluation
from wikisum.models.evaluation.page import html_page
from wikisum.models.evaluation.systems import System
from wikisum.models.evaluation.tables import csv_text, examples_csv, markdown, plain_values
from wikisum.ranker.runs.atomic import write_json, write_text


def write_evaluation(out: Path, evaluation: Evaluation, systems: Sequence[System]) -> None:
    """Write `evaluation.md`, `.csv`, `.json`, `examples.csv` and `index.html` into a folder.

    Each is seen whole or not at all. The same summaries and settings give the same bytes.
    """
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("evaluation.md", markdown(evaluation)),
        ("evaluation.csv", csv_text(evaluation)),
        ("examples.csv", examples_csv(evaluation)),
        ("index.html", html_page(evaluation, systems)),
    ):
        write_text(out / name, text)
    write_json(out / "evaluation.json", plain_values(evaluation))
