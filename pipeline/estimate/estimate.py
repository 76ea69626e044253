"""Estimate what each stage of a build reads, requests, computes and writes. Pure functions."""

import math
from collections.abc import Callable
from typing import NamedTuple

from wikisum.pipeline.estimate.rates import Assumptions, Prices, Rates
from wikisum.pipeline.estimate.volumes import ArticleSample, CrawlSample, Volumes, volumes
from wikisum.pipeline.examples.settings import GraphSettings, VocabSettings
from wikisum.pipeline.live.settings import LiveSettings
from wikisum.pipeline.locate.settings import LocateSettings
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.setting import Settings

# Starting a stage takes so many times `stage_seconds`: some read or join something else first
_STARTS = {
    "articles": 2.0, "examples": 2.0, "vocab": 0.8, "tokenize": 0.8, "report": 1.3
}  # fmt: skip
# Memory of a process that joins, per byte of the records that it holds, on average. Joins allow
# twice as much (`pipeline/joins/run.py`), for freed memory that lies between objects in use.
_HELD_PER_BYTE = 8

HTML_SPEED: dict[str, Callable[[Rates], float]] = {  # of each extractor, in bytes per second
    "fast": lambda rates: rates.fast_bytes,
    "soup": lambda rates: rates.soup_bytes,
    "trafilatura": lambda rates: rates.trafilatura_bytes,
}


class StageCost(NamedTuple):
    """The costs of a stage. `shuffle_bytes` counts the bytes that are grouped by a key.

    On one machine these go through temporary files, which are deleted when the stage ends;
    `work_bytes` stay in `.work/`. `process_bytes` is the memory of one of its processes, of which
    there is but one if `is_single`.
    """

    stage: str
    read_bytes: float = 0.0
    requests: float = 0.0
    cpu_seconds: float = 0.0
    shuffle_bytes: float = 0.0
    output_bytes: float = 0.0
    work_bytes: float = 0.0
    process_bytes: float = 0.0
    is_single: bool = False


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

    @property
    def temporary_bytes(self) -> float:
        """The largest size of `.work/` during the build."""
        stayed = peak = 0.0
        for cost in self.stages:
            spilled = cost.shuffle_bytes * self.rates.spilled_share
            peak = max(peak, stayed + spilled + cost.work_bytes)
            stayed += cost.work_bytes
        return peak

    @property
    def disk_bytes(self) -> float:
        """The disk that the output and the temporary files take."""
        return self.total.output_bytes + self.temporary_bytes


def estimate(
    articles: ArticleSample,
    crawl: CrawlSample | None,
    max_articles: int | None,
    settings: Settings,
    rates: Rates,
    assumed: Assumptions,
    prices: Prices,
    live: LiveSettings | None = None,
    join_bytes: float = 0.0,
) -> Estimate:
    """The estimate of a build of at most `max_articles`; `live` is how it fetches from the web.

    A process of a stage that joins holds at most `join_bytes`.
    """
    volume = volumes(articles, max_articles, crawl, settings, assumed, live is not None)
    stages = [
        _of_machine(cost, rates, join_bytes)
        for cost in stage_costs(volume, crawl, articles.is_original, settings, rates, assumed)
    ]
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
        _graphs(volume, settings, rates),
        _vocab(volume, settings, rates, assumed),
        _tokenize(volume, rates),
        _report(volume, rates),
    ]
    return costs


def _of_machine(cost: StageCost, rates: Rates, join_bytes: float) -> StageCost:
    """The costs with those of starting a stage and its processes, at the speed of the machine."""
    start = _STARTS.get(cost.stage, 1.0) * rates.stage_seconds
    held = min(join_bytes, _HELD_PER_BYTE * cost.shuffle_bytes)
    return cost._replace(
        cpu_seconds=(cost.cpu_seconds + start) / rates.speed,
        process_bytes=rates.process_bytes + cost.process_bytes + held,
    )


def _graphs(volume: Volumes, settings: Settings, rates: Rates) -> StageCost:
    graphs = settings[GraphSettings]
    speeds = {"spacy": rates.spacy_chars, "fast": rates.fast_chars}
    seconds = 0.0
    if graphs.has("similarity"):
        seconds += rates.similar_seconds + volume.linked_chars / rates.similar_chars
    if graphs.has("discourse") and graphs.entities in speeds:
        seconds += volume.entity_chars / speeds[graphs.entities]
    memory = 0.0
    if graphs.needs_spacy:
        seconds += rates.model_seconds
        memory = rates.spacy_bytes
    return StageCost("graphs", cpu_seconds=seconds, process_bytes=memory)


def _articles(volume: Volumes, is_original: bool, rates: Rates) -> StageCost:
    seconds = volume.input_bytes / rates.dump_bytes + volume.markup_chars / rates.markup_chars
    seconds += volume.articles / rates.articles
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
    seconds = volume.html_bytes / html_speed
    if volume.text_bytes:
        seconds += rates.text_seconds + volume.text_bytes / rates.text_bytes
        seconds += volume.text_lines / rates.text_lines + volume.text_chars / rates.text_chars
    return seconds


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
        work_bytes=in_examples * rates.article_share
        + volume.kept_chars * rates.document_char_bytes
        + volume.used * rates.example_document_bytes,
    )


def _tokenize(volume: Volumes, rates: Rates) -> StageCost:
    in_examples = volume.packed_bytes * volume.examples / max(volume.articles, 1)
    return StageCost(
        "tokenize",
        cpu_seconds=volume.kept_chars / rates.encoded_chars + in_examples / rates.copied_bytes,
        output_bytes=in_examples * rates.article_share
        + volume.kept_chars * rates.example_char_bytes
        + volume.used * rates.example_document_bytes,
    )


def _vocab(volume: Volumes, settings: Settings, rates: Rates, assumed: Assumptions) -> StageCost:
    own = settings[VocabSettings]
    size_bytes = own.vocab_size * rates.vocab_row_bytes
    if own.vocab:
        return StageCost("vocab", output_bytes=size_bytes)
    chars = min(volume.kept_chars, own.sample * assumed.paragraph_chars, own.characters)
    return StageCost(
        "vocab",
        cpu_seconds=chars / rates.trained_chars,
        output_bytes=size_bytes,
        process_bytes=chars * rates.vocab_char_bytes,
        is_single=True,
    )


def _report(volume: Volumes, rates: Rates) -> StageCost:
    seconds = volume.kept_chars / rates.reported_chars + volume.wanted / rates.reported_pages
    return StageCost("report", cpu_seconds=seconds)


def total(costs: list[StageCost]) -> StageCost:
    """The sums over all stages; of the memory of processes, the largest."""
    return StageCost(
        "total",
        read_bytes=float(sum(cost.read_bytes for cost in costs)),
        requests=float(sum(cost.requests for cost in costs)),
        cpu_seconds=float(sum(cost.cpu_seconds for cost in costs)),
        shuffle_bytes=float(sum(cost.shuffle_bytes for cost in costs)),
        output_bytes=float(sum(cost.output_bytes for cost in costs)),
        work_bytes=float(sum(cost.work_bytes for cost in costs)),
        process_bytes=max(cost.process_bytes for cost in costs),
    )


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
