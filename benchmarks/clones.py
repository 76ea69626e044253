"""How well the clone rules part copies of an article from honest pages, on real text.

    python -m benchmarks.clones DATA [--picture FILE.png]

DATA holds `enwiki-dev.xml.bz2`, `wikigen-dev.*`, `pages-dev.warc.gz` and search results. Copies are
made from the articles' own text (whole, half, the lead and a section, one section amid another
page), 2 to 10 % of the words dropped or replaced, sentences moved, set in the furniture of real
pages. Honest are the pages that the articles cite or that a search gave for them, and pages and
articles about something else, alone and ten in one, and pages that have one paragraph of the
article beside 20 paragraphs of other pages. A made page with one paragraph of the article, and no
more, is a copy only if that is a quarter of the page or half of the article. Half of the articles
choose the setting; the figures are of the other half.

The cited pages that are copies were found by reading all of them that score over 0.3 or share 30
runs of six words with their article (COPIES_READ).
"""

import argparse
import contextlib
import json
import platform
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wikisum.crawl import clones
from wikisum.crawl.errors import BadArticle, BadPage, BadUrl
from wikisum.crawl.html import read_page
from wikisum.crawl.titles import article_id, normalize_title
from wikisum.crawl.tokens import terms
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.warc.warc import PageRecord, read_captures
from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages
from wikisum.crawl.wikipedia.wikitext import Article, parse_article

RULES = [(1, 1), (1, 50), (1, 150), (2, 1), (2, 10), (2, 30), (2, 100), (3, 1), (3, 30), (5, 30)]
THRESHOLDS = np.round(np.arange(0.02, 1.0, 0.02), 2)
WEIGHTS = [(0.1, 0.5), (0.2, 0.5), (0.3, 0.5), (0.4, 0.5), (0.3, 0.3), (0.3, 0.8)]
ONE_PARAGRAPH = "one paragraph in a page"
COPIES_READ = (
    "graphsearch.epfl.ch/concept/70269039",
    "graphsearch.epfl.ch/concept/70496300",
    "commoncrowbooks.com/pages/books/H34304",
)


class Case(NamedTuple):
    """A document against an article: is it a copy, what kind, which page."""

    article: int
    is_copy: bool
    kind: str
    name: str
    paragraphs: list[str]


def read_articles(path: Path) -> Iterator[Article]:
    with path.open("rb") as raw:
        for page in read_pages(open_dump(raw)):
            if isinstance(page, Page) and page.redirect is None:
                try:
                    yield parse_article(page.title, page.text)
                except BadArticle:
                    continue


def read_documents(path: Path) -> dict[str, list[str]]:
    documents = {}
    with path.open("rb") as raw:
        for item in read_captures(raw):
            if isinstance(item, PageRecord):
                try:
                    page = read_page(item.payload, item.charset, item.kind, "soup")
                    documents[canonical_url(item.url)] = page.paragraphs
                except (BadPage, BadUrl):
                    continue
    return documents


def edited(text: str, rng: random.Random, words: list[str]) -> str:
    """The text with 2 to 10 % of its words dropped or replaced and two sentences exchanged."""
    share = rng.uniform(0.02, 0.10)
    out = []
    for word in text.split(" "):
        roll = rng.random()
        if roll >= share:
            out.append(word)
        elif roll < share / 2:
            out.append(rng.choice(words))
    sentences = " ".join(out).split(". ")
    if len(sentences) > 2:
        i, j = rng.sample(range(len(sentences)), 2)
        sentences[i], sentences[j] = sentences[j], sentences[i]
    return ". ".join(sentences)


def is_made_copy(parts: list[str], page: list[str], article: list[str]) -> tuple[bool, bool]:
    """Whether a page with these parts of an article is a copy, and whether it has one paragraph."""
    paragraphs = {p for text in parts for p in text.split("\n") if len(p.split()) >= 9}
    words, page_words, article_words = (
        sum(len(text.split()) for text in texts) for texts in (parts, page, article)
    )
    is_one = len(paragraphs) <= 1
    return not is_one or words >= page_words / 4 or words >= article_words / 2, is_one


def copies(
    number: int, article: Article, pages: list[list[str]], rng: random.Random, words: list[str]
) -> Iterator[Case]:
    texts = [article.lead, *(s.text for s in article.sections)]
    long = [t for t in texts if len(t.split()) >= 60]
    if sum(len(t.split()) for t in texts) < 60 or not long:
        return
    chosen = {
        "whole": texts,
        "half": texts[: max(1, len(texts) // 2)],
        "lead and section": [texts[0], rng.choice(texts[1:] or texts)],
        "section in a page": [rng.choice(long)],
    }
    for kind, parts in chosen.items():
        page = rng.choice(pages)
        body = [edited(p, rng, words) for t in parts for p in t.split("\n")]
        furniture = page if kind == "section in a page" else [p for p in page if len(p) < 80]
        cut = rng.randrange(len(furniture) + 1)
        made = furniture[:cut] + body + furniture[cut:]
        is_copy, is_one = is_made_copy(parts, made, texts)
        name = f"{ONE_PARAGRAPH}, {'a copy' if is_copy else 'honest'}" if is_one else kind
        yield Case(number, is_copy, name, article.title, made)


def quotations(
    number: int, article: Article, paragraphs: list[str], rng: random.Random
) -> Iterator[Case]:
    """Two pages with one paragraph of an article of at least four, beside 20 of other pages."""
    texts = [article.lead, *(s.text for s in article.sections)]
    own = [p for t in texts for p in t.split("\n")]
    long = [p for p in own if len(p.split()) >= 30]
    if sum(len(p.split()) >= 9 for p in own) < 4 or len(long) < 2:
        return
    for quoted in rng.sample(long, 2):
        page = rng.sample(paragraphs, 20)
        page.insert(rng.randrange(20), quoted)
        if not is_made_copy([quoted], page, texts)[0]:
            yield Case(number, False, "one paragraph beside 20", article.title, page)


def honest(
    number: int,
    article: Article,
    wanted: list[str],
    documents: dict[str, list[str]],
    others: list[Article],
    rng: random.Random,
) -> Iterator[Case]:
    for url in wanted:
        if url in documents:
            is_copy = any(part in url for part in COPIES_READ)
            yield Case(number, is_copy, "about it" + ", a copy" * is_copy, url, documents[url])
    urls = sorted(set(documents) - set(wanted))
    for url in rng.sample(urls, 5):
        yield Case(number, False, "about something else", url, documents[url])
    ten = rng.sample(urls, 10)
    yield Case(
        number, False, "ten others in one", ten[0], [p for url in ten for p in documents[url]]
    )
    for other in rng.sample(others, 3):
        texts = [other.lead, *(s.text for s in other.sections)]
        yield Case(number, False, "another article", other.title, "\n".join(texts).split("\n"))


def collect(data: Path) -> tuple[list[Article], list[Case]]:
    rng = random.Random(1)
    first = list(read_articles(data / "enwiki-dev.xml.bz2"))
    second = list(read_articles(data / "wikigen-dev.xml.bz2"))
    pages = read_documents(data / "pages-dev.warc.gz")
    texts = read_documents(data / "wikigen-dev.warc.wet.gz")
    words = " ".join(a.lead for a in first).split()
    furniture = [p for p in pages.values() if len(p) > 20]
    searched: dict[str, list[str]] = {}
    for name in ("search-results-dev.jsonl", "wikigen-search-dev.jsonl"):
        for line in (data / name).read_text().splitlines():
            row = json.loads(line)
            good = searched.setdefault(normalize_title(row["title"]), [])
            for url in row["urls"]:
                with contextlib.suppress(BadUrl):
                    good.append(canonical_url(url))
    articles: list[Article] = []
    cases: list[Case] = []
    long = [p for texts_ in texts.values() for p in texts_ if 12 <= len(p.split()) < 300]
    for group, documents in ((first, pages), (second, texts)):
        for article in group:
            number = len(articles)
            articles.append(article)
            wanted = [*article.citations, *searched.get(normalize_title(article.title), [])]
            others = [a for a in group if a is not article]
            cases += copies(number, article, furniture, rng, words)
            cases += honest(number, article, wanted, documents, others, rng)
            cases += quotations(number, article, long, rng)
    return articles, cases


def scores(
    articles: list[Article],
    cases: list[Case],
    length: int,
    least: int,
    only: np.ndarray | None = None,
) -> np.ndarray:
    """The clone score of every case, or of those in `only`, when runs of `length` words count."""
    clones.SHINGLE_WORDS["measured"] = length
    clones.MIN_SECTION_SHINGLES["measured"] = least
    ready = [
        clones.article_shingles(a.lead, [s.text for s in a.sections], "measured") for a in articles
    ]
    chosen = range(len(cases)) if only is None else np.flatnonzero(only)
    found = np.zeros(len(cases))
    for i in chosen:
        case = cases[i]
        found[i] = clones.clone_score([terms(p) for p in case.paragraphs], ready[case.article])
    return found


def unweighted(articles: list[Article], cases: list[Case]) -> np.ndarray:
    """The share of a section alone: no weight of quotations, no share of the page."""
    saved = clones.FULL_PAGE_SHARE, clones.MIN_ARTICLE_SHARE
    clones.FULL_PAGE_SHARE, clones.MIN_ARTICLE_SHARE = 1e-9, 2.0
    try:
        return scores(articles, cases, 2, 30)
    finally:
        clones.FULL_PAGE_SHARE, clones.MIN_ARTICLE_SHARE = saved


def is_kind_copy(kind: str, cases: list[Case]) -> bool:
    return next(c.is_copy for c in cases if c.kind == kind)


def precision_recall(
    found: np.ndarray, is_copy: np.ndarray, weight: np.ndarray, threshold: float
) -> tuple[float, float]:
    """Weighted so that copies and honest pages are equally many."""
    dropped = found > threshold
    hits = weight[dropped & is_copy].sum()
    return (
        hits / max(weight[dropped].sum(), 1e-9),
        hits / max(weight[is_copy].sum(), 1e-9),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--picture", type=Path)
    args = parser.parse_args()
    articles, cases = collect(args.data)
    is_copy = np.array([c.is_copy for c in cases])
    weight = np.where(is_copy, 1 / is_copy.sum(), 1 / (~is_copy).sum())
    held = np.array([int(article_id(articles[c.article].title), 16) % 2 == 1 for c in cases])
    print(f"{len(articles)} articles, {is_copy.sum()} copies, {(~is_copy).sum()} honest pages")
    print("| words in a run | least runs | chosen threshold | precision | recall | at 0.5: P | R |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    rows, by_rule = [], {}
    for length, least in RULES:
        found = by_rule[length, least] = scores(articles, cases, length, least)

        def at(threshold: float, part: np.ndarray, found: np.ndarray = found) -> tuple:
            return precision_recall(found[part], is_copy[part], weight[part], threshold)

        best = max(THRESHOLDS, key=lambda t: (min(at(t, ~held)), -abs(t - 0.5)))
        (p, r), (p5, r5) = at(best, held), at(0.5, held)
        rows.append([length, least, float(best), p, r, p5, r5])
        print(f"| {length} | {least} | {best:.2f} | {p:.4f} | {r:.4f} | {p5:.4f} | {r5:.4f} |")
    name = "calibrated"
    default = by_rule[clones.SHINGLE_WORDS[name], clones.MIN_SECTION_SHINGLES[name]]
    print("\nshare dropped at 0.5 of the articles that chose the setting and of the others:")
    columns = {
        "literal": by_rule[1, 1],
        "section share": unweighted(articles, cases),
        "default": default,
    }
    print("| kind | documents | " + " | ".join(columns) + " |")
    for kind in sorted({c.kind for c in cases}, key=lambda k: (not is_kind_copy(k, cases), k)):
        part = np.array([c.kind == kind for c in cases])
        shares = (
            " / ".join(
                f"{(s[part & h] > 0.5).mean():.3f}" for h in (~held, held) if (part & h).any()
            )
            for s in columns.values()
        )
        print(f"| {kind} | {part.sum()} | " + " | ".join(shares) + " |")
    print("\nof one paragraph: full weight from this share of the page, of the article on")
    one = np.array([c.kind.startswith("one paragraph") for c in cases])
    for of_page, of_article in WEIGHTS:
        clones.FULL_PAGE_SHARE, clones.FULL_ARTICLE_SHARE = of_page, of_article
        found = scores(articles, cases, 2, 30, only=one | is_copy)
        shares = (
            f"{(found[part & h] > 0.5).mean():.3f}"
            for part in (is_copy, one & ~is_copy)
            for h in (~held, held)
        )
        print(f"| {of_page} | {of_article} | " + " | ".join(shares) + " |")
    clones.FULL_PAGE_SHARE, clones.FULL_ARTICLE_SHARE = 0.3, 0.5
    print("\nhonest pages with the highest scores:")
    for i in sorted(np.flatnonzero(~is_copy), key=lambda i: -default[i])[:12]:
        case = cases[i]
        print(f"  {default[i]:.2f} {articles[case.article].title} <- {case.kind}: {case.name[:90]}")
    print("\ncopies with the lowest:")
    for i in sorted(np.flatnonzero(is_copy), key=lambda i: default[i])[:6]:
        print(f"  {default[i]:.2f} {cases[i].kind}: {cases[i].name}")
    start = time.process_time()
    ready = clones.article_shingles(articles[0].lead, [s.text for s in articles[0].sections])
    sample = [c.paragraphs for c in cases[:300]]
    for paragraphs in sample:
        clones.clone_score([terms(p) for p in paragraphs], ready)
    seconds = time.process_time() - start
    if args.picture:
        draw(args.picture, by_rule, is_copy, weight, held)
    print(
        json.dumps(
            {
                "benchmark": "clones",
                "rows": rows,
                "paragraphs_per_second": round(sum(map(len, sample)) / seconds),
                "machine": f"{platform.machine()}, Python {platform.python_version()}",
                "command": " ".join(["python -m benchmarks.clones", *sys.argv[1:]]),
            }
        )
    )


def draw(
    path: Path,
    by_rule: dict[tuple[int, int], np.ndarray],
    is_copy: np.ndarray,
    weight: np.ndarray,
    held: np.ndarray,
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
    groups = (("literal: single words", 1), ("runs of two words", 2))
    for axis, (name, words) in zip(axes, groups, strict=True):
        for (length, least), found in by_rule.items():
            if length != words:
                continue
            pairs = [
                precision_recall(found[held], is_copy[held], weight[held], t) for t in THRESHOLDS
            ]
            (line,) = axis.plot(THRESHOLDS, [p for p, _ in pairs], label=f"sections >= {least}")
            axis.plot(THRESHOLDS, [r for _, r in pairs], "--", color=line.get_color())
        axis.axvline(0.5, color="gray", linewidth=0.5)
        axis.set(title=name, xlabel="threshold", ylim=(0.4, 1.01))
        axis.legend(title="precision —, recall - -", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


if __name__ == "__main__":
    main()
