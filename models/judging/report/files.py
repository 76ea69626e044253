"""The files of a report: tables for people and for programs, and the page."""

from pathlib import Path

from wikisum.models.judging.report import tables
from wikisum.models.judging.report.page import html_page
from wikisum.models.judging.report.results import Results
from wikisum.ranker.runs.atomic import write_text


def write_report(out: Path, results: Results) -> None:
    """Write `report.md`, `index.html` and CSV files into a folder.

    Each is seen whole or not at all. The same answers and settings give the same bytes.
    """
    texts = {
        "report.md": tables.markdown(results),
        "means.csv": tables.means_csv(results),
        "comparisons.csv": tables.comparisons_csv(results),
        "agreement.csv": tables.agreement_csv(results),
        "judgments.csv": tables.judgments_csv(results),
        "index.html": html_page(results),
    }
    if results.judgments.comments:
        texts["comments.csv"] = tables.comments_csv(results)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_text(out / name, text)
