import json

import pytest

from wikisum.models.evaluation.systems import file_systems
from wikisum.models.judging.preparation import prepare
from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.study import StudySettings

SYSTEMS = ("alphanet", "betanet", "gammanet")


def summary_row(system: str, number: int) -> dict:
    return {
        "id": f"e{number}",
        "title": f"Title {number}",
        "lead": f"The lead of example {number}.",
        "summary": f"Text {SYSTEMS.index(system)} of example {number}.",
        "model": system,
        "run": f"runs/{system}",
        "settings": {"beam": 5},
        "paragraphs": [{"text": f"Source {p} of example {number}."} for p in range(2)],
    }


@pytest.fixture
def files(tmp_path):
    """(number of examples, number of systems) -> files of summaries, one per system."""

    def write(examples: int = 4, systems: int = 3):
        paths = []
        for system in SYSTEMS[:systems]:
            path = tmp_path / f"{system}.jsonl"
            rows = (json.dumps(summary_row(system, n)) for n in range(examples))
            path.write_text("\n".join(rows) + "\n")
            paths.append(path)
        return paths

    return write


@pytest.fixture
def make_study(files, tmp_path):
    """Make a study of a protocol, by its name or as it is."""

    def make(protocol="duc", systems=3, questions=None, name="study", **settings):
        chosen = PROTOCOLS[protocol] if isinstance(protocol, str) else protocol
        settings = StudySettings(**{"examples": 4, "judges_per_item": 2, **settings})
        sources = file_systems(files(4, systems))
        return prepare(tmp_path / name, chosen, sources, settings, questions)

    return make
