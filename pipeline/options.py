"""One frozen dataclass of settings per stage: what decides the bytes that the stage writes."""

import dataclasses
import re
from dataclasses import dataclass

from wikisum import __version__
from wikisum.crawl.html import check_extractor
from wikisum.crawl.index.cdx import parse_date

CORPORA = ("citations", "search", "combined")
QUERIES = ("titles", "sections")
CLONE_RULES = ("calibrated", "literal")
PARAGRAPH_RULES = ("prose", "t2t")
TEXT_RULES = ("plain", "t2t")
ANY_LANGUAGE = "any"
INDEXES = ("zipnum", "columnar", "server")
PAGE_STAGES = ("fetch", "scan", "live-scan")  # those that make documents
SPLIT_FRACTIONS = {
    "wikisum": (0.8, 0.1, 0.1),  # Liu et al. 2018, section 3
    "hierarchical": (0.9539, 0.0230, 0.0231),  # Liu & Lapata 2019, section 4
}
# Splits by the shards of the original files, tenth by tenth of them. The original job pairs them,
# in order, with its outputs sorted by name (dev, test, train); the script that checks the outputs
# assumes the other.
SPLIT_TENTHS = {
    "t2t": ("validation", "test", *["train"] * 8),
    "t2t-nominal": (*["train"] * 8, "validation", "test"),
}


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ValueError(message)


def _require_share(name: str, value: float) -> None:
    _require(0 <= value <= 1, f"--{name} must lie in 0..1, not {value}")


@dataclass(frozen=True)
class ArticleSettings:
    """Which articles are taken, and their split: of a dump `wikisum`, of original files `t2t`."""

    split: str | None = None
    limit: int | None = None
    titles: str | None = None

    def __post_init__(self) -> None:
        splits = [*SPLIT_FRACTIONS, *SPLIT_TENTHS]
        _require(
            self.split is None or self.split in splits,
            f"--split must be one of {', '.join(splits)}",
        )
        _require(self.limit is None or self.limit > 0, f"--limit must be over 0, not {self.limit}")

    @property
    def fractions(self) -> tuple[float, float, float]:
        """The shares of train, validation and test; splits by shards have them too."""
        return SPLIT_FRACTIONS.get(self.split or "wikisum", SPLIT_FRACTIONS["wikisum"])


@dataclass(frozen=True)
class WantedSettings:
    """Which of an article's URLs are wanted."""

    corpus: str = "combined"

    def __post_init__(self) -> None:
        _require(self.corpus in CORPORA, f"--corpus must be one of {', '.join(CORPORA)}")


@dataclass(frozen=True)
class PageSettings:
    """How pages become documents."""

    extractor: str = "fast"
    paragraph_rule: str = "prose"
    language: str | None = None
    max_page_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        try:
            check_extractor(self.extractor)
        except ValueError as error:
            raise ValueError(f"--extractor: {error}") from error
        _require(
            self.paragraph_rule in PARAGRAPH_RULES,
            f"--paragraph-rule must be one of {', '.join(PARAGRAPH_RULES)}",
        )
        _require(self.max_page_bytes > 0, "--max-page-bytes must be over 0")


@dataclass(frozen=True)
class LocateSettings:
    """Which captures of the wanted pages are taken: of which crawls, in order of preference."""

    crawls: tuple[str, ...] = ()
    date: str | None = None
    captures: int = 2
    index: str = "zipnum"

    def __post_init__(self) -> None:
        for crawl in self.crawls:
            _require(
                re.fullmatch(r"\w[\w.-]*", crawl) is not None,
                f"--crawl must be a name like CC-MAIN-2024-10, not {crawl!r}",
            )
        _require(len(set(self.crawls)) == len(self.crawls), "--crawl names a crawl twice")
        if self.date is not None:
            try:
                parse_date(self.date)
            except ValueError as error:
                raise ValueError(f"--date: {error} (2024, 2024-02, 2024-02-24)") from error
        _require(self.captures > 0, f"--captures must be over 0, not {self.captures}")
        _require(self.index in INDEXES, f"--index must be one of {', '.join(INDEXES)}")


@dataclass(frozen=True)
class RemoteSettings:
    """How a crawl is reached and asked. Decides nothing of what is written.

    `rate` is in requests a second over all workers, 0 for no limit; None is 2 for others' servers.
    What failed in an earlier run for one of the reasons in `retry` is asked for again.
    """

    roots: tuple[str, ...] = ("https://data.commoncrawl.org/",)
    index_server: str = "https://index.commoncrawl.org/{crawl}-index"
    rate: float | None = None
    connections: int = 4
    attempts: int = 10
    first_pause_seconds: float = 1.0
    timeout_seconds: float = 30.0
    contact: str | None = None
    retry: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        _require(bool(self.roots) and all(self.roots), "--crawl-root is empty")
        _require(self.rate is None or self.rate >= 0, f"--rate must not be {self.rate}")
        _require(self.connections > 0, f"--connections must be over 0, not {self.connections}")
        _require(self.attempts > 0, f"--attempts must be over 0, not {self.attempts}")
        _require(self.first_pause_seconds >= 0, "--first-pause must not be under 0")
        _require(self.timeout_seconds > 0, f"--timeout must be over 0, not {self.timeout_seconds}")
        _require(
            self.contact is None or (self.contact.isascii() and self.contact.isprintable()),
            "--contact must be plain ASCII",
        )


@dataclass(frozen=True)
class ExampleSettings:
    """How documents and articles become examples.

    Pages in another language than `language`, the dump's if it is None, are dropped, but none if it
    is `any`. `text_rule` is what becomes of the text of articles and paragraphs.
    """

    language: str | None = None
    text_rule: str = "plain"
    keep_duplicates: bool = False
    clone_rule: str = "calibrated"
    clone_threshold: float = 0.5
    paragraph_clone_threshold: float = 0.8
    max_documents: int = 500
    max_paragraphs: int = 100
    max_words: int | None = None
    require_citation: bool = False

    def __post_init__(self) -> None:
        _require(
            self.clone_rule in CLONE_RULES, f"--clone-rule must be one of {', '.join(CLONE_RULES)}"
        )
        _require(
            self.text_rule in TEXT_RULES, f"--text-rule must be one of {', '.join(TEXT_RULES)}"
        )
        _require_share("clone-threshold", self.clone_threshold)
        _require_share("paragraph-clone-threshold", self.paragraph_clone_threshold)
        _require(self.max_documents > 0, "--max-documents must be over 0")
        _require(
            0 < self.max_paragraphs < 1 << 15,
            "--max-paragraphs must lie in 1..32767 (graph indexes)",
        )
        _require(self.max_words is None or self.max_words > 0, "--max-words must be over 0")


@dataclass(frozen=True)
class GraphSettings:
    """How paragraphs are linked; only the first `graph_paragraphs` are, or all if it is None."""

    similarity_threshold: float = 0.2
    graph_paragraphs: int | None = None

    def __post_init__(self) -> None:
        _require_share("similarity-threshold", self.similarity_threshold)
        most = self.graph_paragraphs
        _require(most is None or most > 0, f"--graph-paragraphs must be over 0, not {most}")


@dataclass(frozen=True)
class VocabSettings:
    """How the subword vocabulary is trained; `sample` counts paragraphs, leads and titles."""

    vocab_size: int = 32_000
    sample: int = 1_000_000
    vocab: str | None = None

    def __post_init__(self) -> None:
        _require(16 <= self.vocab_size <= 1 << 16, "--vocab-size must lie in 16..65536")
        _require(self.sample > 0, "--vocab-sample must be over 0")


@dataclass(frozen=True)
class SearchSettings:
    """Which pages of a crawl are the search results of a title.

    `statistics_files` is how many of the crawl files BM25's statistics are counted in; pages in
    another language than `language` are left out.
    """

    queries: str = "titles"
    results: int = 10
    per_host: int = 2
    clone_threshold: float = 0.5
    statistics_files: int = 64
    language: str | None = None
    max_page_bytes: int = 16 << 20

    def __post_init__(self) -> None:
        _require(self.queries in QUERIES, f"--queries must be one of {', '.join(QUERIES)}")
        _require(0 < self.results <= 1000, f"--results must lie in 1..1000, not {self.results}")
        _require(self.per_host > 0, f"--per-host must be over 0, not {self.per_host}")
        _require_share("clone-threshold", self.clone_threshold)
        _require(self.statistics_files > 0, "--statistics-files must be over 0")
        _require(self.max_page_bytes > 0, "--max-page-bytes must be over 0")


@dataclass(frozen=True)
class RankSettings:
    """How examples are ranked again; `model` is a hash of a learned ranker, `seed` for `random`."""

    method: str
    model: str | None = None
    max_paragraphs: int = 40
    seed: int = 0

    def __post_init__(self) -> None:
        _require(
            self.max_paragraphs > 0, f"--max-paragraphs must be over 0, not {self.max_paragraphs}"
        )


@dataclass(frozen=True)
class LiveSettings:
    """How pages are fetched from the web: whom to ask, how often, how much.

    `concurrency` counts requests in all; a host has one at a time, `delay_seconds` or more after
    the last. `timeout_seconds` is for one request with its answer, `max_seconds` and `max_bytes`
    for a whole run.
    """

    contact: str | None = None
    concurrency: int = 32
    delay_seconds: float = 1.0
    timeout_seconds: float = 30.0
    attempts: int = 3
    max_page_bytes: int = 8 << 20
    max_seconds: float | None = None
    max_bytes: int | None = None
    segment_bytes: int = 256 << 20
    allow_private: bool = False
    any_port: bool = False

    def __post_init__(self) -> None:
        contact = self.contact or ""
        _require(
            contact.isascii() and contact.isprintable() and not set(contact) & set("()"),
            "--contact must be a plain mail or web address",
        )
        _require(self.concurrency > 0, f"--concurrency must be over 0, not {self.concurrency}")
        _require(self.delay_seconds >= 0, f"--delay must not be under 0: {self.delay_seconds}")
        _require(self.timeout_seconds > 0, f"--timeout must be over 0, not {self.timeout_seconds}")
        _require(self.attempts > 0, f"--attempts must be over 0, not {self.attempts}")
        _require(self.max_page_bytes > 0, "--max-page-bytes must be over 0")
        _require(self.max_seconds is None or self.max_seconds > 0, "--max-seconds must be over 0")
        _require(self.max_bytes is None or self.max_bytes > 0, "--max-bytes must be over 0")
        _require(self.segment_bytes > 0, "--segment-bytes must be over 0")

    @property
    def user_agent(self) -> str:
        """What we call ourselves to servers."""
        return f"wikisum/{__version__}" + (f" (+{self.contact})" if self.contact else "")


@dataclass(frozen=True)
class Settings:
    """The settings of a whole build."""

    articles: ArticleSettings = ArticleSettings()
    wanted: WantedSettings = WantedSettings()
    locate: LocateSettings = LocateSettings()
    pages: PageSettings = PageSettings()
    examples: ExampleSettings = ExampleSettings()
    graphs: GraphSettings = GraphSettings()
    vocab: VocabSettings = VocabSettings()
    shards: int | None = None

    def __post_init__(self) -> None:
        _require(self.shards is None or 0 < self.shards < 100_000, "--shards must lie in 1..99999")

    def as_dict(self) -> dict:
        """Plain values, for the manifest."""
        return dataclasses.asdict(self)


# The text rules of the original dataset's code: all text of a page, its filter of paragraphs, lower
# case with spaced punctuation, no page or paragraph dropped as a copy or for its language, up to a
# million words (there: subwords) of paragraphs in the order of the tf-idf sum. It had no graphs.
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
