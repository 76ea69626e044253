"""The dump's own templates -> one file from which the readers of articles expand them."""

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from wikisum.crawl.errors import BadArticle
from wikisum.crawl.wikipedia.template_store import (
    TEMPLATE_NAMESPACE,
    TemplateStore,
    template_of,
    write_store,
)
from wikisum.pipeline.articles.dump import DumpRange, plan_parts, read_range
from wikisum.pipeline.articles.original import is_original
from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.part_writer import StageWriter
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.shards import ShardFile, read_rows
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import PartResult, StageResult

STORE = ".work/templates/templates.sqlite"


class TemplateBody(NamedTuple):
    """A template of the dump and what it includes elsewhere, or the redirect that it is."""

    key: str
    body: str


READ_TEMPLATES = Stage(
    name="templates",
    unit="pages",
    outputs=(Output(".work/templates/part-", TemplateBody, count="templates_out"),),
)
STORE_TEMPLATES = Stage(
    name="template-store",
    unit="templates",
    outputs=(Output(".work/templates/templates", suffix=".sqlite"),),
)


@dataclass(frozen=True)
class ReadTemplates:
    """One part of the dump -> the templates in it that can be expanded to prose."""

    writer: StageWriter

    def __call__(self, index: int, ranges: list[DumpRange]) -> PartResult:
        with self.writer.part(index) as part:
            for source in ranges:
                for page in read_range(source):
                    if isinstance(page, BadArticle):  # reported where articles are read
                        continue
                    part.ticker.add(items=1)
                    if page.namespace == TEMPLATE_NAMESPACE:
                        part.counts["templates_in"] += 1
                        if (template := template_of(page.title, page.text)) is not None:
                            part.write(TemplateBody(*template))
                part.ticker.add(work=source.work)
        return part.result()


@dataclass(frozen=True)
class StoreTemplates:
    """All shards of templates -> one SQLite file."""

    writer: StageWriter

    def __call__(self, index: int, paths: list[str]) -> PartResult:
        with self.writer.part(index) as part, tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "templates.sqlite"
            part.counts["templates_stored"] = write_store(str(path), self._templates(paths))
            with (
                files.AtomicFile(files.join(self.writer.out, STORE)) as out,
                path.open("rb") as made,
            ):
                shutil.copyfileobj(made, out, 1 << 20)
        part.add_file(ShardFile(STORE, part.counts["templates_stored"], out.size_bytes, out.sha256))
        return part.result()

    def _templates(self, paths: list[str]) -> Iterator[tuple[str, str]]:
        for path in paths:
            for row in read_rows(files.join(self.writer.out, path)):
                yield row["key"], row["body"]


def read_templates(job: Job, settings: ArticleSettings, dump: list[InputFile]) -> list[StageResult]:
    """Read the templates of a dump; the results of both stages, the store last.

    None are read from the original WikiSum files, with a limit, or if the settings say so.
    """
    if is_original(dump) or settings.limit is not None or not settings.dump_templates:
        return []
    tasks = plan_parts(dump, None)
    run = StageRun(
        stage=READ_TEMPLATES,
        part_count=len(tasks),
        total_work=sum(piece.work for task in tasks for piece in task),
        key={"inputs": files.identity(dump), "parts": len(tasks)},
    )
    read = run_parts(job, run, tasks, ReadTemplates(job.writer(run)))
    paths = read.paths(READ_TEMPLATES.outputs[0].prefix)
    store = StageRun(
        stage=STORE_TEMPLATES,
        part_count=1,
        total_work=read.counts.get("templates_out", 0),
        key={"templates": read.content()},
    )
    return [read, run_parts(job, store, [paths], StoreTemplates(job.writer(store)))]


class Templates(NamedTuple):
    """Where the store of a dump's templates is; `key` stands for its content."""

    path: str
    key: str

    def open(self) -> TemplateStore:
        """The store; a remote one is copied to this machine once."""
        return TemplateStore(files.local_copy(self.path, self.key))


def templates_of(job: Job, found: list[StageResult]) -> Templates | None:
    """The store that `read_templates` has made, or None if there is none or it is empty."""
    if not found or not found[-1].counts.get("templates_stored"):
        return None
    return Templates(job.workspace.path(STORE), found[-1].fingerprint)
