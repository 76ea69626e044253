import pytest

from wikisum.pipeline.commands import extras
from wikisum.pipeline.commands.extras import check_build, missing_module


@pytest.mark.parametrize(
    ("module", "package"),
    [("torch", "'wikisum[train]'"), ("spacy.tokens", "'wikisum[build]'"), ("numpy", "wikisum")],
)
def test_the_line_that_installs_a_module(module, package):
    line = missing_module(module)
    assert line == f"needs {module}, which is not installed: pip install {package}"


@pytest.mark.parametrize("absent", ["apache_beam", "spacy", "en_core_web"])
def test_what_a_build_needs(monkeypatch, absent):
    check_build()
    find = extras.find_spec
    monkeypatch.setattr(extras, "find_spec", lambda n: None if n.startswith(absent) else find(n))
    with pytest.raises(ModuleNotFoundError, match=f"no module named {absent}") as caught:
        check_build()
    assert caught.value.name.startswith(absent)


def test_without_graphs_spacy_is_not_needed(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda n: n == "apache_beam")
    check_build(needs_spacy=False)


def test_one_model_of_spacy_is_enough(monkeypatch):
    one = extras.MODELS[-1]
    monkeypatch.setattr(extras, "find_spec", lambda n: n in ("apache_beam", "spacy", one))
    check_build()
