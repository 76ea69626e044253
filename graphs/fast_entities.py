"""Named entities by the network of a spaCy model, evaluated for many texts at once with numpy.

spaCy splits texts into tokens and holds the weights. What is found is what spaCy itself finds, but
for the rounding of scores that are equal to six digits (benchmarks/entities.md).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wikisum.graphs.encoder import DenseLayer, Encoder, Floats, Keys
from wikisum.graphs.transitions import Decisions, moves_of

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

MAX_TOKENS = 16_384  # of a batch, unless one text has more
_NORM_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # any large odd number
_PROBE = "The European Commission's Ursula von der Leyen met U.N. envoys in Kyiv on May 9th."
_EXPECTED = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "state_type": "ner",
    "extra_state_tokens": False,
    "use_upper": True,
    "tok2vec.@architectures": "spacy.Tok2Vec.v2",
    "tok2vec.embed.@architectures": "spacy.MultiHashEmbed.v2",
    "tok2vec.embed.include_static_vectors": False,
    "tok2vec.encode.@architectures": "spacy.MaxoutWindowEncoder.v2",
    "tok2vec.encode.window_size": 1,
}

Entity = tuple[str, str]  # the text and the label


class Network(NamedTuple):
    """The spaCy model, the two parts of its network, and the labels of entities."""

    nlp: "Language"
    columns: list[str]
    encoder: Encoder
    decisions: Decisions
    labels: list[str]

    def entities(self, texts: Iterable[str]) -> Iterator[list[Entity]]:
        """Yield the entities of each text, in order. Texts do not influence each other."""
        batch: list[Doc] = []
        tokens = 0
        for text in texts:
            document = self.nlp.make_doc(text)
            if batch and tokens + len(document) > MAX_TOKENS:
                yield from self._of_batch(batch)
                batch, tokens = [], 0
            batch.append(document)
            tokens += len(document)
        if batch:
            yield from self._of_batch(batch)

    def _of_batch(self, documents: Sequence["Doc"]) -> list[list[Entity]]:
        """Return the entities of each document.

        The tokens of all documents are rows of the same arrays; before each document, and behind
        the last one, are as many rows without a token as the encoder reaches.
        """
        gap = self.encoder.reach
        lengths = np.array([len(document) for document in documents])
        owner = np.repeat(np.arange(len(documents)), lengths)
        rows = np.arange(len(owner)) + (owner + 1) * gap
        text = np.zeros(len(owner) + (len(documents) + 1) * gap, bool)
        text[rows] = True
        columns: list[int | str] = ["ORTH", "NORM", "IS_SPACE", "IDX", "LENGTH", *self.columns]
        values: Keys = np.concatenate([document.to_array(columns) for document in documents])
        orth, norm, space, at, length = values.T[:5]
        blank = np.zeros(len(text), bool)
        blank[rows] = space > 0
        vectors = np.zeros((len(text), self.encoder.width), np.float32)
        vectors[rows] = self.encoder.words(orth ^ (norm * _NORM_FACTOR), values[:, 5:])
        names = self.decisions.names(self.encoder.in_context(vectors), text, blank)
        first, last = np.searchsorted(rows, names.start), np.searchsorted(rows, names.end - 1)
        spans = zip(owner[first].tolist(), at[first].tolist(), (at + length)[last].tolist(),
                    names.label.tolist(), strict=True)  # fmt: skip
        found: list[list[Entity]] = [[] for _ in documents]
        source = [document.text for document in documents]
        for one, start, end, label in spans:
            found[one].append((source[one][start:end], self.labels[label]))
        return found


def load_network(nlp: "Language") -> Network:
    """Return the network of a spaCy model that recognizes entities.

    Raises ValueError saying what differs if the model is not built as this module expects it.
    """
    _check_structure(nlp)
    ner: Any = nlp.get_pipe("ner")
    to_vectors, lower, upper = (ner.model.get_ref(name) for name in ("tok2vec", "lower", "upper"))
    embed, encode = (to_vectors.layers[0].get_ref(name) for name in ("embed", "encode"))
    (mix,), convolutions = _dense_layers(embed), _dense_layers(encode)
    encoder = Encoder(embed.layers[2].layers[0], mix, convolutions)
    reduce, absent = to_vectors.layers[-1], lower.get_param("pad")[0]
    moves, labels = moves_of([ner.moves.get_class_name(i) for i in range(ner.moves.n_moves)])
    decisions = Decisions(
        np.ascontiguousarray(reduce.get_param("W").T),
        reduce.get_param("b"),
        np.stack([_by_piece(role) for role in lower.get_param("W")]),
        absent.transpose(0, 2, 1).reshape(len(absent), -1),
        lower.get_param("b").T.reshape(-1),
        upper.get_param("W"),
        upper.get_param("b"),
        moves,
    )
    network = Network(nlp, embed.layers[0].attrs["columns"], encoder, decisions, labels)
    _check_result(network)
    return network


def _by_piece(weights: Floats) -> Floats:
    """Return weights [O, P, I] as [I, P * O], so that the values of a piece lie together."""
    outputs, pieces, inputs = weights.shape
    return np.ascontiguousarray(weights.transpose(1, 0, 2).reshape(pieces * outputs, inputs).T)


def _dense_layers(model: Any) -> list[DenseLayer]:
    """Return the layers with maxout in a thinc model, in order."""
    linear = [layer for layer in model.walk() if layer.name == "maxout"]
    norms = [layer for layer in model.walk() if layer.name == "layernorm"]
    return [
        DenseLayer(
            _by_piece(one.get_param("W")),
            one.get_param("b").T.reshape(-1),
            norm.get_param("G"),
            norm.get_param("b"),
        )
        for one, norm in zip(linear, norms, strict=True)
    ]


def _check_structure(nlp: "Language") -> None:
    """Raise ValueError unless the configuration of the recognizer is the expected one."""
    ner: Any = nlp.get_pipe("ner")
    config = nlp.config["components"]["ner"]["model"]
    for name, expected in _EXPECTED.items():
        value: Any = config
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value != expected:
            raise _refusal(nlp, f"{name} is {value!r}, not {expected!r}")
    if ner.cfg["beam_width"] != 1 or ner.model.attrs["unseen_classes"]:
        raise _refusal(nlp, "it searches with a beam, or not all labels are trained")


def _check_result(network: Network) -> None:
    """Raise ValueError unless spaCy finds the same entities in a sentence."""
    expected = [(entity.text, entity.label_) for entity in network.nlp(_PROBE).ents]
    if next(network.entities([_PROBE])) != expected:
        raise _refusal(network.nlp, "it finds other entities than spaCy in a sentence")


def _refusal(nlp: "Language", reason: str) -> ValueError:
    model = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    return ValueError(f"the fast recognizer cannot evaluate {model}: {reason}; choose spacy")
