"""Titles that the user asked for and the dump does not have."""

from wikisum.crawl.titles import article_id
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.shards import read_rows
from wikisum.pipeline.engine.workspace import StageResult, Workspace

SHOWN = 5


def missing_titles(workspace: Workspace, articles: StageResult, titles: str) -> str | None:
    """Return one line about titles of a file that name neither an article nor a dropped one.

    It says how many they are and names the first ones; None if there is no such title.
    """
    lines = files.read_bytes(titles).decode("utf-8", "replace").splitlines()
    missing = {article_id(line): line.strip() for line in lines if line.strip()}
    count = len(missing)
    for folder, column in (("articles/", "id"), ("dropped/", "article")):
        for path in articles.paths(folder):
            for row in read_rows(workspace.path(path), [column]):
                missing.pop(row[column], None)
    if not missing:
        return None
    names = list(missing.values())
    shown = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    return f"{len(names):,} of {count:,} titles of --titles are not in the dump: {shown}"
