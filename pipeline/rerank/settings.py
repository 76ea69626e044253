"""Settings of ranking a dataset again."""

from dataclasses import dataclass

from wikisum.ranker.setting import Checked, setting


@dataclass(frozen=True)
class RankSettings(Checked):
    """How examples are ranked again; `model` is the hash of a learned ranker."""

    method: str
    model: str | None = None
    max_paragraphs: int = setting(40, "maximum paragraphs per example, best first", at_least=1)
    seed: int = setting(0, "seed of the method random", at_least=0)
