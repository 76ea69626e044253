"""All stages in the order in which a build runs them.

Running, clean-up, report, validation and manifest follow this order. To add a stage, declare it in
the `stage.py` of its folder and name it here, with the call that runs it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import READ_ARTICLES, read_articles
from wikisum.pipeline.articles.templates import (
    READ_TEMPLATES,
    STORE_TEMPLATES,
    read_templates,
    templates_of,
)
from wikisum.pipeline.corpora.stage import IMPORT
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.funnel import Funnel
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.stage import Output, Stage
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.examples.stage import (
    JOIN,
    LINK,
    ORDER,
    TOKENIZE,
    VOCAB,
    encode_subwords,
    join_pages,
    link_paragraphs,
    order_paragraphs,
    train_vocab,
)
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.live.stage import LIVE, LIVE_SCAN, live_pages
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.locate.stage import FOLLOW, LOCATE, LOOK_UP, locate_pages
from wikisum.pipeline.pages.stage import FETCH, SCAN, fetch_pages, scan_pages
from wikisum.pipeline.reasons import without_status
from wikisum.pipeline.remote.access import Access
from wikisum.pipeline.search.stage import CANDIDATES, QUERIES, RESULTS
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.stage import WANT, want_pages
from wikisum.ranker.setting import Checked


@dataclass(frozen=True)
class Inputs:
    """The files of a build, and how it fetches pages from the web, if it does."""

    dump: list[InputFile]
    titles: list[InputFile]
    urls: list[InputFile]
    search_results: list[InputFile]
    warcs: list[InputFile]
    vocab: list[InputFile]
    wet_metadata: str | None = None
    live: LiveSettings | None = None


@dataclass(frozen=True)
class Build:
    """A build under way: `results` has those of the stages that have run, in their order."""

    job: Job
    settings: Settings
    access: Access
    inputs: Inputs
    results: dict[str, StageResult] = field(default_factory=dict)

    def result(self, stage: Stage) -> StageResult:
        """The result of a stage that has run before."""
        return self.results[stage.name]

    @property
    def pages(self) -> list[StageResult]:
        """The results of the stages so far that look for wanted pages."""
        before = [s.name for s in (READ_TEMPLATES, STORE_TEMPLATES, READ_ARTICLES, WANT)]
        return [result for name, result in self.results.items() if name not in before]


class Step(NamedTuple):
    """One or more stages, and the call that runs them in a build.

    It returns their results, or none if this build does not need them. Without a call the stages
    belong to other commands, which may have run them in the same folder.
    """

    stages: tuple[Stage, ...]
    run: Callable[[Build], list[StageResult]] | None = None


def _articles(b: Build) -> list[StageResult]:
    found = read_templates(b.job, b.settings[ArticleSettings], b.inputs.dump)
    templates = templates_of(b.job, found)
    i = b.inputs
    return [*found, read_articles(b.job, b.settings, i.dump, i.titles, i.urls, templates)]


def _locate(b: Build) -> list[StageResult]:
    if not b.settings[LocateSettings].crawls:
        return []
    return locate_pages(b.job, b.settings, b.access, b.result(WANT))


def _fetch(b: Build) -> list[StageResult]:
    if not b.settings[LocateSettings].crawls:
        return []
    return [fetch_pages(b.job, b.settings, b.access, b.result(LOCATE))]


def _scan(b: Build) -> list[StageResult]:
    if not (warcs := b.inputs.warcs):
        return []
    wanted, metadata = b.result(WANT), b.inputs.wet_metadata
    return [scan_pages(b.job, b.settings, b.access, warcs, wanted, metadata)]


def _live(b: Build) -> list[StageResult]:
    if not (live := b.inputs.live):
        return []
    return live_pages(b.job, b.settings, b.access, live, b.result(WANT), b.pages)


def _link(b: Build) -> list[StageResult]:
    examples = b.results.get(ORDER.name) or b.result(JOIN)
    return [link_paragraphs(b.job, b.settings, examples)]


STEPS = (
    Step((IMPORT,), lambda b: []),  # a build replaces what `wikisum import` made in its folder
    Step((READ_TEMPLATES, STORE_TEMPLATES, READ_ARTICLES), _articles),
    Step((QUERIES, CANDIDATES, RESULTS)),
    Step(
        (WANT,),
        lambda b: [want_pages(b.job, b.settings, b.inputs.search_results, b.result(READ_ARTICLES))],
    ),
    Step((LOOK_UP, FOLLOW, LOCATE), _locate),
    Step((FETCH,), _fetch),
    Step((SCAN,), _scan),
    Step((LIVE,)),
    Step((LIVE_SCAN,), _live),
    Step(
        (JOIN,),
        lambda b: [join_pages(b.job, b.settings, b.result(READ_ARTICLES), b.result(WANT), b.pages)],
    ),
    Step((ORDER,), lambda b: order_paragraphs(b.job, b.settings, b.result(JOIN))),
    Step((LINK,), _link),
    Step((VOCAB,), lambda b: [train_vocab(b.job, b.settings, b.inputs.vocab, b.result(JOIN))]),
    Step(
        (TOKENIZE,), lambda b: [encode_subwords(b.job, b.settings, b.result(LINK), b.result(VOCAB))]
    ),
)


def stages() -> list[Stage]:
    """All stages, in order."""
    return [stage for step in STEPS for stage in step.stages]


def run_steps(build: Build) -> None:
    """Run the steps that the build needs, and delete what earlier builds made by the others."""
    for step in STEPS:
        if step.run is None:
            continue
        results = step.run(build)
        build.results.update((result.stage, result) for result in results)
        for stage in step.stages:
            if stage.name not in build.results and not stage.is_kept:
                build.job.forget(stage)


def in_order(job: Job, results: list[StageResult]) -> dict[str, StageResult]:
    """The results by the names of their stages, with those of other commands in the same folder."""
    given = {result.stage: result for result in results}
    found: dict[str, StageResult] = {}
    for step in STEPS:
        for stage in step.stages:
            of_others = job.workspace.finished(stage.name) if step.run is None else None
            if (result := of_others or given.get(stage.name)) is not None:
                found[stage.name] = result
    return found


def setting_kinds() -> dict[type[Checked], str]:
    """The classes of the settings of a build, with the title that their flags stand under."""
    return {s.settings: s.title for s in stages() if s.settings is not None and s.title}


def funnels() -> list[Funnel]:
    """The funnels of the report, by the stages that declare them."""
    return [funnel for stage in stages() for funnel in stage.funnels]


def tables() -> Iterator[tuple[Stage, Output]]:
    """The Parquet tables of the dataset, by the stages that write them: not those in `.work/`."""
    for stage in stages():
        for output in stage.all_outputs:
            if output.schema is not None and not output.is_internal:
                yield stage, output


def page_stages() -> list[Stage]:
    """The stages that make documents."""
    return [stage for stage, output in tables() if output.folder == "documents"]


def is_declared(stage: str, kind: str, reason: str) -> bool:
    """Whether a dropped row's reason is declared by its stage.

    The reason of a `reference` may be that of any stage that failed to find its page.
    """
    declared: list[Mapping[str, str]] = [
        s.reasons for s in stages() if s.name == stage or kind == "reference"
    ]
    return any(without_status(reason) in reasons for reasons in declared)
