"""One HTML file that shows summaries beside leads and the paragraphs that were read for them.

The file asks for nothing from anywhere. It holds each example as JSON of its own, which the page
parses when the example is shown, so that thousands of them open at once.
"""

import json
import math
from collections.abc import Collection, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from markupsafe import Markup

from wikisum.models.decoding.summary_files import Summary
from wikisum.models.evaluation.copying import copied_runs, match_texts, word_spans
from wikisum.models.evaluation.evaluate import Evaluation
from wikisum.models.evaluation.metrics import METRICS
from wikisum.models.evaluation.significance import ratios
from wikisum.models.evaluation.systems import System
from wikisum.models.evaluation.tables import difference_rows, figure_rows, notes, sources
from wikisum.ranker.runs.html import render_page

TEMPLATE = Path(__file__).with_name("page.html")
_SCORE_DIGITS = 5
Piece = tuple[str, int | None]  # text, and the index of the paragraph that it is copied from


def html_page(evaluation: Evaluation, systems: Sequence[System]) -> str:
    """Return the page of the first examples, as many as the settings say."""
    count = min(evaluation.settings["page_examples"], len(evaluation.ids))
    ids = evaluation.ids[:count]
    wanted = set(ids)
    rows = [_rows_by_id(system, wanted) for system in systems]
    shown = {
        "systems": evaluation.systems[: len(systems)],
        "metrics": [metric._asdict() for metric in METRICS],
        "index": _index(evaluation, [rows[0][id_].title for id_ in ids]),
    }
    examples = [
        example([by_id[id_] for by_id in rows], [system.is_baseline for system in systems])
        for id_ in ids
    ]
    return render_page(
        TEMPLATE,
        shown_values=_embedded(shown),
        examples=map(_embedded, examples),
        figures=figure_rows(evaluation),
        differences=difference_rows(evaluation),
        notes=[*notes(evaluation), *sources(evaluation)],
        shown=count,
        total=len(evaluation.ids),
        system_count=len(systems),
    )


def _embedded(value: Any) -> Markup:
    """JSON that ends no script element, whatever stands in it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c"))


def _rows_by_id(system: System, ids: Collection[str]) -> dict[str, Summary]:
    """Return the summaries with these ids; reads no further than the last of them."""
    wanted = (row for row in system.read() if row.id in ids)
    return {row.id: row for row in islice(wanted, len(ids))}


def _index(evaluation: Evaluation, titles: Sequence[str]) -> list[list[Any]]:
    """[id, title, a list of metrics for each system] of each example."""
    parts_NK2M = evaluation.parts_NK2M[: len(titles)]
    values_NKM = ratios(parts_NK2M[:, :, 0], parts_NK2M[:, :, 1]).tolist()
    return [
        [id_, title, [[_rounded(v) for v in values_M] for values_M in values_KM]]
        for id_, title, values_KM in zip(evaluation.ids, titles, values_NKM, strict=False)
    ]


def _rounded(value: float) -> float | None:
    return None if math.isnan(value) else round(value, _SCORE_DIGITS)


def example(rows: Sequence[Summary], are_baselines: Sequence[bool]) -> dict[str, Any]:
    """What the page shows of one example, given each system's summary of it.

    Paragraphs are listed once each, in the order read: all that the models read, and of those
    that baselines may take from the ones that they copied. A system's `summary`, and the text of
    its sections, is in pieces [text, paragraph it is copied from]; the paragraph is null for text
    that is not a copied run.
    """
    pieces = [
        [text_pieces(text, row) for text in (row.summary, *(s.text for s in row.sections or ()))]
        for row in rows
    ]
    listed: dict[str, dict[str, Any]] = {}
    for row, is_baseline, cut in zip(rows, are_baselines, pieces, strict=True):
        copied = {source for text in cut for _, source in text}
        for number, paragraph in enumerate(row.paragraphs):
            if not is_baseline or number in copied:
                entry = {"text": paragraph.text, "url": paragraph.document_url}
                listed.setdefault(paragraph.text, entry)
    index_of = {text: index for index, text in enumerate(listed)}
    return {
        "lead": rows[0].lead,
        "sections": next(
            ([s._asdict() for s in row.gold_sections] for row in rows if row.gold_sections), []
        ),
        "paragraphs": list(listed.values()),
        "systems": [
            {
                "summary": _placed(cut[0], row, index_of),
                "sections": [
                    {**section._asdict(), "text": _placed(text, row, index_of)}
                    for section, text in zip(row.sections or (), cut[1:], strict=True)
                ],
                "attention": attention(row, index_of),
            }
            for row, cut in zip(rows, pieces, strict=True)
        ],
    }


def _placed(pieces: Sequence[Piece], row: Summary, index_of: dict[str, int]) -> list[list[Any]]:
    """Return pieces with the index_of of their paragraphs among those that the page lists."""
    return [
        [text, None if source is None else index_of[row.paragraphs[source].text]]
        for text, source in pieces
    ]


def attention(row: Summary, index_of: dict[str, int]) -> list[float | None]:
    """The share of attention for each listed paragraph; None for one that the system did not read.

    A paragraph that was read twice has the sum. Empty if the system tells of no attention.
    """
    shares: list[float | None] = [None] * len(index_of)
    for paragraph in row.paragraphs:
        if paragraph.attention is not None:
            index = index_of[paragraph.text]
            shares[index] = round((shares[index] or 0.0) + paragraph.attention, _SCORE_DIGITS)
    return shares if any(share is not None for share in shares) else []


def text_pieces(written: str, row: Summary) -> list[Piece]:
    """Return a text of a summary cut at the runs that it copies from the paragraphs."""
    spans = word_spans(written)
    _, matches = match_texts(written, [p.text for p in row.paragraphs])
    pieces: list[Piece] = []
    reached = 0
    for run in copied_runs(matches):
        start, end = max(spans[run.start][1], reached), spans[run.end - 1][2]
        if reached < start:
            pieces.append((written[reached:start], None))
        if start < end:
            pieces.append((written[start:end], run.source))
        reached = max(end, reached)
    if reached < len(written):
        pieces.append((written[reached:], None))
    return pieces
