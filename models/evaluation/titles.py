"""Summaries and leads without the title that they begin with."""

from wikisum.models.decoding.summary_files import Summary


def without_title(text: str, title: str) -> str:
    """Return a text without the title at its start, whatever its case; other texts as they are.

    without_title("Ada Lovelace was a writer.", "Ada Lovelace") == "was a writer."
    """
    start, rest = text[: len(title)], text[len(title) :]
    if start.casefold() != title.casefold() or rest[:1].isalnum():
        return text
    return rest.lstrip()


def row_without_title(row: Summary) -> Summary:
    """Return a row whose summary and lead do not begin with the title."""
    return row._replace(
        summary=without_title(row.summary, row.title), lead=without_title(row.lead, row.title)
    )
