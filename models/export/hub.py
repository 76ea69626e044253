"""A folder that can be uploaded to the Hugging Face Hub as it is: shards, vocabulary, card."""

import re
import shutil
from pathlib import Path

from wikisum.models.export.source import Source
from wikisum.pipeline.records import EXAMPLE
from wikisum.ranker.data.shards import open_shard, split_shards
from wikisum.ranker.runs.tables import markdown_table

CARD = "README.md"
COLUMNS = {
    "id": "identifier, 16 hexadecimal digits",
    "title": "title of the article, or empty",
    "url": "address of the article, or its name in its corpus",
    "lead": "the target summary",
    "sections": "the rest of the article",
    "documents": "the source documents: URL, crawl file, offset, digest, time",
    "paragraphs": "paragraphs of the documents, best first, with score and ROUGE-2 recall",
    "similarity_graph": "edges between paragraphs with similar words",
    "discourse_graph": "edges between paragraphs with shared entities or a discourse marker",
    "title_ids": "subwords of the title",
    "lead_ids": "subwords of the lead",
    "paragraph_ids": "subwords of each paragraph",
    "categories": "categories of the article",
}
CITATION = """```bibtex
@inproceedings{liu2018generating,
  title = {Generating Wikipedia by Summarizing Long Sequences},
  author = {Liu, Peter J. and Saleh, Mohammad and Pot, Etienne and Goodrich, Ben and
            Sepassi, Ryan and Kaiser, {\\L}ukasz and Shazeer, Noam},
  booktitle = {International Conference on Learning Representations},
  year = {2018}
}
```"""
_TAGS = ("summarization", "multi-document-summarization", "wikisum")
_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_ABSOLUTE = re.compile(r"(?<![\w:/.])/(?:[\w.-]+/)+[\w.-]*")


def hf(source: Source, folder: Path) -> list[str]:
    """Write `data/` with the shards, `vocab/` and a card with one config per split."""
    (folder / "data").mkdir()
    rows, size = {}, {}
    for split in source.splits():
        shards = split_shards(source.data, split)
        rows[split] = size[split] = 0
        for shard in shards:
            target = folder / "data" / shard.path.rpartition("/")[2]
            with shard.filesystem.open_input_stream(shard.path) as raw, target.open("wb") as file:
                shutil.copyfileobj(raw, file)
            with open_shard(shard) as opened:
                rows[split] += opened.metadata.num_rows
            size[split] += target.stat().st_size
    try:
        model, _ = source.vocab()
    except FileNotFoundError:
        model = b""
    if model:
        (folder / "vocab").mkdir()
        (folder / "vocab" / "wikisum.model").write_bytes(model)
    (folder / CARD).write_text(hub_card(_card_of(source), rows, size), encoding="utf-8")
    return ["wikisum import examples FOLDER/data/*.parquet --out DIR"]


def _card_of(source: Source) -> str:
    for folder in (Path(source.data), Path(source.data).parent):
        if (folder / CARD).is_file():
            return (folder / CARD).read_text(encoding="utf-8")
    return "# WikiSum\n"


def hub_card(card: str, rows: dict[str, int], size: dict[str, int]) -> str:
    """Return a dataset's card with tags, sizes, one config per split, columns and citation."""
    front = _FRONT.match(card)
    fields = front[1].partition("\nconfigs:")[0] if front else "license: other"
    body = _without_columns(_ABSOLUTE.sub("(a local path)", _FRONT.sub("", card)).strip())
    configs = "".join(
        f"  - config_name: {split}\n    data_files:\n      - split: {split}\n"
        f"        path: data/{split}-*.parquet\n"
        for split in rows
    )
    tags = "".join(f"  - {tag}\n" for tag in _TAGS)
    default = "".join(
        f"      - split: {split}\n        path: data/{split}-*.parquet\n" for split in rows
    )
    sizes = [["split", "examples", "bytes"], *([s, f"{rows[s]:,}", f"{size[s]:,}"] for s in rows)]
    kinds = {field.name: re.sub("<.*", "", str(field.type)) for field in EXAMPLE}
    rows_of_columns = ([f"`{n}`", kinds[n], text] for n, text in COLUMNS.items())
    columns = [["column", "type", "meaning"], *rows_of_columns]
    return f"""---
{fields}
tags:
{tags}configs:
  - config_name: default
    default: true
    data_files:
{default}{configs}---

{body}

## Sizes

{markdown_table(sizes)}
## Columns

{markdown_table(columns)}
## Citation

{CITATION}
"""


def _without_columns(body: str) -> str:
    """The card without the sections that this one writes anew."""
    sections = re.split(r"(?m)^(?=## )", body)
    return "".join(s for s in sections if not s.startswith(("## Columns", "## Load"))).strip()
