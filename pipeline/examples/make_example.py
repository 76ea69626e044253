"""An article and its documents -> its example: drop clones, label, rank, cut. No Beam, no files."""

from collections import Counter
from typing import NamedTuple

from wikisum.crawl.clones import article_shingles, clone_score, lead_bigrams, paragraph_clone_score
from wikisum.crawl.original.t2t import t2t_text
from wikisum.crawl.tokens import terms
from wikisum.pipeline.options import ANY_LANGUAGE, ExampleSettings
from wikisum.pipeline.records import (
    SOURCES,
    Article,
    Document,
    Dropped,
    Example,
    Paragraph,
    Reference,
    Section,
    Sizes,
)
from wikisum.ranker.rouge import rouge1_recall, rouge2_recall
from wikisum.ranker.select import best_within
from wikisum.ranker.tfidf import tfidf_scores

STAGE = "examples"
_Pooled = tuple[str, int, int]  # a paragraph's text, its document, its position there


class Found(NamedTuple):
    """A document that an article wants: `source` and `rank` as in `wanted/`."""

    source: str
    rank: int
    document: Document


class Made(NamedTuple):
    """What became of an article: its example (and sizes) or None, what was dropped, counts."""

    example: Example | None
    sizes: Sizes | None
    dropped: list[Dropped]
    counts: dict[str, int]


def make_example(article: Article, found: list[Found], settings: ExampleSettings) -> Made:
    """The article's example, its documents in the order of their lists, search results last."""
    counts: Counter[str] = Counter(articles_in=1, references_in=len(found))
    dropped: list[Dropped] = []
    references: list[Reference] = []
    pool: list[_Pooled] = []
    seen: set[tuple[str, ...]] = set()
    texts = [s.text for s in article.sections]
    shingles = article_shingles(article.lead, texts, settings.clone_rule)
    bigrams = lead_bigrams(article.lead)
    for source, rank, document in sorted(found, key=_place):
        score = clone_score(document.paragraphs, shingles)
        reason = _document_reason(document, score, len(references), settings)
        if reason is None:
            kept = []
            for position, text in enumerate(document.paragraphs):
                fate = _paragraph_reason(text, bigrams, seen, settings)
                counts[f"paragraphs_{fate or 'pooled'}"] += 1
                if fate is None:
                    kept.append((text, len(references), position))
            pool.extend(kept)
            reason = None if kept else "no_paragraphs"
        if reason is not None:
            detail = f"{source} {rank}, clone_score={score:.4f}"
            dropped.append(_drop_reference(article.id, document, reason, detail))
            continue
        references.append(
            Reference(
                document.url,
                source,
                rank,
                document.warc_file,
                document.offset,
                document.digest,
                document.fetched_at,
                score,
            )
        )
    if settings.text_rule == "t2t":
        article, pool = _as_t2t(article, pool)
    fate = _article_reason(references, settings)
    if fate is None:
        example = _ranked(article, references, pool, settings)
        sizes = _sizes(article, references, pool)
        counts["paragraphs_out"] = len(example.paragraphs)
        counts["paragraphs_cut"] = len(pool) - len(example.paragraphs)
        counts["references_out"] = len(references)
        counts["examples_out"] = 1
    else:
        example, sizes = None, None
        counts["paragraphs_article_dropped"] += len(pool)
        dropped.extend(
            Dropped("reference", article.id, r.url, STAGE, fate, r.warc_file, r.offset)
            for r in references
        )
        dropped.append(Dropped("article", article.id, None, STAGE, fate, detail=article.title))
    for row in dropped:
        counts[f"dropped_{row.kind}_{row.reason}"] += 1
    return Made(example, sizes, dropped, dict(counts))


def _place(found: Found) -> tuple[int, int, str]:
    return SOURCES.index(found.source), found.rank, found.document.url


def _document_reason(
    document: Document, score: float, kept: int, settings: ExampleSettings
) -> str | None:
    """Why a document is no source for its article, or None."""
    if document.language and settings.language not in (None, ANY_LANGUAGE, document.language):
        return "other_language"
    if score > settings.clone_threshold:
        return "clone"
    if kept >= settings.max_documents:
        return "too_many_documents"
    return None


def _paragraph_reason(
    text: str,
    bigrams: frozenset[tuple[str, ...]],
    seen: set[tuple[str, ...]],
    settings: ExampleSettings,
) -> str | None:
    """Why a paragraph does not enter the ranking, or None; it is then added to `seen`."""
    words = tuple(terms(text))
    if paragraph_clone_score(words, bigrams) > settings.paragraph_clone_threshold:
        return "clone"
    if words in seen and not settings.keep_duplicates:
        return "duplicate"
    seen.add(words)
    return None


def _article_reason(references: list[Reference], settings: ExampleSettings) -> str | None:
    """Why an article becomes no example, or None."""
    if not references:
        return "no_documents"
    if settings.require_citation and all(r.source == "search" for r in references):
        return "no_citation"
    return None


def _as_t2t(article: Article, pool: list[_Pooled]) -> tuple[Article, list[_Pooled]]:
    """The article and the paragraphs with their text as the original dataset has it."""
    changed = article._replace(
        title=t2t_text(article.title),
        lead=t2t_text(article.lead),
        sections=[Section(t2t_text(s.title), s.level, t2t_text(s.text)) for s in article.sections],
    )
    return changed, [(t2t_text(text), document, place) for text, document, place in pool]


def _ranked(
    article: Article,
    references: list[Reference],
    pool: list[_Pooled],
    settings: ExampleSettings,
) -> Example:
    """The example with its best paragraphs: by score, then document order, then position."""
    texts = [text for text, _, _ in pool]
    scores = tfidf_scores(terms(article.title), [terms(t) for t in texts])
    order = sorted(range(len(pool)), key=lambda i: -scores[i])
    words = [len(t.split()) for t in texts]
    best = best_within(order, words, settings.max_paragraphs, settings.max_words)
    labels = rouge2_recall([texts[i] for i in best], article.lead)
    paragraphs = [
        Paragraph(*pool[i], score=scores[i], rouge2_recall=label)
        for i, label in zip(best, labels, strict=True)
    ]
    return Example(
        article.id,
        article.title,
        article.url,
        article.lead,
        article.sections,
        references,
        paragraphs,
    )


def _sizes(article: Article, references: list[Reference], pool: list[_Pooled]) -> Sizes:
    """What the article's input measures before it is ranked and cut."""
    words = Counter[str]()
    for text, document, _ in pool:
        words[references[document].source] += len(text.split())
    sources = Counter(r.source for r in references)
    return Sizes(
        article.id,
        len(article.lead.split()),
        sources["citation"],
        words["citation"],
        sources["reference"],
        words["reference"],
        sources["search"],
        words["search"],
        len(pool),
        rouge1_recall([text for text, _, _ in pool], article.lead),
    )


def _drop_reference(article: str, document: Document, reason: str, detail: str) -> Dropped:
    return Dropped(
        "reference",
        article,
        document.url,
        STAGE,
        reason,
        document.warc_file,
        document.offset,
        detail,
    )
