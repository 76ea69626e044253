"""Step 1: dump files, or the original WikiSum's files, -> `articles/`."""

from dataclasses import replace
from typing import Any

from wikisum.crawl.wikipedia.dump import dump_site, open_dump
from wikisum.crawl.wikipedia.site import ENGLISH, Site
from wikisum.pipeline import reasons
from wikisum.pipeline.articles.dump import ReadDump, is_index, plan_parts
from wikisum.pipeline.articles.original import ReadWikisum, is_original, pair_files
from wikisum.pipeline.articles.settings import SPLIT_TENTHS, ArticleSettings
from wikisum.pipeline.articles.templates import Templates
from wikisum.pipeline.articles.titles import missing_titles
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.funnel import Counts, Funnel
from wikisum.pipeline.engine.job import Job
from wikisum.pipeline.engine.run import run_parts
from wikisum.pipeline.engine.stage import Output, Stage, StageRun
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.records import Article
from wikisum.pipeline.setting import Settings, language_code


def _article_funnel(counts: Counts) -> dict[str, int]:
    maker = counts.maker_of("articles_out", default="articles")
    return {
        "articles": counts.of(maker)["articles_out"],
        "in_examples": counts.of("examples")["examples_out"],
        **counts.dropped_after(maker, "article"),
    }


READ_ARTICLES = Stage(
    name="articles",
    unit="articles",
    settings=ArticleSettings,
    title="articles",
    funnels=(Funnel("articles", "Articles", _article_funnel, sampled="article"),),
    outputs=(Output("articles/articles-", Article, count="articles_out"),),
    reasons={
        **reasons.URLS,
        "article_too_large": "The article's wikitext is larger than the limit.",
        "bad_checksum": "A TFRecord is damaged: its checksum does not match.",
        "bad_example": "A TFRecord does not hold a tensorflow.Example.",
        "bad_json": "The list of URLs is not valid JSON from here on.",
        "bad_page": "A page of the dump has no title or no namespace.",
        "bad_xml": "The dump's XML is not well-formed from here on, or declares an entity.",
        "disambiguation": "The page only lists other pages.",
        "empty_file": "The dump file is empty.",
        "no_lead": "The article has no text before its first heading.",
        "no_refs": "An entry of the list of URLs has no list of strings under `refs`.",
        "no_title": "A record of the original files has no title.",
        "no_url": "A record of the original files has no URL.",
        "not_a_dump": "The file is not a MediaWiki XML dump.",
        "record_too_large": "A TFRecord claims to be larger than the limit.",
        "redirect": "The page only redirects to another one.",
        "set_index": "The page only lists things that share a name.",
        "truncated_file": "The dump file ends in the middle of a page.",
        "unknown_article": "The list of URLs names an article that the content files lack.",
    },
)


def site_of_dump(dump: list[InputFile], language: str | None = None) -> Site:
    """The wiki that the first dump file names, or the English one, that of the original files.

    A given `language` replaces the one that the file declares. Raises ValueError if there is no
    dump, or if its language cannot be one.
    """
    for file in dump:
        if not is_index(file):
            with files.open_input(file.path) as raw:
                site = dump_site(open_dump(raw)) or ENGLISH
            site = site._replace(language=language or site.language)
            _check_language(site)
            return site
    raise ValueError("--articles names no dump, only an index")


def check_files(settings: ArticleSettings, dump: list[InputFile], urls: list[InputFile]) -> None:
    """Raise ValueError for files of articles that do not go with each other or the settings."""
    settings = _with_split(settings, dump, urls)
    if is_original(dump):
        pair_files(dump, urls, settings)
    else:
        site_of_dump(dump, settings.dump_language)


def _with_split(
    settings: ArticleSettings, dump: list[InputFile], urls: list[InputFile]
) -> ArticleSettings:
    """Return the settings with the split of these files of articles where none is named.

    Raises ValueError for a dump with flags of the original files.
    """
    is_of_original = is_original(dump)
    split = settings.split or ("t2t" if is_of_original else "wikisum")
    if not is_of_original and (urls or split in SPLIT_TENTHS):
        flag = "--urls goes" if urls else f"--split {split} goes"
        raise ValueError(f"{flag} with the original WikiSum files, but --articles names a dump")
    return replace(settings, split=split)


def _check_language(site: Site) -> None:
    """Raise ValueError if the language of a dump cannot be one."""
    try:
        language_code(site.language)
    except ValueError as error:
        raise ValueError(
            f"the language that --articles declares {error}: name it with --dump-language"
        ) from error


def read_articles(
    job: Job,
    settings: Settings,
    dump: list[InputFile],
    titles: list[InputFile],
    urls: list[InputFile] | None = None,
    templates: Templates | None = None,
) -> StageResult:
    """Dump files, or original files and the `urls` that belong to them, -> `articles/`.

    `templates` are those of the dump (`read_templates`).

    Raises ValueError for flags that do not go together, JobFailed if no article was found.
    """
    urls = urls or []
    is_of_original = is_original(dump)
    articles = _with_split(settings[ArticleSettings], dump, urls)
    tasks: list[Any] = (
        pair_files(dump, urls, articles) if is_of_original else plan_parts(dump, articles.limit)
    )
    run = StageRun(
        stage=READ_ARTICLES,
        settings=settings.changed(articles),
        inputs={"articles": [*dump, *urls]},
        part_count=len(tasks),
        total_work=sum(piece.work for task in tasks for piece in task),
        key={
            "titles": files.identity(titles),
            "templates": templates.key if templates else None,
            "parts": len(tasks),
        },
        extra={"cited_as": "original" if is_of_original else "citation"},
    )
    writer = job.writer(run)
    if is_of_original:
        result = run_parts(job, run, tasks, ReadWikisum(writer, articles))
    else:
        site = site_of_dump(dump, articles.dump_language)
        opened = templates.open if templates else None
        result = run_parts(job, run, tasks, ReadDump(writer, articles, site, opened))
    if not result.counts.get("articles_out"):
        raise JobFailed(_why_no_article(job, dump, result))
    if articles.titles and (missing := missing_titles(job.workspace, result, articles.titles)):
        job.note(missing)
    return result


def _why_no_article(job: Job, dump: list[InputFile], result: StageResult) -> str:
    """Return the message of a stage that read no article, with the reasons of its losses."""
    losses = [n.removeprefix("dropped_") for n in result.counts if n.startswith("dropped_")]
    return (
        f"no article was found in {', '.join(f.path for f in dump)}: "
        f"{', '.join(losses) or 'none was selected'} (see {job.workspace.path('dropped')})"
    )
