"""Settings of examples, of their graphs and of the subword vocabulary."""

from dataclasses import dataclass

from wikisum.pipeline.setting import language_or_any
from wikisum.ranker.setting import Checked, setting

CLONE_RULES = ("calibrated", "literal")
TEXT_RULES = ("plain", "t2t")
RANKINGS = ("tfidf", "given")
GRAPHS = ("both", "similarity", "discourse", "none")
ENTITIES = ("fast", "spacy", "none")


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
        parse=language_or_any,
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
    min_document_words: int = setting(
        30,
        "drop documents whose paragraphs have fewer words; 0 keeps all",
        metavar="N",
        at_least=0,
    )
    recurring_articles: int = setting(
        4,
        "drop paragraphs that a site repeats on pages of at least this many articles; 0 keeps them",
        metavar="N",
        at_least=0,
    )
    near_duplicate_threshold: float = setting(
        0.8,
        "drop paragraphs of which a better one has more than this share of the pairs of words; "
        "1 keeps them",
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
    shards: int | None = setting(
        None,
        "number of training shards; other splits get theirs in proportion",
        at_least=1,
        at_most=99_999,
        default_text="by size, at least 8",
        is_recorded=False,
    )


@dataclass(frozen=True)
class OrderSettings(Checked):
    """How the paragraphs of joined examples are ordered anew, before their graphs are made."""

    ranker: str | None = setting(
        None,
        "order the paragraphs by this learned ranker, the folder of a training run",
        metavar="RUN",
        default_text="the order of --ranking",
        is_recorded=False,
    )


@dataclass(frozen=True)
class GraphSettings(Checked):
    """How paragraphs are linked; only the first `graph_paragraphs`, or all of them if None.

    Of these, the first `entity_paragraphs` are linked by shared entities too.
    """

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
    entities: str = setting(
        "fast",
        "how entities are recognized: fast evaluates the network of spaCy's model for many "
        "paragraphs together, spacy lets spaCy do it, none leaves discourse markers alone",
        choices=ENTITIES,
        is_later=True,
    )
    entity_paragraphs: int | None = setting(
        40,
        "maximum paragraphs to link by shared entities, best first",
        at_least=1,
    )

    def has(self, graph: str) -> bool:
        """Whether the graph `similarity` or `discourse` is made."""
        return self.graphs in ("both", graph)

    @property
    def needs_spacy(self) -> bool:
        """Whether entities are recognized, with a model of spaCy's."""
        return self.has("discourse") and self.entities != "none"


@dataclass(frozen=True)
class VocabSettings(Checked):
    """How the subword vocabulary is trained; `sample` counts paragraphs, leads and titles.

    `characters` bounds the memory of the one process that trains it, about 23 bytes for each.
    """

    vocab_size: int = setting(32_000, "subwords in the vocabulary", at_least=16, at_most=1 << 16)
    sample: int = setting(
        1_000_000,
        "texts to train the vocabulary on: paragraphs, leads and titles",
        flag="vocab-sample",
        at_least=1,
    )
    characters: int = setting(
        100_000_000,
        "maximum characters to train the vocabulary on; each takes about 23 bytes of memory",
        flag="vocab-characters",
        at_least=1,
        is_later=True,
    )
    vocab: str | None = setting(
        None,
        "use this SentencePiece model instead of training one",
        metavar="FILE",
        is_recorded=False,
    )
