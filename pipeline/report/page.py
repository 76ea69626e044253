"""The report as one HTML file that asks for nothing from anywhere and runs no script."""

from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from wikisum.pipeline.engine import files
from wikisum.pipeline.report import paper_figures
from wikisum.pipeline.report.kept import drawing
from wikisum.pipeline.report.sizes import PERCENTILES
from wikisum.pipeline.stages import funnels
from wikisum.ranker.runs.html import render_page

TEMPLATE = Path(__file__).with_name("report.html")
_WIDTH, _HEIGHT = 480, 150
_SIZES = {
    "lead_words": "lead, words",
    "citation_documents": "cited pages",
    "citation_words": "cited pages, words",
    "original_documents": "pages of the original list",
    "original_words": "pages of the original list, words",
    "search_documents": "search results",
    "search_words": "search results, words",
    "documents": "all pages",
    "paragraphs": "paragraphs",
    "rouge1_recall": "ROUGE-1 recall of the lead in the input",
}
_HISTOGRAMS = {
    "lead_words": "Words in the lead",
    "documents": "Pages per article",
    "paragraphs": "Paragraphs per article",
    "rouge1_recall": "ROUGE-1 recall of the lead in the input",
}

# Cc of Unicode but tab, line feed and carriage return
_CONTROL_CHARACTERS = dict.fromkeys({*range(32), *range(127, 160)} - {9, 10, 13})

# where files lie that are no inputs, by the folder that their names begin with
_ROOTS = {"articles": "../", "live": "../", "crawl-data": "https://data.commoncrawl.org/"}


class Fate(NamedTuple):
    """A part of a funnel; `kind` and `reason` name its samples, if it was dropped."""

    name: str
    number: int
    share: float
    is_kept: bool


class Bar(NamedTuple):
    """A bar of a histogram, in the units of its drawing; `label` describes it."""

    x: float
    y: float
    width: float
    height: float
    label: str


def html_page(report: dict[str, Any]) -> str:
    """The page of a report. The same report gives the same page."""
    filters: dict[str, Callable[..., Any]] = {
        "words": lambda name: name.replace("_", " "),
        "place": _place,
        "figure": _figure,
        "drawing": lambda kept, graph: drawing(kept["paragraphs"], kept["graphs"][graph]),
    }
    paths = {file["name"]: file["path"] for group in report["inputs"].values() for file in group}
    return render_page(
        TEMPLATE,
        _without_control_characters,
        filters,
        report=report,
        paper=paper_figures,
        percentiles=PERCENTILES,
        funnels=[
            (funnel.title, funnel.sampled, *fates(report["funnel"][funnel.name]))
            for funnel in funnels()
            if funnel.name in report["funnel"]
        ],
        found=crawled_share(report["funnel"]["references"]),
        sizes={key: label for key, label in _SIZES.items() if _is_there(report["sizes"], key)},
        histograms=[
            (_HISTOGRAMS[name], max(drawn["counts"], default=0), bars(drawn), ticks(drawn))
            for name, drawn in report["histograms"].items()
        ],
        drawing=(_WIDTH, _HEIGHT),
        samples=sample_groups(report["dropped"], paths),
        reasons={(row["kind"], row["reason"]) for row in report["dropped"]},
    )


def fates(funnel: dict[str, int]) -> tuple[str, int, list[Fate]]:
    """(what comes in, how many, what becomes of it): what is kept first, then by number."""
    (whole, total), (kept, _), *_ = funnel.items()
    found = [Fate(n, c, c / max(total, 1), n == kept) for n, c in funnel.items() if n != whole]
    found.sort(key=lambda fate: (not fate.is_kept, -fate.number, fate.name))
    return whole, total, [fate for fate in found if fate.number or fate.is_kept]


def _is_there(sizes: dict[str, Any], key: str) -> bool:
    return key in sizes and (sizes[key]["100"] > 0 or not key.startswith("original"))


def crawled_share(references: dict[str, int]) -> float:
    """The share of the wanted pages that the crawl has, usable or not."""
    wanted = references["wanted"]
    return 1 - references.get("not_in_crawl", 0) / wanted if wanted else 0.0


def bars(histogram: dict[str, Any]) -> list[Bar]:
    """The bars of a histogram, the tallest as high as the drawing."""
    counts, step = histogram["counts"], histogram["step"]
    width = _WIDTH / max(len(counts), 1)
    tallest = max(counts, default=0) or 1
    found = []
    for number, count in enumerate(counts):
        height = round(_HEIGHT * count / tallest, 2)
        low, high = _figure(number * step), _figure((number + 1) * step)
        span = f"{low} and more" if number == len(counts) - 1 else f"{low} to under {high}"
        x, y = round(number * width, 2), round(_HEIGHT - height, 2)
        found.append(Bar(x, y, round(width - 1, 2), height, f"{span}: {count:,}"))
    return found


def ticks(histogram: dict[str, Any]) -> list[tuple[float, str]]:
    """(x in the drawing, value) of about five marks under a histogram."""
    count = len(histogram["counts"])
    every = max(1, round(count / 5))
    return [
        (round(_WIDTH * n / count, 2), _figure(n * histogram["step"]))
        for n in range(0, count, every)
    ]


def sample_groups(
    rows: Sequence[dict[str, Any]], paths: dict[str, str]
) -> list[tuple[str, list[tuple[str, str, list[dict[str, Any]]]]]]:
    """The dropped rows by kind, then by stage and reason, each with a link to its file if known."""

    def linked(row: dict[str, Any]) -> dict[str, Any]:
        return {**row, "href": file_link(row["file"], paths)}

    return [
        (
            kind,
            [
                (stage, reason, [linked(row) for row in group])
                for (stage, reason), group in groupby(
                    of_kind, key=lambda row: (row["stage"], row["reason"])
                )
            ],
        )
        for kind, of_kind in groupby(rows, key=lambda row: row["kind"])
    ]


def file_link(name: str | None, paths: dict[str, str]) -> str | None:
    """Return the address of a file that a dropped row names, or None.

    Remote inputs, files of the dataset and files of CommonCrawl have one. Local inputs have none: a
    page that is published must not show the folders of the machine that built it.
    """
    if name is None:
        return None
    if name in paths:
        return paths[name] if files.is_remote(paths[name]) else None
    folder = name.split("/")[0]
    return _ROOTS[folder] + name if folder in _ROOTS else None


def _place(value: object) -> object:
    """Return the name of a local file; remote addresses and other values as they are."""
    is_path = isinstance(value, str) and not files.is_remote(value)
    return str(value).rpartition("/")[2] if is_path else value


def _without_control_characters(value: object) -> object:
    """Return text without the control characters that a crawled page may hold."""
    return value.translate(_CONTROL_CHARACTERS) if isinstance(value, str) else value


def _figure(value: float) -> str:
    """A number for a table: separators for thousands, decimals only where they tell something."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if value >= 10 else f"{value:.3g}"
