"""The protocols of human evaluation: what a judge is shown and asked.

[W] is Liu et al. 2018, [H] Liu and Lapata 2019, [P] the paper of PHT and VHT.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple


class Option(NamedTuple):
    """A possible answer: the value that is saved, its label, and the key that chooses it.

    `number` is shown above the label if it is not the key.
    """

    value: str
    label: str
    key: str
    number: str = ""


class Scale(NamedTuple):
    """A question with numbered answers; the values of the options are whole numbers."""

    key: str
    label: str
    text: str
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Protocol:
    """What judges see and answer.

    `kind` says how summaries are presented: one at a time with scales ("rating"), in pairs
    ("preference"), several at once ("best-worst"), or one with questions about its content
    ("questions"). `shows_lead` puts the gold lead above the summaries; `shows_sources` offers the
    source paragraphs on demand. `examples` and `judges_per_item` are those of the paper.
    """

    name: str
    kind: str
    title: str
    instruction: str
    scales: tuple[Scale, ...] = ()
    shows_lead: bool = False
    shows_sources: bool = True
    examples: int = 20
    judges_per_item: int = 3

    @classmethod
    def from_plain(cls, plain: dict[str, Any]) -> "Protocol":
        """Return the protocol that `dataclasses.asdict` made plain, after a way through JSON."""
        scales = tuple(
            Scale(key, label, text, tuple(Option(*o) for o in options))
            for key, label, text, options in plain["scales"]
        )
        return cls(**plain | {"scales": scales})


def scale(key: str, label: str, text: str, low: int, names: tuple[str, ...]) -> Scale:
    """Return a scale whose options are numbered from `low`."""
    options = tuple(Option(str(n), name, str(n)) for n, name in enumerate(names, low))
    return Scale(key, label, text, options)


_DUC = ("very poor", "poor", "barely acceptable", "good", "very good")
_PHT = ("very poor", "poor", "fair", "good", "very good")
_FACTS = ("hard to score", "better", "much better")

PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "duc",
            "rating",
            "Linguistic quality",
            "Read the summary and rate how well it is written. Do not rate whether its content "
            "is true or complete.",
            (
                scale("grammaticality", "Grammaticality", "Are the sentences grammatical, without "
                      "fragments, missing words or wrong capitals?", 1, _DUC),
                scale("non_redundancy", "Non-redundancy", "Is the summary free of needless "
                      "repetition of sentences, facts or names?", 1, _DUC),
                scale("referential_clarity", "Referential clarity", "Is it always clear whom or "
                      "what pronouns and noun phrases refer to?", 1, _DUC),
                scale("focus", "Focus", "Does every sentence belong to the subject of the "
                      "summary?", 1, _DUC),
                scale("structure", "Structure and coherence", "Do the sentences build on each "
                      "other, rather than being a list of related facts?", 1, _DUC),
            ),
            examples=25,
        ),
        Protocol(
            "pht",
            "rating",
            "Informativeness, fluency, conciseness, consistency",
            "Compare the summary with the reference text, and rate it.",
            (
                scale("informativeness", "Informativeness", "Does the summary include all "
                      "important facts of the reference text?", 1, _PHT),
                scale("fluency", "Fluency", "Is the summary fluent and grammatical?", 1, _PHT),
                scale("conciseness", "Conciseness", "Does the summary avoid repetition and "
                      "redundancy?", 1, _PHT),
                scale("factual_consistency", "Factual consistency", "Does the summary avoid "
                      "mistakes such as a wrong date or a wrong place?", 0, _FACTS),
            ),
            shows_lead=True,
        ),
        Protocol(
            "preference",
            "preference",
            "Which summary is better?",
            "Compare both summaries with the reference text, and choose the one that you prefer.",
            shows_lead=True,
            examples=25,
        ),
        Protocol(
            "best-worst",
            "best-worst",
            "Best and worst summary",
            "Choose the best and the worst summary of the reference text. Consider "
            "informativeness (does it say the important facts?), fluency (is it fluent and "
            "grammatical?) and succinctness (does it avoid repetition?).",
            shows_lead=True,
            judges_per_item=5,
        ),
        Protocol(
            "questions",
            "questions",
            "Questions about a summary",
            "Answer each question from the summary alone. Leave an answer empty if the summary "
            "does not contain it. Do not use other knowledge.",
            shows_sources=False,
            judges_per_item=5,
        ),
    )
}  # fmt: skip
MARKS = (
    Option("0", "wrong", "0"),
    Option("0.5", "partly correct", "5", "0.5"),
    Option("1", "correct", "1"),
)
MARKING = (
    "Compare each answer with the correct one. Mark it 1 if it is correct, 0.5 if it is partly "
    "correct, and 0 otherwise. Empty answers count 0 and are not shown."
)
