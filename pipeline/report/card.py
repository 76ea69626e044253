"""The dataset card: `README.md` beside the shards, with the block that dataset hubs read."""

from typing import Any

from wikisum import __version__
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.records import SPLITS
from wikisum.ranker.runs.tables import markdown_table

CARD = "README.md"
_COLUMNS = """## Columns

`id`, `title`, `url`, `lead` (the target), `sections` (the rest of the article), `documents`,
`paragraphs` (best first, with score and ROUGE-2 recall), `similarity_graph` and
`discourse_graph` (edges i < j over `paragraphs`), `title_ids`, `lead_ids`, `paragraph_ids`
(subwords of `vocab/wikisum.model`, text alone, without begin and end).

## Load

    from datasets import load_dataset
    data = load_dataset("parquet", data_files={s: f"examples/{s}-*.parquet"
                                               for s in ("train", "validation", "test")})"""


def metadata_block(language: str, license_line: str, rows_by_split: dict[str, int]) -> str:
    """The block at the head of a card that dataset hubs read."""
    paths = "\n".join(
        f"      - split: {split}\n        path: examples/{split}-*.parquet" for split in SPLITS
    )
    total = sum(rows_by_split.values())
    size = next((name for limit, name in _SIZES if total < limit), "n>1T")
    return f"""---
language:
  - {language}
{license_line}
task_categories:
  - summarization
size_categories:
  - {size}
configs:
  - config_name: default
    data_files:
{paths}
---"""


def split_table(rows_by_split: dict[str, int]) -> str:
    """The number of examples of each split, as a table."""
    rows = [[split, f"{number:,}"] for split, number in rows_by_split.items()]
    return markdown_table([["split", "examples"], *rows]).rstrip()


def card(language: str, rows_by_split: dict[str, int], counts: dict[str, int]) -> str:
    """The text of the card."""
    return f"""{metadata_block(language, "license: cc-by-sa-4.0", rows_by_split)}

# WikiSum, rebuilt

Multi-document summarization: a Wikipedia title and many paragraphs of web pages in, the
article's lead section out. Built by `wikisum` {__version__} after Liu et al. 2018 ("Generating
Wikipedia by Summarizing Long Sequences") and Liu & Lapata 2019 ("Hierarchical Transformers for
Multi-Document Summarization").

{split_table(rows_by_split)}

{counts.get("documents_out", 0):,} documents and {counts.get("paragraphs_out", 0):,} paragraphs
stand in the examples. Every document names the crawl file, byte offset and digest that it came
from; all that was left out stands in `dropped/` with its reason; `manifest.json` has the settings,
counts and a SHA-256 for every file; `report/` the statistics, as a page and as JSON.

{_COLUMNS}

The article text is that of Wikipedia (CC BY-SA 4.0); the pages belong to their publishers.
"""


_SIZES = (
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
)


def corpus_card(settings: dict[str, Any], rows_by_split: dict[str, int]) -> str:
    """The text of the card of an imported corpus, by the settings of its import."""
    title, about = settings["title"], settings["about"]
    return f"""{metadata_block(settings["language"], "license: other", rows_by_split)}

# {title}

{about} Imported by `wikisum import {settings["corpus"]}` {__version__} into the shards of WikiSum;
the rights are those of the corpus.

{split_table(rows_by_split)}

All entries that were left out stand in `dropped/` with their file and reason; `manifest.json` has
the settings, counts and a SHA-256 for every file; `report/` the statistics.

{_COLUMNS}
"""


def write_card(workspace: Workspace, text: str) -> None:
    """Write the card beside the shards."""
    files.write_bytes(workspace.path(CARD), text.encode())
