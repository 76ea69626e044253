"""`wikisum build --estimate`: what a build would cost, before anything is run or written."""

import argparse
import json
import os

from wikisum.pipeline.articles.settings import ArticleSettings
from wikisum.pipeline.articles.stage import site_of_dump
from wikisum.pipeline.build import with_language
from wikisum.pipeline.engine import files
from wikisum.pipeline.engine.files import InputFile
from wikisum.pipeline.engine.job import default_memory_bytes
from wikisum.pipeline.errors import JobFailed
from wikisum.pipeline.estimate import estimate as figures
from wikisum.pipeline.estimate.machine import misfits, this_machine
from wikisum.pipeline.estimate.rates import NAMES, Assumptions, Prices, Rates, with_values
from wikisum.pipeline.estimate.sample_articles import sample_articles
from wikisum.pipeline.estimate.sample_pages import sample_pages
from wikisum.pipeline.estimate.speed import core_speed
from wikisum.pipeline.estimate.table import as_plain, estimate_lines
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.machine import GIB
from wikisum.pipeline.remote.access import Access, rate_of
from wikisum.pipeline.remote.settings import RemoteSettings
from wikisum.pipeline.setting import Settings
from wikisum.pipeline.wanted.settings import WantedSettings


def add_estimate_flags(parser: argparse.ArgumentParser) -> None:
    """Add `--estimate` and the flags that go with it."""
    group = parser.add_argument_group("estimate")
    text = (
        "print what the build would read, compute, write and cost, from samples of its "
        "inputs, and write nothing"
    )
    group.add_argument("--estimate", action="store_true", help=text)
    group.add_argument("--json", action="store_true", help="print the estimate as JSON")
    text = "replace rates, assumptions or prices of the estimate, for example coverage=0.6"
    group.add_argument("--assume", nargs="+", default=[], metavar="NAME=VALUE", help=text)


def estimate(
    args: argparse.Namespace,
    settings: Settings,
    remote: RemoteSettings,
    live: LiveSettings | None,
    is_cluster: bool,
    **inputs: list[InputFile],
) -> tuple[str, list[str]]:
    """Return the estimate, as a table or as JSON, and why it does not fit this machine, if so."""
    dump, warcs = inputs["dump"], inputs["warcs"]
    values = {"speed": core_speed(), **_values(args.assume)}
    rates, assumed = with_values(Rates(), values), with_values(Assumptions(), values)
    prices = with_values(Prices(), values)
    articles = settings[ArticleSettings]
    settings = with_language(settings, site_of_dump(dump, articles.dump_language).language)
    max_articles = _max_articles(articles.titles, articles.limit)
    sample, keys = sample_articles(
        dump, inputs["urls"], inputs["search_results"], articles, settings[WantedSettings].corpus
    )
    if not sample.articles:
        raise JobFailed(f"no article was found in {', '.join(f.path for f in dump)}")
    crawl = None
    if warcs:
        crawl = sample_pages(warcs, keys, settings, Access(remote, None, 1), assumed)
    workers = args.workers or os.cpu_count() or 1
    join_bytes = (
        int(args.memory * GIB) if args.memory else default_memory_bytes(workers)
    ) / workers
    found = figures.estimate(
        sample, crawl, max_articles, settings, rates, assumed, prices, live, join_bytes
    )
    faults = []
    if not (is_cluster or files.is_remote(args.out)):
        faults = list(misfits(found, this_machine(workers, args.out)))
    if args.json:
        return json.dumps(as_plain(found), indent=1), faults
    return "\n".join(estimate_lines(found, workers, rate_of(remote))), faults


def _values(words: list[str]) -> dict[str, float]:
    """Return the figures that --assume gives. Raises ValueError for a malformed one."""
    values = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in NAMES:
            raise ValueError(
                f"--assume: no figure is called {name!r}; there are {', '.join(NAMES)}"
            )
        try:
            values[name] = float(value)
        except ValueError as error:
            raise ValueError(f"--assume {word}: {value!r} is not a number") from error
    return values


def _max_articles(titles: str | None, limit: int | None) -> int | None:
    """Return the maximum number of articles; None for all."""
    if titles is None:
        return limit
    with files.open_input(titles) as raw:
        count = sum(bool(line.strip()) for line in raw)
    return count if limit is None else min(count, limit)
