"""A finished dataset of two articles, made stage by stage in this process."""

import io
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import LEAD, dump, gzipped, warc_record
from wikisum.pipeline.articles.stage import read_articles
from wikisum.pipeline.build import finish, finished_stages
from wikisum.pipeline.engine.files import InputFile, expand
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.workspace import StageResult, Workspace
from wikisum.pipeline.examples.settings import ExampleSettings, VocabSettings
from wikisum.pipeline.examples.stage import (
    encode_subwords,
    join_pages,
    link_paragraphs,
    train_vocab,
)
from wikisum.pipeline.pages.stage import scan_pages
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.stage import want_pages

SETTINGS = Settings(ExampleSettings(shards=1), VocabSettings(vocab_size=70))
PAGE = (
    "<p>The Tavin bridge was painted green by {} men in a single summer of that year.</p>"
    "<p>Farmers of Osterby sold wool, cheese and {} sorts of apples at the market of the town.</p>"
)


@dataclass(frozen=True)
class Flow:
    """The job of a dataset, the inputs that it was made of, and the results of its stages.

    Tavin Bridge cites a.example; the search results add b.example to Osterby, and a bad line.
    """

    job: Job
    dump: list[InputFile]
    search_results: list[InputFile]
    warcs: list[InputFile]
    results: dict[str, StageResult]

    @property
    def messages(self) -> str:
        """What the person at the terminal has read."""
        assert isinstance(self.job.to, io.StringIO)
        return self.job.to.getvalue()


def write_inputs(folder: Path) -> dict[str, list[InputFile]]:
    """Write a dump, search results and a crawl file."""
    cited = f"{LEAD} &lt;ref>[http://a.example/ x]&lt;/ref>"
    osterby = LEAD.replace("Tavin Bridge", "village of Osterby").replace("river", "lake")
    (folder / "dump.xml").write_bytes(dump(("Tavin Bridge", cited), ("Osterby", osterby)))
    line = '{"title": "Osterby", "urls": ["http://b.example/"]}'
    (folder / "search.jsonl").write_text(f"{line}\nbroken\n")
    pages = {
        "http://a.example/": ("nine", "eight"),
        "http://b.example/": ("seven", "six"),
        "http://c.example/": ("five", "four"),
    }
    records = [
        warc_record(url, f"<html><body>{PAGE.format(*counts)}</body></html>".encode())
        for url, counts in pages.items()
    ]
    (folder / "pages.warc.gz").write_bytes(gzipped(*records))
    (folder / "notes.txt").write_text("No crawl file.")
    return inputs_of(folder)


def inputs_of(folder: Path) -> dict[str, list[InputFile]]:
    """The input files by the names of a flow's fields."""
    return {
        "dump": expand([str(folder / "dump.xml")]),
        "search_results": expand([str(folder / "search.jsonl")]),
        "warcs": expand([str(folder / "pages.warc.gz"), str(folder / "notes.txt")]),
    }


def make_dataset(folder: Path) -> str:
    """Run the stages one by one; return what they wrote for the person at the terminal."""
    inputs = write_inputs(folder)
    job = Job(Workspace(str(folder / "out")), io.StringIO())
    articles = read_articles(job, SETTINGS, inputs["dump"], [])
    wanted = want_pages(job, SETTINGS, inputs["search_results"], articles)
    access = Access(RemoteSettings(), None, 1)
    pages = scan_pages(job, SETTINGS, access, inputs["warcs"], wanted)
    joined = join_pages(job, SETTINGS, articles, wanted, [pages])
    linked = link_paragraphs(job, SETTINGS, joined)
    vocab = train_vocab(job, SETTINGS, [], joined)
    encoded = encode_subwords(job, SETTINGS, linked, vocab)
    finish(job, [articles, wanted, pages, joined, linked, vocab, encoded])
    return job.to.getvalue()


@pytest.fixture(scope="session")
def _dataset(once) -> Path:
    return once("flow", lambda folder: (folder / "messages").write_text(make_dataset(folder)))


@pytest.fixture
def flow(_dataset, tmp_path) -> Flow:
    """A copy of the dataset for one test."""
    out = tmp_path / "out"
    shutil.copytree(_dataset / "out", out, copy_function=shutil.copy2)
    job = Job(Workspace(str(out)), io.StringIO())
    job.to.write((_dataset / "messages").read_text())
    results = {result.stage: result for result in finished_stages(job)}
    return Flow(job, **inputs_of(_dataset), results=results)
