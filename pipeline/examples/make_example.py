"""An article and its documents -> its example: drop clones, label, rank, cut. No Beam, no files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from wikisum.crawl.clones import article_shingles, clone_score, lead_bigrams, paragraph_clone_score
from wikisum.crawl.original.t2t import t2t_text
from wikisum.crawl.paragraphs import word_count
from wikisum.crawl.tokens import terms
from wikisum.pipeline.examples.assign import STAGE
from wikisum.pipeline.examples.settings import ExampleSettings
from wikisum.pipeline.records import (
    SOURCES,
    Article,
    Document,
    Dropped,
    Example,
    Paragraph,
    Sizes,
    SourceDocument,
    dropped_row,
)
from wikisum.pipeline.recurring.lines import text_key
from wikisum.pipeline.setting import ANY_LANGUAGE
from wikisum.ranker.rouge import bigram_recalls, rouge_tokens, unigram_recall
from wikisum.ranker.select import best_within, without_near_duplicates
from wikisum.ranker.tfidf import tfidf_scores

NEAR_DUPLICATE = "near_duplicate"
MAX_DETAIL_CHARS = 200  # of a paragraph that is shown in a dropped row


class WantedDocument(NamedTuple):
    """A document that an article wants: `source` and `rank` as in `wanted/`."""

    source: str
    rank: int
    document: Document


class ExampleOutcome(NamedTuple):
    """What became of an article: its example with its sizes, or None; dropped rows and counts.

    `article` and `split` are empty for dropped rows that belong to no article.
    """

    article: str
    split: str
    example: Example | None
    sizes: Sizes | None
    dropped: list[Dropped]
    counts: dict[str, int]


class _Pooled(NamedTuple):
    """A paragraph that may be ranked: its text and terms, its document, its index there, its words.

    Text is cut into terms and into words once, for all that counts or compares them.
    """

    text: str
    words: tuple[str, ...]
    document: int
    position: int
    word_count: int

    def ranked(self, score: float, rouge2_recall: float) -> Paragraph:
        """The paragraph of an example."""
        return Paragraph(
            text=self.text,
            document=self.document,
            position=self.position,
            score=score,
            rouge2_recall=rouge2_recall,
        )

    @property
    def rouge_words(self) -> Sequence[str]:
        """The words that ROUGE counts; of ASCII text these are its terms."""
        return self.words if self.text.isascii() else rouge_tokens(self.text)


def make_example(
    article: Article,
    wanted: list[WantedDocument],
    settings: ExampleSettings,
    missing: Iterable[Dropped] = (),
    recurring: Set[int] = frozenset(),
) -> ExampleOutcome:
    """Return the example of an article, its documents in the order of their lists.

    Citations come first, search results last. Every document and paragraph that is left out is
    counted, and a document that is left out is a dropped row; `missing` are the rows of wanted
    pages without a document, `recurring` the keys of paragraphs that recur, which are dropped rows.
    """
    pool = _Pool(article, settings, recurring)
    for item in sorted(wanted, key=_list_order):
        pool.add(item)
    counts, dropped, documents = pool.counts, pool.dropped, pool.documents
    paragraphs = pool.paragraphs
    if settings.text_rule == "t2t":
        article, paragraphs = _as_t2t(article, paragraphs)
    example, sizes = None, None
    reason = _article_reason(documents, settings)
    if reason is None:
        example, repeated = _ranked(article, documents, paragraphs, settings)
        for paragraph in repeated:
            document = documents[paragraph.document]
            dropped.append(_dropped_paragraph(article.id, document, NEAR_DUPLICATE, paragraph.text))
        sizes = _sizes(article, documents, paragraphs)
        counts["paragraphs_out"] = len(example.paragraphs)
        counts[f"paragraphs_{NEAR_DUPLICATE}"] = len(repeated)
        counts["paragraphs_cut"] = len(paragraphs) - len(example.paragraphs) - len(repeated)
        counts["documents_out"] = len(documents)
        counts["examples_out"] = 1
    else:
        counts["paragraphs_article_dropped"] += len(paragraphs)
        for document in documents:
            dropped.append(_dropped_reference(article.id, document, reason, detail=None))
        row = dropped_row("article", STAGE, reason, article=article.id, detail=article.title)
        dropped.append(row)
    dropped += sorted(missing, key=lambda row: row.url or "")
    counts.update(_dropped_counts(dropped))
    return ExampleOutcome(article.id, article.split, example, sizes, dropped, dict(counts))


def dropped_outcome(row: Dropped) -> ExampleOutcome:
    """Return the outcome that holds a dropped row of no article."""
    return ExampleOutcome("", "", None, None, [row], dict(_dropped_counts([row])))


def _dropped_counts(rows: list[Dropped]) -> Counter[str]:
    return Counter(f"dropped_{row.kind}_{row.reason}" for row in rows)


class _Pool:
    """The documents and paragraphs that an article's example is made of, as they are added."""

    def __init__(self, article: Article, settings: ExampleSettings, recurring: Set[int]) -> None:
        self.counts: Counter[str] = Counter(articles_in=1, references_in=0)
        self.dropped: list[Dropped] = []
        self.documents: list[SourceDocument] = []
        self.paragraphs: list[_Pooled] = []
        self._article, self._settings, self._recurring = article.id, settings, recurring
        self._seen: set[tuple[str, ...]] = set()
        texts = [s.text for s in article.sections]
        self._shingles = article_shingles(article.lead, texts, settings.clone_rule)
        self._bigrams = lead_bigrams(article.lead)

    def add(self, item: WantedDocument) -> None:
        """Add a document with those of its paragraphs that may be ranked, or a dropped row."""
        self.counts["references_in"] += 1
        source, rank, document = item
        words = [tuple(terms(text)) for text in document.paragraphs]
        score = clone_score(words, self._shingles)
        reason = _document_reason(document, score, len(self.documents), self._settings)
        if reason is None:
            reason = self._add_paragraphs(document, words)
        if reason is not None:
            detail = f"{source} {rank}, clone_score={score:.4f}"
            self.dropped.append(_dropped_reference(self._article, document, reason, detail))
            return
        self.documents.append(
            SourceDocument(
                url=document.url,
                source=source,
                rank=rank,
                warc_file=document.warc_file,
                offset=document.offset,
                digest=document.digest,
                fetched_at=document.fetched_at,
                clone_score=score,
            )
        )

    def _add_paragraphs(self, document: Document, words: list[tuple[str, ...]]) -> str | None:
        """Add the paragraphs of a document, or return why none is added."""
        lines = list(enumerate(zip(document.paragraphs, words, strict=True)))
        own = [line for line in lines if not self._recurs(document, line[1][0])]
        if sum(word_count(text) for _, (text, _) in own) < self._settings.min_document_words:
            self.counts["paragraphs_short_document"] += len(own)
            return "short_document" if own else "no_paragraphs"
        kept = list(self._kept(own))
        self.paragraphs.extend(kept)
        return None if kept else "no_paragraphs"

    def _recurs(self, document: Document, text: str) -> bool:
        """Whether a paragraph recurs; it then becomes a dropped row."""
        if not self._recurring or text_key(text) not in self._recurring:
            return False
        self.counts["paragraphs_recurring_line"] += 1
        self.dropped.append(_dropped_paragraph(self._article, document, "recurring_line", text))
        return True

    def _kept(self, lines: list[tuple[int, tuple[str, tuple[str, ...]]]]) -> Iterator[_Pooled]:
        for position, (text, terms_) in lines:
            reason = self._paragraph_reason(terms_)
            self.counts[f"paragraphs_{reason or 'pooled'}"] += 1
            if reason is None:
                size = len(text.split())
                yield _Pooled(text, terms_, len(self.documents), position, size)

    def _paragraph_reason(self, words: tuple[str, ...]) -> str | None:
        """Why a paragraph is not ranked, or None; it then counts as seen."""
        threshold = self._settings.paragraph_clone_threshold
        if paragraph_clone_score(words, self._bigrams) > threshold:
            return "clone"
        if words in self._seen and not self._settings.keep_duplicates:
            return "duplicate"
        self._seen.add(words)
        return None


def _list_order(item: WantedDocument) -> tuple[int, int, str]:
    return SOURCES.index(item.source), item.rank, item.document.url


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


def _article_reason(documents: list[SourceDocument], settings: ExampleSettings) -> str | None:
    """Why an article becomes no example, or None."""
    if not documents:
        return "no_documents"
    if settings.require_citation and all(d.source == "search" for d in documents):
        return "no_citation"
    return None


def _as_t2t(article: Article, paragraphs: list[_Pooled]) -> tuple[Article, list[_Pooled]]:
    """The article and the paragraphs with their text as the original dataset has it."""
    changed = article._replace(
        title=t2t_text(article.title),
        lead=t2t_text(article.lead),
        sections=[
            s._replace(title=t2t_text(s.title), text=t2t_text(s.text)) for s in article.sections
        ],
    )
    texts = [t2t_text(p.text) for p in paragraphs]
    return changed, [
        p._replace(text=text, words=tuple(terms(text)), word_count=len(text.split()))
        for p, text in zip(paragraphs, texts, strict=True)
    ]


def _ranked(
    article: Article,
    documents: list[SourceDocument],
    pool: list[_Pooled],
    settings: ExampleSettings,
) -> tuple[Example, list[_Pooled]]:
    """The example with its best paragraphs: by score, then document order, then position.

    The list has the paragraphs that are left out because a better one says the same.
    """
    scores = _scores(article, pool, settings)
    order = sorted(range(len(pool)), key=lambda i: -scores[i])
    order, repeated = without_near_duplicates(
        order,
        [p.words for p in pool],
        settings.near_duplicate_threshold,
        settings.max_paragraphs,
    )
    lengths = [p.word_count for p in pool]
    best = best_within(order, lengths, settings.max_paragraphs, settings.max_words)
    labels = bigram_recalls((pool[i].rouge_words for i in best), article.lead)
    example = Example(
        id=article.id,
        title=article.title,
        url=article.url,
        lead=article.lead,
        sections=article.sections,
        categories=article.categories,
        documents=documents,
        paragraphs=[
            pool[i].ranked(scores[i], label) for i, label in zip(best, labels, strict=True)
        ],
    )
    return example, [pool[i] for i in repeated]


def _scores(article: Article, pool: list[_Pooled], settings: ExampleSettings) -> list[float]:
    """The scores of paragraphs; in the given order 0, -1, -2 and so on, as by ranker `identity`."""
    if settings.ranking == "tfidf":
        return tfidf_scores(terms(article.title), [p.words for p in pool])
    return [-float(i) for i in range(len(pool))]


def _sizes(article: Article, documents: list[SourceDocument], pool: list[_Pooled]) -> Sizes:
    """The sizes of the article's input before it is ranked and cut."""
    words = Counter[str]()
    for paragraph in pool:
        words[documents[paragraph.document].source] += paragraph.word_count
    sources = Counter(d.source for d in documents)
    return Sizes(
        id=article.id,
        lead_words=len(article.lead.split()),
        citation_documents=sources["citation"],
        citation_words=words["citation"],
        original_documents=sources["original"],
        original_words=words["original"],
        search_documents=sources["search"],
        search_words=words["search"],
        paragraphs=len(pool),
        rouge1_recall=unigram_recall((p.rouge_words for p in pool), article.lead),
    )


def _dropped_reference(
    article: str, document: Document | SourceDocument, reason: str, detail: str | None
) -> Dropped:
    return dropped_row(
        "reference",
        STAGE,
        reason,
        article=article,
        url=document.url,
        file=document.warc_file,
        offset=document.offset,
        detail=detail,
    )


def _dropped_paragraph(
    article: str, document: Document | SourceDocument, reason: str, text: str
) -> Dropped:
    row = _dropped_reference(article, document, reason, text[:MAX_DETAIL_CHARS])
    return row._replace(kind="paragraph")
