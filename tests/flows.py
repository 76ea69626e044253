"""A flow of two sources, two steps and some parts that sums numbers by words, for tests.

Words are grouped, then the sums of words by their first letter, and the parts have ranges of
letters. `expected` computes the same with a dictionary.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from apache_beam.testing import test_pipeline

from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.packed import unpack
from wikisum.pipeline.engine.transforms import RowType
from wikisum.pipeline.engine.workspace import PartResult, Parts
from wikisum.pipeline.joins import cluster
from wikisum.pipeline.joins.flow import (
    Flow,
    Groups,
    Named,
    Placed,
    Source,
    Step,
    Target,
    range_of,
)
from wikisum.pipeline.joins.local import LocalFlow

PARTS = 4


class Number(NamedTuple):
    word: str
    number: int


class Letter(NamedTuple):
    letter: str
    words: list[str]
    total: int


@dataclass(frozen=True)
class SumFlow:
    """`folder` gets the parts and a line for each call of a read, a join or a write."""

    folder: Path
    files: Sequence[list[Number]]
    fails_at: str = ""

    def flow(self, words: int, letters: int, divisions: int) -> Flow:
        def by_word(record: Number) -> Iterator[Placed]:
            yield range_of(url_key(record.word), words), record

        def by_letter(record: Number) -> Iterator[Placed]:
            yield range_of(url_key(record.word[0]), letters), record

        def in_parts(record: Letter) -> Iterator[Placed]:
            yield range_of(ord(record.letter) << 57, PARTS * divisions), record

        half = len(self.files) // 2
        return Flow(
            sources=(
                Source("first", self.files[:half], ("numbers",), self.read),
                Source("second", self.files[half:], ("numbers",), self.read),
            ),
            steps=(
                Step("words", words, {"numbers": by_word}, ("sums",), self.sum_words),
                Step("letters", letters, {"sums": by_letter}, ("letters",), self.sum_letters),
            ),
            target=Target(
                part_count=PARTS,
                takes={"letters": in_parts},
                types={"letters": RowType(Letter, lambda row: row.letter)},
                write=self.write,
                divisions=divisions,
            ),
        )

    def note(self, line: str) -> None:
        if line.startswith(self.fails_at) and self.fails_at:
            raise InterruptedError(f"interrupted at {line}")
        with (self.folder / "calls").open("a") as file:
            file.write(f"{line}\n")

    def calls(self) -> Counter[str]:
        path = self.folder / "calls"
        return Counter(path.read_text().splitlines() if path.exists() else [])

    def read(self, file: list[Number]) -> Iterator[Named]:
        yield from (("numbers", number) for number in file)
        self.note(f"read {json.dumps(file)}")

    def sum_words(self, groups: Groups) -> Iterator[Named]:
        sums: Counter[str] = Counter()
        for data in groups["numbers"]:
            word, number = unpack(data, Number)
            sums[word] += number
        yield from (("sums", Number(*item)) for item in sums.items())
        self.note(f"words {sorted(sums)}")

    def sum_letters(self, groups: Groups) -> Iterator[Named]:
        found: dict[str, list[Number]] = {}
        for data in groups["sums"]:
            number = unpack(data, Number)
            found.setdefault(number.word[0], []).append(number)
        for letter, numbers in found.items():
            words = sorted(number.word for number in numbers)
            yield "letters", Letter(letter, words, sum(n.number for n in numbers))
        self.note(f"letters {sorted(found)}")

    def write(self, index: int, rows: dict[str, Iterator[Any]]) -> PartResult:
        found = list(rows["letters"])
        self.note(f"write {index}")
        (self.folder / f"{index}.json").write_text(json.dumps(found))
        return PartResult(counts={"letters_out": len(found)})

    def written(self) -> list[list[list[Any]]]:
        return [json.loads((self.folder / f"{i}.json").read_text()) for i in range(PARTS)]

    def expected(self) -> list[list[list[Any]]]:
        sums = Counter[str]()
        for word, number in (number for file in self.files for number in file):
            sums[word] += number
        parts: list[list[list[Any]]] = [[] for _ in range(PARTS)]
        for letter in sorted({word[0] for word in sums}):
            words = sorted(word for word in sums if word[0] == letter)
            total = sum(sums[word] for word in words)
            parts[ord(letter) * PARTS >> 7].append([letter, words, total])
        return parts


def run_local(
    flow: Flow,
    parts: Parts,
    folder: Path,
    held_bytes: int = 1 << 20,
    stage: str = "test",
    has_one_worker: bool = True,
) -> None:
    """Run a flow through files in a folder."""
    recorded = parts.recorded()
    pending = [i for i in range(flow.target.part_count) if i not in recorded]
    with test_pipeline.TestPipeline() as pipeline:
        run = LocalFlow(flow, stage, str(folder), held_bytes, has_one_worker)
        run(pipeline, pending, parts)


def run_on_beam(flow: Flow, parts: Parts, stage: str = "test") -> None:
    """Run a flow with Beam's own groupings."""
    with test_pipeline.TestPipeline() as pipeline:
        cluster.construct(flow, stage, pipeline, list(range(flow.target.part_count)), parts)
