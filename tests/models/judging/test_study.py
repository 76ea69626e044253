import json

import pytest

from tests.models.judging.conftest import SYSTEMS
from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.questions import Question
from wikisum.models.judging.study import open_study, summary

ASKED = {"e1": [Question("Who?", "A")], "e2": [Question("Who?", "B"), Question("Why?", "C")]}


def test_a_study_is_read_as_it_was_written(make_study):
    study = make_study(judges=4, with_gold=True, comments=True)
    assert open_study(study.folder) == study
    assert study.systems == (*SYSTEMS, "gold")
    assert sorted(p.name for p in study.folder.iterdir()) == ["study.json", "study.sqlite"]
    assert study.folder.stat().st_mode & 0o077 == 0
    sizes = [len(study.store.screens(j.number)) for j in study.store.judges()]
    assert sizes == [8, 8, 8, 8]
    assert summary(study)[0].startswith("Linguistic quality: 4 examples, systems alphanet, ")


def test_what_is_not_a_study(make_study, tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no study"):
        open_study(tmp_path)
    study = make_study(PROTOCOLS["pht"])
    path = study.folder / "study.json"
    settings = json.loads(path.read_text())
    for text in ("{", json.dumps({**settings, "format": 2}), json.dumps({"format": 1})):
        path.write_text(text)
        with pytest.raises(ValueError, match=r"study.json: is not the settings of a study"):
            open_study(study.folder)
