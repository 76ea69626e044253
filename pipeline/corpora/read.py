"""Files of a corpus -> what is found in them, one entry after the other."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import Any, BinaryIO, NamedTuple

from wikisum.crawl.errors import BadLine, BadRecord, DataError
from wikisum.pipeline.corpora import cnndm, readers
from wikisum.pipeline.corpora.containers import checked, is_archive, opened, plain_name, text_lines
from wikisum.pipeline.corpora.corpus import Corpus
from wikisum.pipeline.corpora.entry import CorpusRow, Entry, split_of_name
from wikisum.pipeline.corpora.rows import SUFFIXES, read_rows
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile

STORIES_PER_PART = 4096
SOURCE, TARGET = ".src", ".tgt"


class Task(NamedTuple):
    """The files that one part reads; `is_pair` if they are the sources and their summaries."""

    files: list[InputFile]
    is_pair: bool = False

    @property
    def work(self) -> int:
        return sum(file.size_bytes for file in self.files)


def plan(corpus: Corpus, inputs: list[InputFile]) -> list[Task]:
    """Return what each part reads: a file, a pair of files, or some thousand stories.

    Raises ValueError for a file that the corpus has no reader for, or without its counterpart.
    """
    tasks: list[Task] = []
    targets = {_stem(f, TARGET): f for f in inputs if _stem(f, TARGET) is not None}
    for is_story, group in groupby(inputs, lambda f: plain_name(f.name).endswith(".story")):
        found = list(group)
        if is_story:
            slices = range(0, len(found), STORIES_PER_PART)
            tasks += [Task(found[i : i + STORIES_PER_PART]) for i in slices]
            continue
        for file in found:
            if (stem := _stem(file, SOURCE)) is not None:
                if stem not in targets:
                    raise ValueError(f"{file.path} has no {TARGET} file beside it")
                tasks.append(Task([file, targets[stem]], is_pair=True))
            elif _stem(file, TARGET) is None:
                if not (is_archive(file.name) or _is_known(corpus, plain_name(file.name))):
                    raise ValueError(f"{file.path} is not a file of {corpus.title}")
                tasks.append(Task([file]))
    return tasks


def _stem(file: InputFile, kind: str) -> str | None:
    """The name of a file of sources or summaries up to that suffix, or None of another file."""
    stem, suffix, _ = file.name.rpartition(kind)
    return stem if suffix else None


def _is_known(corpus: Corpus, name: str) -> bool:
    endings = (*SUFFIXES, ".bin", ".story") if corpus.name == "cnndm" else SUFFIXES
    return name.endswith(endings)


def read(corpus: Corpus, task: Task) -> Iterator[CorpusRow]:
    """Yield what the files of a task hold. Damage ends the file, not the task."""
    if task.is_pair:
        yield from _read_pair(*task.files)
        return
    for file in task.files:
        name = file.name
        try:
            for name, raw in opened(file):
                with checked(name):
                    for index, (offset, entry) in enumerate(_entries(corpus, name, raw)):
                        yield CorpusRow(name, index, offset, entry)
        except BadRecord as error:
            yield CorpusRow(name, -1, 0, error)


def _entries(corpus: Corpus, name: str, raw: BinaryIO) -> Iterator[tuple[int, Entry | DataError]]:
    if not _is_known(corpus, name):
        yield 0, BadRecord("unknown_format", f"{name} is not a file of {corpus.title}")
    elif name.endswith(".bin"):
        yield from cnndm.read_chunk(name, raw)
    elif name.endswith(".story"):
        key = name.rpartition("/")[2].removesuffix(".story")
        yield 0, cnndm.story_entry(raw.read().decode("utf-8", "replace"))._replace(name=key)
    else:
        for offset, row in read_rows(name, raw):
            yield offset, row if isinstance(row, DataError) else _entry(corpus, row)


def _entry(corpus: Corpus, row: dict[str, Any]) -> Entry | DataError:
    try:
        return corpus.row(row)
    except DataError as error:
        return error


def _read_pair(source: InputFile, target: InputFile) -> Iterator[CorpusRow]:
    with files.open_input(source.path) as one, files.open_input(target.path) as other:
        pairs = zip_longest(text_lines(one), text_lines(other))
        for index, (text, summary) in enumerate(pairs):
            entry: Entry | DataError
            if text is None or summary is None:
                file = source if text is None else target
                detail = f"{file.name} ends before line {index + 1}"
                entry = BadLine("unpaired_line", detail)
            else:
                entry = readers.multi_news_entry(text[1], summary[1])
            yield CorpusRow(source.name, index, text[0] if text else 0, entry)


class ListEntry(NamedTuple):
    """The split of an entry and its line in the lists of the splits."""

    split: str
    line: str


@lru_cache(maxsize=1)
def _read_lists(corpus: Corpus, paths: tuple[tuple[str, str], ...]) -> dict[str, ListEntry]:
    assert corpus.key is not None
    listed = {}
    for split, path in paths:
        with files.open_input(path) as raw:
            for _, line in text_lines(raw):
                if text := line.strip():
                    listed[corpus.key(text)] = ListEntry(split, text)
    return listed


class SplitLists(NamedTuple):
    """The files that list the entries of each split: URLs of stories, titles of articles."""

    corpus: Corpus
    paths: tuple[tuple[str, str], ...]

    def listed(self, entry: Entry) -> Entry:
        """Return the entry with the split that the lists say, and as its name the line there.

        Raises BadLine (`not_listed`) if none of the lists has it.
        """
        line = self._find(entry)
        if line is None:
            raise BadLine("not_listed", f"{entry.name} is in none of the lists")
        return entry._replace(name=line.line, split=line.split)

    def _find(self, entry: Entry) -> ListEntry | None:
        name = entry.name or ""
        listed = _read_lists(self.corpus, self.paths)
        assert self.corpus.key is not None
        return listed.get(name) or listed.get(self.corpus.key(name))


def split_lists(corpus: Corpus, lists: Iterable[InputFile]) -> SplitLists | None:
    """Return the lists, with the split that the name of each says; None if there are none.

    Raises ValueError if a name says none, or the corpus has no lists.
    """
    paths = []
    for file in lists:
        split = split_of_name(file.name)
        if split is None:
            raise ValueError(f"--lists: the name of {file.path} says no split (all_train.txt)")
        paths.append((split, file.path))
    if paths and corpus.key is None:
        raise ValueError(f"--lists goes with cnndm and wikihow, not with {corpus.name}")
    return SplitLists(corpus, tuple(paths)) if paths else None


def check_files(corpus: Corpus, inputs: list[InputFile], lists: list[InputFile]) -> None:
    """Raise ValueError if these files and lists cannot be imported."""
    plan(corpus, inputs)
    split_lists(corpus, lists)
