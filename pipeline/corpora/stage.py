"""Instead of the first steps: files of a corpus -> `articles/`, `wanted/`, `documents/`.

The steps from the join on are those of a build.
"""

from dataclasses import asdict, dataclass
from typing import Any

from wikisum.crawl.errors import DataError
from wikisum.pipeline.corpora.corpus import Corpus
from wikisum.pipeline.corpora.entry import CorpusRow
from wikisum.pipeline.corpora.read import SplitLists, Task, plan, read, split_lists
from wikisum.pipeline.corpora.records import SOURCE, records_of
from wikisum.pipeline.corpora.settings import ColumnSettings, CorpusSettings
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.part_writer import PartWriter, StageWriter
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.records import Article, Document, WantedUrl
from wikisum.pipeline.setting import Settings

IMPORT = Stage(
    name="import",
    unit="entries",
    settings=CorpusSettings,
    outputs=(
        Output("articles/import-", Article, count="articles_out"),
        Output("wanted/import-", WantedUrl, count="references_out"),
        Output("documents/documents-import-", Document, count="documents_out"),
    ),
    reasons={
        "bad_example": "An example of a chunk cannot be read.",
        "bad_line": "A line or row of the corpus cannot be read.",
        "long_summary": "The summary is not shorter than three quarters of the article (WikiHow).",
        "missing_column": "A column of the row is missing or does not hold text.",
        "no_summary": "The entry has no summary.",
        "no_text": "The entry has no text.",
        "not_listed": "None of the lists of the splits (--lists) has the entry.",
        "truncated_file": "The file is damaged or ends too early; nothing more can be read.",
        "unknown_format": "The archive holds a file of another kind.",
        "unknown_split": "The column of the split holds another word than train, validation, test.",
        "unpaired_line": "The files of sources and summaries do not have equally many lines.",
    },
)


def import_files(
    job: Job,
    corpus: Corpus,
    settings: CorpusSettings,
    inputs: list[InputFile],
    lists: list[InputFile],
    columns: ColumnSettings | None = None,
) -> StageResult:
    """Files of a corpus -> `articles/`, `wanted/` and `documents/`.

    Raises ValueError for a wrong call, JobFailed if there is no usable entry.
    """
    tasks = plan(corpus, inputs)
    more: dict[str, Any] = {"corpus": corpus.name}
    if columns is not None:
        more["columns"] = asdict(columns)
    run = StageRun(
        stage=IMPORT,
        settings=Settings(settings),
        inputs={"import": [*inputs, *lists]},
        part_count=len(tasks),
        total_work=sum(task.work for task in tasks),
        more_settings=more,
        extra={
            "settings": {**settings.values(), **more, "title": corpus.title, "about": corpus.about},
            "language": settings.language,
            "cited_as": SOURCE,
        },
    )
    do = ReadCorpus(job.writer(run), corpus, settings, split_lists(corpus, lists))
    result = run_parts(job, run, tasks, do)
    if not result.counts.get("articles_out"):
        losses = [n.removeprefix("dropped_") for n in result.counts if n.startswith("dropped_")]
        found = ", ".join(losses) or "the files are empty"
        raise JobFailed(f"no entry can be used: {found} (see {job.workspace.path('dropped')})")
    return result


@dataclass(frozen=True)
class ReadCorpus:
    """The files of a task -> the rows of their entries, and the dropped ones."""

    writer: StageWriter
    corpus: Corpus
    settings: CorpusSettings
    lists: SplitLists | None

    def __call__(self, index: int, task: Task) -> PartResult:
        with self.writer.part(index) as part:
            for found in read(self.corpus, task):
                if self._is_full(part):
                    break
                part.counts["entries_in"] += 1
                try:
                    self._write(part, found)
                except DataError as error:
                    detail = f"{found.file}, entry {found.number}: {error}"
                    offset = found.offset if error.offset is None else error.offset
                    part.drop("record", error.reason, file=found.file, offset=offset, detail=detail)
                part.ticker.add(items=1)
            part.ticker.add(work=task.work)
        return part.result()

    def _is_full(self, part: PartWriter) -> bool:
        limit = self.settings.limit
        return limit is not None and part.counts["articles_out"] >= limit

    def _write(self, part: PartWriter, found: CorpusRow) -> None:
        if isinstance(found.entry, DataError):
            raise found.entry
        entry = self.lists.listed(found.entry) if self.lists else found.entry
        records = records_of(found, entry, self.settings)
        part.write(records.article)
        for record in (*records.wanted, *records.documents):
            part.write(record)
        for document in records.documents:
            part.counts["paragraphs_kept"] += len(document.paragraphs)
