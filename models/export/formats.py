"""The formats of other tools: functions that write a dataset into a folder.

Each returns notes for the user. The forms are those that the readers published with the tools
expect; `docs/exports.md` describes them.
"""

import json
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from wikisum.models.export.source import Row, Source, documents_of
from wikisum.models.export.subwords import renamed_vocab, source_ids, target_ids
from wikisum.ranker.sentences import sentences

# The other tools' names of the splits
VALID = {"train": "train", "validation": "valid", "test": "test"}
VAL = {"train": "train", "validation": "val", "test": "test"}
ROWS_PER_FILE = 1000
DOCUMENT_SEPARATOR, LINE_BREAK = " ||||| ", " NEWLINE_CHAR "  # as in Multi-News
PRIMERA_SEPARATOR = " <doc-sep> "  # a token of PRIMERA's vocabulary
_IDS = ("title_ids", "lead", "paragraph_ids", "paragraphs")
_GRAPHS = ("similarity_graph", "discourse_graph")
_TEXTS = ("lead", "paragraphs")


def hiersumm(source: Source, folder: Path) -> list[str]:
    """Write `WIKI.train.0.pt` and so on: lists of `src`, `tgt` and `tgt_str`, for hiersumm."""
    import torch

    model, processor = source.vocab()
    (folder / "spm.model").write_bytes(renamed_vocab(model))
    for split in source.splits():
        for number, rows in enumerate(_parts(source.rows(split, _IDS))):
            examples = [
                {
                    "src": source_ids(row),
                    "tgt": target_ids(row, processor),
                    "tgt_str": "<Q>".join(sentences(row["lead"])),
                }
                for row in rows
            ]
            torch.save(examples, folder / f"WIKI.{VALID[split]}.{number}.pt")
    return ["-data_path FOLDER/WIKI -vocab_path FOLDER/spm.model"]


def graphsum(source: Source, folder: Path) -> list[str]:
    """Write `train/WIKI.0.json` and so on: as for hiersumm, with graphs as matrices."""
    model, processor = source.vocab()
    (folder / "spm.model").write_bytes(renamed_vocab(model))
    for split in source.splits():
        (folder / VALID[split]).mkdir()
        for number, rows in enumerate(_parts(source.rows(split, (*_IDS, *_GRAPHS)))):
            examples = [
                {
                    "src": source_ids(row),
                    "tgt": target_ids(row, processor),
                    "src_str": [p["text"] for p in row["paragraphs"]],
                    "tgt_str": row["lead"],
                    **_matrices(row),
                }
                for row in rows
            ]
            path = folder / VALID[split] / f"WIKI.{number}.json"
            path.write_text(json.dumps(examples, ensure_ascii=False), encoding="utf-8")
    return ["--train_set FOLDER/train --dev_set FOLDER/valid --vocab_path FOLDER/spm.model"]


def _matrices(row: Row) -> dict[str, list[list[float]]]:
    """The graphs that the example has. Raises ValueError if it has none."""
    size = len(row["paragraphs"])
    names = {"sim_graph": "similarity_graph", "discourse_graph": "discourse_graph"}
    found = {key: matrix(row[name], size) for key, name in names.items() if row[name] is not None}
    if not found:
        raise ValueError("the examples have no graphs: build or import them with --graphs both")
    return found


def matrix(graph: Row, size: int) -> list[list[float]]:
    """Return a graph as a symmetric matrix with ones on its diagonal, [size, size].

    GraphSum takes 1 less a weight as a distance, so weights over 1, as discourse graphs have
    them, are divided by the largest one.
    """
    largest = max([1.0, *graph["weight"]])
    rows = [[float(i == j) for j in range(size)] for i in range(size)]
    for i, j, weight in zip(graph["source"], graph["target"], graph["weight"], strict=True):
        rows[i][j] = rows[j][i] = weight / largest
    return rows


def text(source: Source, folder: Path) -> list[str]:
    """Write `train.src`, `train.tgt` and so on: one example per line, as Multi-News."""
    for split in source.splits():
        name = VAL[split]
        with (
            (folder / f"{name}.src").open("w", encoding="utf-8") as sources,
            (folder / f"{name}.tgt").open("w", encoding="utf-8") as targets,
        ):
            for row in source.rows(split, _TEXTS):
                sources.write(_one_line(DOCUMENT_SEPARATOR.join(documents_of(row))))
                targets.write(_one_line(row["lead"]))
    return ["wikisum import multinews FOLDER/*.src FOLDER/*.tgt --out DIR"]


def _one_line(text: str) -> str:
    return text.replace("\n", LINE_BREAK) + "\n"


def primera(source: Source, folder: Path) -> list[str]:
    """Write `train.jsonl` with documents joined by `<doc-sep>`, and `train.pt` if torch is there.

    The `.pt` files are those that PRIMER's scripts load with `--dataset_name wikisum`.
    """
    has_torch = find_spec("torch") is not None
    for split in source.splits():
        rows = [
            {"text": [" ".join(d.split()) for d in documents_of(row)], "tgt": row["lead"]}
            for row in source.rows(split, _TEXTS)
        ]
        joined = (
            {"document": PRIMERA_SEPARATOR.join(r["text"]), "summary": r["tgt"]} for r in rows
        )
        _write_lines(folder / f"{VAL[split]}.jsonl", joined)
        if has_torch:
            import torch

            torch.save(rows, folder / f"{VAL[split]}.pt")
    if has_torch:
        return ["--dataset_name wikisum --data_path FOLDER/"]
    return ["torch is not installed, so there are no .pt files"]


def jsonl(source: Source, folder: Path) -> list[str]:
    """Write `train.jsonl` and so on: the columns of the examples, one example per line."""
    for split in source.splits():
        _write_lines(folder / f"{split}.jsonl", source.rows(split))
    return ["wikisum import examples FOLDER/*.jsonl --out DIR"]


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, ROWS_PER_FILE)):
        yield part
