"""`wikisum build --estimate`: what the build would take, before anything runs or is written."""

import argparse
import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wikisum.pipeline.engine.files import InputFile
    from wikisum.pipeline.options import LiveSettings, RemoteSettings, Settings


def add_estimate_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags."""
    group = parser.add_argument_group("estimate")
    group.add_argument("--estimate", action="store_true",
                       help="tell what the build would read, compute, write and cost, by samples "
                       "of its inputs; write nothing")  # fmt: skip
    group.add_argument("--json", action="store_true", help="the estimate as JSON")
    group.add_argument("--assume", nargs="+", default=[], metavar="NAME=VALUE",
                       help="take other rates, assumptions, prices (coverage=0.6)")  # fmt: skip


def estimate(
    args: argparse.Namespace,
    settings: "Settings",
    remote: "RemoteSettings",
    live: "LiveSettings | None",
    *,
    dump: "list[InputFile]",
    urls: "list[InputFile]",
    search_results: "list[InputFile]",
    warcs: "list[InputFile]",
) -> str:
    """The estimate, as a table or as JSON."""
    from wikisum.crawl.errors import BadAnswer
    from wikisum.pipeline.articles.stage import language_of
    from wikisum.pipeline.build import with_language
    from wikisum.pipeline.errors import JobFailed
    from wikisum.pipeline.estimate import estimate as figures
    from wikisum.pipeline.estimate.rates import Assumptions, Prices, Rates, told
    from wikisum.pipeline.estimate.sample_articles import sample_articles
    from wikisum.pipeline.estimate.sample_pages import sample_pages
    from wikisum.pipeline.estimate.table import as_plain, estimate_lines
    from wikisum.pipeline.remote.access import Access, rate_of

    values = _values(args.assume)
    rates, assumed, prices = (
        told(Rates(), values),
        told(Assumptions(), values),
        told(Prices(), values),
    )
    settings = with_language(settings, language_of(dump))
    most = _most_articles(args.titles, settings.articles.limit)
    sample, keys = sample_articles(dump, urls, search_results, settings.articles)
    if not sample.articles:
        raise JobFailed(f"no article was found in {', '.join(f.path for f in dump)}")
    crawl = None
    try:
        if warcs:
            crawl = sample_pages(warcs, keys, settings, Access(remote, None, 1), assumed)
    except BadAnswer as error:
        raise JobFailed(str(error)) from error
    found = figures.estimate(sample, crawl, most, settings, rates, assumed, prices, live)
    if args.json:
        return json.dumps(as_plain(found), indent=1)
    workers = args.workers or os.cpu_count() or 1
    return "\n".join(estimate_lines(found, workers, rate_of(remote)))


def _values(words: list[str]) -> dict[str, float]:
    """The figures that are told. Raises ValueError for a word that is none."""
    from wikisum.pipeline.estimate.rates import NAMES

    values = {}
    for word in words:
        name, _, value = word.partition("=")
        if name not in NAMES:
            raise ValueError(f"--assume knows no {name!r}: one of {', '.join(NAMES)}")
        try:
            values[name] = float(value)
        except ValueError as error:
            raise ValueError(f"--assume {word}: no number") from error
    return values


def _most_articles(titles: str | None, limit: int | None) -> int | None:
    """How many articles the flags take at most; None for all."""
    from wikisum.pipeline.engine import files

    if titles is None:
        return limit
    with files.open_input(titles) as raw:
        count = sum(bool(line.strip()) for line in raw)
    return count if limit is None else min(count, limit)
