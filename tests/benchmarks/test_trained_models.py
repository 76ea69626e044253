import json
from pathlib import Path

import pytest

from benchmarks import train_text_blocks
from wikisum.crawl.extract import main_text, text_blocks


def test_the_stored_extractor_has_the_settings_of_its_script(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(train_text_blocks.__file__).parent))
    script = pytest.importorskip("train_extractor")
    stored = main_text.MODEL_FILE.read_text()
    training = json.loads(stored)["training"]
    assert training["settings"] == script.SETTINGS
    assert script.stored(main_text.default_model(), training) == stored


def test_the_stored_model_of_plain_text_has_the_settings_of_its_script():
    training = json.loads(text_blocks.MODEL_FILE.read_text())["training"]
    assert training["settings"] == train_text_blocks.SETTINGS
    assert {len(digest) for digest in training["inputs"].values()} == {64}


def test_the_stored_form_of_a_model_is_stable():
    model = text_blocks.default_model()
    stored = json.loads(text_blocks.MODEL_FILE.read_text())
    written = train_text_blocks.model_json(model, stored["training"])
    assert written == text_blocks.MODEL_FILE.read_text()
