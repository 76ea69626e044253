"""Estimate what each stage of a build reads, requests, computes and writes. Pure functions."""

import math
from collections.abc import Callable
from typing import NamedTuple

from wikisum.pipeline.estimate.rates import Assumptions, Prices, Rates
from wikisum.pipeline.estimate.volumes import ArticleSample, CrawlSample, Volumes, volumes
from wikisum.pipeline.examples.settings import ExampleSettings, GraphSettings, VocabSettings
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.setting import Settings

HTML_SPEED: dict[str, Callable[[Rates], float]] = {  # of each extractor, in bytes per second
    "fast": lambda rates: rates.fast_bytes,
    "soup": lambda rates: rates.soup_bytes,
    "trafilatura": lambda rates: rates.trafilatura_bytes,
}


class StageCost(NamedTuple):
    """The costs of a stage. `shuffle_bytes` counts the bytes that are grouped by a key."""

    stage: str
    read_bytes: float = 0.0
    requests: float = 0.0
    cpu_seconds: float = 0.0
    shuffle_bytes: float = 0.0
    output_bytes: float = 0.0


class Estimate(NamedTuple):
    """An estimate, with the samples and figures that it was made from.

    `live_seconds` is the duration of polite requests to the web.
    """

    volumes: Volumes
    stages: list[StageCost]
    total: StageCost
    dollars: dict[str, float]
    live_seconds: float
    articles: ArticleSample
    crawl: CrawlSample | None
    rates: Rates
    assumptions: Assumptions
    prices: Prices


def estimate(
    articles: ArticleSample,
    crawl: CrawlSample | None,
    max_articles: int | None,
    settings: Settings,
    rates: Rates,
    assumed: Assumptions,
    prices: Prices,
    live: LiveSettings | None = None,
) -> Estimate:
    """The estimate of a build of at most `max_articles`; `live` is how it fetches from the web."""
    volume = volumes(articles, max_articles, crawl, settings, assumed, live is not None)
    stages = stage_costs(volume, crawl, articles.is_original, settings, rates, assumed)
    whole = total(stages)
    paid = dollars(whole, prices)
    seconds = live_seconds(volume, articles, live, assumed) if live else 0.0
    return Estimate(volume, stages, whole, paid, seconds, articles, crawl, rates, assumed, prices)


def live_seconds(
    volume: Volumes, articles: ArticleSample, live: LiveSettings, assumed: Assumptions
) -> float:
    """The duration of requests to the web.

    It is the larger of two bounds: all requests at the given concurrency, and the requests to the
    busiest host one after another. The busiest host of the sample is taken for the busiest of all.
    """
    at_once = volume.asked_live * assumed.live_requests * assumed.live_seconds / live.concurrency
    per_sampled_page = volume.asked_live / max(volume.wanted, 1)
    more = volume.articles / max(articles.articles, 1)
    in_turn = articles.busiest_host * more * per_sampled_page * assumed.live_requests
    seconds = max(at_once, in_turn * (live.delay_seconds + assumed.live_seconds))
    return seconds if live.max_seconds is None else min(seconds, live.max_seconds)


def stage_costs(
    volume: Volumes,
    crawl: CrawlSample | None,
    is_original: bool,
    settings: Settings,
    rates: Rates,
    assumed: Assumptions,
) -> list[StageCost]:
    """The costs of each stage, in order."""
    crawls = len(settings[LocateSettings].crawls)
    costs = [_articles(volume, is_original, rates), _want(volume, rates)]
    if crawls:
        costs += [_locate(volume, crawls, rates, assumed), _fetch(volume, settings, rates, assumed)]
    if crawl:
        costs.append(_scan(volume, crawl, settings, rates, assumed))
    if volume.asked_live:
        costs += [_live(volume, rates, assumed), _live_scan(volume, settings, rates, assumed)]
    costs += [
        _examples(volume, rates),
        StageCost("graphs", cpu_seconds=_linked_chars(volume, settings) / rates.linked_chars),
        _vocab(volume, settings, rates, assumed),
        _tokenize(volume, rates),
        StageCost("report", cpu_seconds=volume.kept_chars / rates.reported_chars),
    ]
    return [c._replace(cpu_seconds=c.cpu_seconds + rates.stage_seconds) for c in costs]


def _articles(volume: Volumes, is_original: bool, rates: Rates) -> StageCost:
    seconds = volume.input_bytes / rates.dump_bytes + volume.markup_chars / rates.markup_chars
    if is_original:
        seconds = volume.input_bytes / rates.original_bytes
    return StageCost(
        "articles",
        read_bytes=volume.input_bytes,
        cpu_seconds=seconds,
        output_bytes=volume.packed_bytes * rates.article_share,
    )


def _want(volume: Volumes, rates: Rates) -> StageCost:
    return StageCost(
        "wanted",
        cpu_seconds=volume.wanted / rates.wanted_pages,
        shuffle_bytes=volume.wanted * rates.wanted_shuffle_bytes,
        output_bytes=volume.wanted * rates.wanted_row_bytes,
    )


def _locate(volume: Volumes, crawls: int, rates: Rates, assumed: Assumptions) -> StageCost:
    """The look-up: each block of an index is read at most once."""
    blocks = assumed.index_blocks * -math.expm1(-volume.wanted / assumed.index_blocks) * crawls
    return StageCost(
        "locate",
        read_bytes=blocks * assumed.index_block_bytes,
        requests=blocks,
        cpu_seconds=volume.wanted * crawls / rates.index_urls,
        shuffle_bytes=volume.wanted * rates.wanted_shuffle_bytes,
    )


def _fetch(volume: Volumes, settings: Settings, rates: Rates, assumed: Assumptions) -> StageCost:
    return StageCost(
        "fetch",
        read_bytes=volume.found * assumed.record_bytes,
        requests=volume.found * assumed.requests_per_page,
        cpu_seconds=_extraction(volume, settings, rates) * _crawled_share(volume),
        output_bytes=_documents(volume, rates) * _crawled_share(volume),
    )


def _scan(
    volume: Volumes, crawl: CrawlSample, settings: Settings, rates: Rates, assumed: Assumptions
) -> StageCost:
    """The scan of whole files. With look-ups too, the found pages are counted as fetched."""
    own_share = 0.0 if settings[LocateSettings].crawls else _crawled_share(volume)
    seconds = volume.crawl_bytes / rates.crawl_bytes + volume.crawl_records / rates.crawl_records
    remote_share = crawl.remote_files / max(crawl.files, 1)
    return StageCost(
        "scan",
        read_bytes=volume.crawl_bytes,
        requests=volume.crawl_bytes * remote_share / assumed.range_bytes,
        cpu_seconds=seconds + _extraction(volume, settings, rates) * own_share,
        output_bytes=_documents(volume, rates) * own_share,
    )


def _live(volume: Volumes, rates: Rates, assumed: Assumptions) -> StageCost:
    size_bytes = volume.found_live * assumed.record_bytes
    return StageCost(
        "live",
        read_bytes=size_bytes,
        requests=volume.asked_live * assumed.live_requests,
        cpu_seconds=volume.asked_live / rates.live_pages,
        output_bytes=size_bytes,
    )


def _live_scan(
    volume: Volumes, settings: Settings, rates: Rates, assumed: Assumptions
) -> StageCost:
    size_bytes = volume.found_live * assumed.record_bytes
    own_share = 1.0 - _crawled_share(volume)
    return StageCost(
        "live-scan",
        read_bytes=size_bytes,
        cpu_seconds=size_bytes / rates.crawl_bytes
        + _extraction(volume, settings, rates) * own_share,
        output_bytes=_documents(volume, rates) * own_share,
    )


def _crawled_share(volume: Volumes) -> float:
    """The share of the found pages that come from crawls, not from the web."""
    return volume.found / ((volume.found + volume.found_live) or 1.0)


def _extraction(volume: Volumes, settings: Settings, rates: Rates) -> float:
    html_speed = HTML_SPEED[settings[PageSettings].extractor](rates)
    return volume.html_bytes / html_speed + volume.text_bytes / rates.text_bytes


def _documents(volume: Volumes, rates: Rates) -> float:
    """Bytes of the documents, and of the dropped rows of the other pages."""
    pages = volume.found + volume.found_live
    without = (pages - volume.documents) * rates.dropped_row_bytes
    return volume.chars * rates.document_char_bytes + without


def _examples(volume: Volumes, rates: Rates) -> StageCost:
    """The join: pages are grouped by URL, then by article, and examples by shard."""
    in_examples = volume.packed_bytes * volume.examples / max(volume.articles, 1)
    shuffled = (
        volume.packed_bytes
        + 2 * volume.chars * rates.document_char_bytes
        + volume.wanted * rates.joined_shuffle_bytes
        + in_examples
        + volume.kept_chars * rates.document_char_bytes
    )
    return StageCost(
        "examples",
        cpu_seconds=volume.chars / rates.compared_chars + shuffled / rates.shuffled_bytes,
        shuffle_bytes=shuffled,
        output_bytes=max(volume.wanted - volume.used, 0.0) * rates.dropped_row_bytes,
    )


def _tokenize(volume: Volumes, rates: Rates) -> StageCost:
    in_examples = volume.packed_bytes * volume.examples / max(volume.articles, 1)
    return StageCost(
        "tokenize",
        cpu_seconds=volume.kept_chars / rates.encoded_chars,
        output_bytes=in_examples * rates.article_share
        + volume.kept_chars * rates.example_char_bytes
        + volume.used * rates.example_document_bytes,
    )


def _linked_chars(volume: Volumes, settings: Settings) -> float:
    limit = settings[GraphSettings].graph_paragraphs
    share = min(1.0, limit / settings[ExampleSettings].max_paragraphs) if limit else 1.0
    return volume.kept_chars * share


def _vocab(volume: Volumes, settings: Settings, rates: Rates, assumed: Assumptions) -> StageCost:
    size_bytes = settings[VocabSettings].vocab_size * rates.vocab_row_bytes
    if settings[VocabSettings].vocab:
        return StageCost("vocab", output_bytes=size_bytes)
    chars = min(volume.kept_chars, settings[VocabSettings].sample * assumed.paragraph_chars)
    return StageCost("vocab", cpu_seconds=chars / rates.trained_chars, output_bytes=size_bytes)


def total(costs: list[StageCost]) -> StageCost:
    """The sums over all stages."""
    columns = list(zip(*costs, strict=True))[1:]
    return StageCost("total", *(float(sum(column)) for column in columns))


def dollars(cost: StageCost, prices: Prices) -> dict[str, float]:
    """The costs in dollars by kind; storage is for a month."""
    paid = {
        "computing": cost.cpu_seconds / 3600 * prices.cpu_hour,
        "shuffle": cost.shuffle_bytes / 1e9 * prices.shuffle_gb,
        "reading": cost.read_bytes / 1e9 * prices.read_gb,
        "requests": cost.requests / 1e6 * prices.million_requests,
        "storage": cost.output_bytes / 1e9 * prices.storage_gb_month,
    }
    return {**paid, "total": sum(paid.values())}
