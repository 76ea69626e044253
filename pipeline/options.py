"""The settings of every stage, as frozen dataclasses: they decide the bytes that a stage writes.

Each field carries what its flag says: help text, choices, bounds. `commands/flags.py` turns the
fields into flags and the call back into settings.
"""

from dataclasses import dataclass

from wikisum import __version__
from wikisum.pipeline.records import SPLITS
from wikisum.pipeline.setting import (
    Checked,
    contact_address,
    crawl_date,
    crawl_name,
    extractor,
    http_url,
    regular_expression,
    retry_reasons,
    setting,
)

EXTRACTORS = ("fast", "trafilatura", "soup")
CORPORA = ("citations", "search", "combined")
QUERIES = ("titles", "sections")
CLONE_RULES = ("calibrated", "literal")
PARAGRAPH_RULES = ("prose", "t2t")
TEXT_RULES = ("plain", "t2t")
ANY_LANGUAGE = "any"
RANKINGS = ("tfidf", "given")
UNITS = ("lines", "sentences")
ENTRY_SPLITS = ("given", "hash", *SPLITS)
GRAPHS = ("both", "similarity", "discourse", "none")
INDEXES = ("zipnum", "columnar", "server")
SPLIT_FRACTIONS = {
    "wikisum": (0.8, 0.1, 0.1),  # Liu et al. 2018, section 3
    "hierarchical": (0.9539, 0.0230, 0.0231),  # Liu & Lapata 2019, section 4
}
# Splits by the shards of the original files, tenth by tenth. The original job pairs the tenths, in
# order, with its outputs sorted by name (dev, test, train); the script that checks the outputs
# assumes the order train, dev, test.
SPLIT_TENTHS = {
    "t2t": ("validation", "test", *["train"] * 8),
    "t2t-nominal": (*["train"] * 8, "validation", "test"),
}
MIB = 1 << 20


@dataclass(frozen=True)
class ArticleSettings(Checked):
    """Which articles are taken, and how they are split.

    Without a `split`, articles of a dump are split by `wikisum`, those of original files by `t2t`.
    """

    split: str | None = setting(
        None,
        "how articles are split: by a hash of the title, 80/10/10 (wikisum) or 95/2.3/2.3 "
        "(hierarchical), or by the shard of the original files (t2t, t2t-nominal)",
        choices=[*SPLIT_FRACTIONS, *SPLIT_TENTHS],
        default_text="wikisum for a dump, t2t for original files",
    )
    limit: int | None = setting(
        None, "use only the first N articles of the dump", at_least=1, default_text="all"
    )
    titles: str | None = setting(
        None, "use only the articles with these titles, one per line", metavar="FILE"
    )
    category: str | None = setting(
        None,
        "use only the articles with a category that contains this regular expression",
        metavar="REGEX",
        parse=regular_expression,
    )
    dump_templates: bool = setting(
        True,
        "expand the templates that the dump holds; finding them takes one more pass over the dump",
        default_text="yes, but not with --limit",
    )
    dump_language: str | None = setting(
        None,
        "language of the dump, if it declares none or a wrong one",
        metavar="CODE",
        default_text="the language that the dump declares",
    )

    @property
    def fractions(self) -> tuple[float, float, float]:
        """The fractions of train, validation and test; splits by shards have them too."""
        return SPLIT_FRACTIONS.get(self.split or "wikisum", SPLIT_FRACTIONS["wikisum"])


@dataclass(frozen=True)
class WantedSettings(Checked):
    """Which of an article's URLs are wanted."""

    corpus: str = setting(
        "combined", "pages to use: cited pages, search results, or both", choices=CORPORA
    )


@dataclass(frozen=True)
class PageSettings(Checked):
    """How pages become documents, whether they are fetched, scanned or live."""

    extractor: str = setting(
        "fast",
        "how text is taken from HTML: main text (fast, trafilatura) or all visible text (soup)",
        choices=EXTRACTORS,
        parse=extractor,
    )
    paragraph_rule: str = setting(
        "prose",
        "which paragraphs are kept: prose, or as the original dataset's filter does (t2t)",
        choices=PARAGRAPH_RULES,
    )
    language: str | None = None
    max_page_bytes: int = setting(
        16 * MIB,
        "drop pages larger than this",
        metavar="BYTES",
        at_least=1,
        default_text=f"{16 * MIB}, 16 MiB",
    )


@dataclass(frozen=True)
class LocateSettings(Checked):
    """Which captures of the wanted pages are used, from which crawls in order of preference."""

    crawls: tuple[str, ...] = setting(
        (),
        "look pages up in this crawl, for example CC-MAIN-2024-10; repeat it for several crawls, "
        "the preferred one first",
        flag="crawl",
        parse=crawl_name,
        append=True,
    )
    date: str | None = setting(
        None,
        "prefer the captures nearest to this date (2024, 2024-02, 2024-02-24)",
        metavar="DATE",
        parse=crawl_date,
        default_text="the newest captures",
    )
    captures: int = setting(2, "captures to record per page, tried in turn", at_least=1)
    index: str = setting(
        "zipnum",
        "index to look pages up in: the crawl's CDX files (zipnum), its Parquet files (columnar), "
        "or a CDX server, for a handful of URLs (server)",
        choices=INDEXES,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.crawls)) < len(self.crawls):
            raise ValueError("--crawl names a crawl twice")


@dataclass(frozen=True)
class RemoteSettings(Checked):
    """How a crawl's servers are asked. These settings do not change what is written.

    `rate` is in requests per second over all workers, 0 for no limit; None means 2 for servers of
    others. `retry` names the reasons for which failures of an earlier run are tried again.
    """

    roots: tuple[str, ...] = setting(
        ("https://data.commoncrawl.org/",),
        "where crawls are stored: URLs or folders with the same content, asked in turn; for lists "
        "of crawl files, the default is the nearest fitting folder at or above the list",
        flag="crawl-root",
        metavar="ROOT",
    )
    index_server: str = setting(
        "https://index.commoncrawl.org/{crawl}-index",
        "CDX server for --index server; {crawl} stands for the name of the crawl",
        metavar="URL",
        parse=http_url,
    )
    rate: float | None = setting(
        None,
        "maximum requests per second over all workers; 0 means no limit",
        at_least=0,
        default_text="2; no limit for files and this machine",
    )
    connections: int = setting(4, "maximum concurrent requests over all workers", at_least=1)
    attempts: int = setting(10, "maximum attempts per request", at_least=1)
    first_pause_seconds: float = setting(
        1.0,
        "pause before the second attempt; it doubles with each further attempt",
        flag="first-pause",
        metavar="SECONDS",
        at_least=0,
    )
    timeout_seconds: float = setting(
        30.0, "time to wait for a response", flag="timeout", metavar="SECONDS", above=0
    )
    contact: str | None = setting(
        None,
        "mail or web address in the User-Agent, so that operators of servers can reach you",
        metavar="ADDRESS",
        parse=contact_address,
    )
    retry: frozenset[str] = setting(
        frozenset(),
        "retry pages that failed for these reasons in an earlier run, for example http_503,timeout",
        metavar="REASONS",
        parse=retry_reasons,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.roots or not all(self.roots):
            raise ValueError("--crawl-root is empty")


@dataclass(frozen=True)
class ExampleSettings(Checked):
    """How documents and articles become examples.

    Pages in another language than `language` are dropped; None stands for the articles' language,
    `any` keeps all. `text_rule` is applied to the text of articles and paragraphs.
    """

    language: str | None = setting(
        None,
        "drop pages in other languages; any keeps all",
        metavar="CODE",
        default_text="the language of the articles",
    )
    text_rule: str = setting(
        "plain",
        "leave text as it is (plain), or lower-case it and space its punctuation (t2t)",
        choices=TEXT_RULES,
    )
    keep_duplicates: bool = setting(False, "keep a paragraph once for each page that has it")
    clone_rule: str = setting(
        "calibrated",
        "how the clone score of a document is computed: literal is Liu et al. 2018, A.2.1",
        choices=CLONE_RULES,
    )
    clone_threshold: float = setting(
        0.5, "drop documents with a clone score above this", at_least=0, at_most=1
    )
    paragraph_clone_threshold: float = setting(
        0.8,
        "drop paragraphs that contain more than this share of the lead's bigrams",
        at_least=0,
        at_most=1,
    )
    ranking: str = setting(
        "tfidf",
        "order of the paragraphs: by tf-idf with the title, or as in the documents (given)",
        choices=RANKINGS,
        is_later=True,
    )
    max_documents: int = setting(500, "maximum documents per article", at_least=1)
    max_paragraphs: int = setting(
        100, "maximum paragraphs per article, best first", at_least=1, at_most=(1 << 15) - 1
    )
    max_words: int | None = setting(
        None,
        "maximum words per article, best paragraphs first",
        at_least=1,
        default_text="no limit",
    )
    require_citation: bool = setting(False, "drop articles for which no cited page was found")


@dataclass(frozen=True)
class GraphSettings(Checked):
    """How paragraphs are linked; only the first `graph_paragraphs`, or all of them if None."""

    graphs: str = setting(
        "both",
        "graphs to make; the discourse graph takes most of a build's time",
        choices=GRAPHS,
        is_later=True,
    )
    similarity_threshold: float = setting(
        0.2, "minimum weight of a similarity edge", at_least=0, at_most=1
    )
    graph_paragraphs: int | None = setting(
        None, "maximum paragraphs to link, best first", at_least=1, default_text="all"
    )

    def has(self, graph: str) -> bool:
        """Whether the graph `similarity` or `discourse` is made."""
        return self.graphs in ("both", graph)


@dataclass(frozen=True)
class CorpusSettings(Checked):
    """How the entries of another corpus become articles and documents."""

    units: str | None = setting(
        None,
        "what becomes a paragraph: a line or a sentence of a document",
        choices=UNITS,
        default_text="sentences for cnndm, lines for the others",
    )
    paragraph_words: int | None = setting(
        None,
        "join neighboring units to paragraphs of at most N words",
        at_least=1,
        default_text="one unit per paragraph",
    )
    splits: str = setting(
        "given",
        "split of the entries: as lists, columns and names of files say, else by a hash (given); "
        "by a hash, 80/10/10 (hash); or all of one split",
        choices=ENTRY_SPLITS,
    )
    language: str = setting("en", "language of the corpus", metavar="CODE")
    limit: int | None = setting(
        None, "use only the first N entries of each file", at_least=1, default_text="all"
    )


@dataclass(frozen=True)
class ColumnSettings(Checked):
    """The columns of a table; a list of texts in `text` is a list of documents."""

    text: str = setting("text", "column of the text, or of the list of texts", metavar="COL")
    summary: str = setting("summary", "column of the summary", metavar="COL")
    title: str | None = setting(None, "column of the title", metavar="COL")
    id: str | None = setting(None, "column of the identifier or URL", metavar="COL")
    split: str | None = setting(None, "column of the split", metavar="COL")
    separator: str | None = setting(
        None, "separator of the documents within a text", metavar="TEXT"
    )


@dataclass(frozen=True)
class VocabSettings(Checked):
    """How the subword vocabulary is trained; `sample` counts paragraphs, leads and titles."""

    vocab_size: int = setting(32_000, "subwords in the vocabulary", at_least=16, at_most=1 << 16)
    sample: int = setting(
        1_000_000,
        "texts to train the vocabulary on: paragraphs, leads and titles",
        flag="vocab-sample",
        at_least=1,
    )
    vocab: str | None = setting(
        None, "use this SentencePiece model instead of training one", metavar="FILE"
    )


@dataclass(frozen=True)
class SearchSettings(Checked):
    """Which pages of a crawl are the search results of a title."""

    queries: str = setting(
        "titles", "what to search for: titles, or titles with each section's title", choices=QUERIES
    )
    results: int = setting(10, "maximum pages per query", at_least=1, at_most=1000)
    per_host: int = setting(2, "maximum pages of one host per query", at_least=1)
    clone_threshold: float = setting(
        0.5,
        "leave out pages that contain more than this share of a section of the article",
        at_least=0,
        at_most=1,
    )
    statistics_files: int = setting(
        64, "crawl files to collect the statistics of BM25 from", at_least=1
    )
    language: str | None = setting(
        None,
        "leave out pages in other languages",
        metavar="CODE",
        default_text="the language of the articles",
    )
    max_page_bytes: int = setting(
        16 * MIB,
        "leave out pages larger than this",
        metavar="BYTES",
        at_least=1,
        default_text=f"{16 * MIB}, 16 MiB",
    )


@dataclass(frozen=True)
class RankSettings(Checked):
    """How examples are ranked again; `model` is the hash of a learned ranker."""

    method: str
    model: str | None = None
    max_paragraphs: int = setting(40, "maximum paragraphs per example, best first", at_least=1)
    seed: int = setting(0, "seed of the method random", at_least=0)


@dataclass(frozen=True)
class LiveSettings(Checked):
    """How pages are fetched from the web.

    A host gets one request at a time. `max_seconds` and `max_bytes` limit a whole run.
    """

    contact: str | None = setting(
        None,
        "mail or web address in the User-Agent, so that operators of servers can reach you",
        metavar="ADDRESS",
        parse=contact_address,
    )
    concurrency: int = setting(32, "maximum concurrent requests, to different hosts", at_least=1)
    delay_seconds: float = setting(
        1.0,
        "minimum pause between requests to one host",
        flag="delay",
        metavar="SECONDS",
        at_least=0,
    )
    timeout_seconds: float = setting(
        30.0, "time limit of a request", flag="timeout", metavar="SECONDS", above=0
    )
    attempts: int = setting(3, "maximum attempts per page", at_least=1)
    max_page_bytes: int = setting(
        8 * MIB,
        "drop pages larger than this",
        metavar="BYTES",
        at_least=1,
        default_text=f"{8 * MIB}, 8 MiB",
    )
    max_seconds: float | None = setting(
        None, "stop after this time", metavar="SECONDS", above=0, default_text="no limit"
    )
    max_bytes: int | None = setting(
        None,
        "stop after receiving this much",
        metavar="BYTES",
        at_least=1,
        default_text="no limit",
    )
    segment_bytes: int = 256 * MIB  # of the WARC files that it writes
    allow_private: bool = setting(
        False,
        "also ask private and loopback addresses, and any port; link-local addresses are never "
        "asked",
    )
    any_port: bool = setting(False, "also connect to ports other than 80 and 443")

    @property
    def user_agent(self) -> str:
        """The User-Agent header of requests."""
        return f"wikisum/{__version__}" + (f" (+{self.contact})" if self.contact else "")


@dataclass(frozen=True)
class Settings(Checked):
    """The settings of a whole build."""

    articles: ArticleSettings = ArticleSettings()
    wanted: WantedSettings = WantedSettings()
    locate: LocateSettings = LocateSettings()
    pages: PageSettings = PageSettings()
    examples: ExampleSettings = ExampleSettings()
    graphs: GraphSettings = GraphSettings()
    vocab: VocabSettings = VocabSettings()
    shards: int | None = setting(
        None,
        "number of training shards; other splits get theirs in proportion",
        at_least=1,
        at_most=99_999,
        default_text="by size, at least 8",
    )


# The text rules of the original dataset's code: all text of a page, its filter of paragraphs,
# lower case with spaced punctuation, nothing dropped as a copy or for its language, up to a million
# words (subwords there) of paragraphs in the order of the tf-idf sum. It had no graphs.
LIKE_T2T = Settings(
    pages=PageSettings(extractor="soup", paragraph_rule="t2t"),
    examples=ExampleSettings(
        language=ANY_LANGUAGE,
        text_rule="t2t",
        keep_duplicates=True,
        clone_threshold=1.0,
        paragraph_clone_threshold=1.0,
        max_documents=100_000,
        max_paragraphs=(1 << 15) - 1,
        max_words=1_000_000,
    ),
    graphs=GraphSettings(graph_paragraphs=100),
)

# A corpus comes as its authors chose it: nothing is dropped as a copy, as a duplicate, for its
# language or for its number, and its order is kept.
FOR_CORPORA = Settings(
    examples=ExampleSettings(
        language=ANY_LANGUAGE,
        keep_duplicates=True,
        ranking="given",
        clone_threshold=1.0,
        paragraph_clone_threshold=1.0,
        max_documents=100_000,
        max_paragraphs=1000,
    ),
)
