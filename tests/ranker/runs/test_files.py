from pathlib import PurePath

from wikisum.ranker.runs import files


def test_the_files_of_a_run_keep_their_names():
    """Old runs can be read only under these names."""
    names = {n: v for n, v in vars(files).items() if n.isupper()}
    assert names == {
        "SETTINGS": "settings.json",
        "VOCAB": "vocab.model",
        "LOG": "log.jsonl",
        "LAST": "last.safetensors",
        "BEST": "best.safetensors",
    }
    assert all(PurePath(name).name == name for name in names.values())
