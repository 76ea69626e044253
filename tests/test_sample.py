import gzip
import importlib.util
from pathlib import Path

from tests.conftest import GOLDEN


def test_the_built_files_are_those_of_the_sources(tmp_path):
    spec = importlib.util.spec_from_file_location("make_sample", GOLDEN / "make_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.build(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert content(path) == content(GOLDEN / path.name), path.name


def content(path: Path) -> bytes:
    """What a file holds; of a damaged one, its bytes."""
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except OSError:
        return path.read_bytes()
