"""The tokenizer of a pretrained model: ids, texts, folders that cannot be used."""

import json
import pickle

import pytest

from tests.models.pretrained.tiny_models import save_tiny
from wikisum.models.pretrained.settings import PretrainedSettings
from wikisum.models.vocabulary.pretrained import (
    OFFSET,
    PretrainedVocabulary,
    check_folder,
    in_run,
    keep_pretrained,
    load_config,
)


@pytest.fixture(scope="module")
def folder(topics, tmp_path_factory):
    path = tmp_path_factory.mktemp("bart") / "bart"
    save_tiny("bart", topics, path)
    return path


def test_texts_survive(folder):
    vocabulary = PretrainedVocabulary(str(folder))
    text = "The bridge, built in 1811."
    (ids,) = vocabulary.encode_texts([text])
    assert min(ids) >= OFFSET
    assert vocabulary.decode([*ids, OFFSET, 3], "", ()) == text  # special tokens are left out
    assert vocabulary.ids([","]) <= set(ids)
    assert vocabulary.ids([","])


def test_examples_are_encoded_up_to_a_number_of_words(folder):
    vocabulary = PretrainedVocabulary(str(folder))
    paragraphs = ["one two three", "four five", "six"]
    title, found, lead = vocabulary.encode_example("Tavin", paragraphs, "A bridge.", 4)
    assert len(found) == 2
    texts = [vocabulary.decode(ids, "", ()) for ids in (title, *found, lead)]
    assert texts == ["Tavin", *paragraphs[:2], "A bridge."]


def test_the_size_is_that_of_the_model_and_readers_can_be_sent(folder):
    vocabulary = PretrainedVocabulary(str(folder))
    assert vocabulary.size == OFFSET + load_config(str(folder)).vocab_size
    again = pickle.loads(pickle.dumps(vocabulary))
    assert again.fingerprint() == vocabulary.fingerprint()


def test_a_run_keeps_what_it_needs(folder, tmp_path):
    settings = PretrainedSettings(pretrained=str(folder))
    assert in_run(settings, tmp_path) is settings
    keep_pretrained(str(folder), tmp_path)
    kept = in_run(settings, tmp_path).pretrained
    assert not list((tmp_path / "pretrained").glob("*.safetensors"))
    texts = ["The bridge of Tavin.", "ünknown 漢字"]
    before, after = (PretrainedVocabulary(str(f)).encode_texts(texts) for f in (folder, kept))
    assert before == after


def test_folders_that_cannot_be_used_are_named(folder, tmp_path):
    with pytest.raises(ValueError, match="--pretrained DIR"):
        check_folder("")
    with pytest.raises(FileNotFoundError, match="no folder nowhere"):
        check_folder("nowhere")
    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        check_folder(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no such"}))
    with pytest.raises(ValueError, match=str(tmp_path)):
        load_config(str(tmp_path))
