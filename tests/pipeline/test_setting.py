import re
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from wikisum.pipeline.locate.settings import crawl_date, crawl_name
from wikisum.pipeline.pages.settings import extractor
from wikisum.pipeline.remote.settings import RETRY_REASONS, contact_address, http_url, retry_reasons
from wikisum.pipeline.setting import Checked, fault_of, flag_of, setting

ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Fruit(Checked):
    color: str = setting("red", "color of the peel", choices=["red", "green"])
    share: float = setting(0.5, "share that is eaten", at_least=0, at_most=1)
    max_seeds: int | None = setting(None, "maximum seeds", flag="seeds", above=0)
    urls: tuple[str, ...] = setting((), "where it grows", parse=http_url)
    note: str = "no flag"


def test_a_field_carries_what_its_flag_says():
    found = {f.name: f for f in fields(Fruit)}
    assert found["color"].metadata["help"] == "color of the peel"
    assert flag_of(found["max_seeds"]) == "seeds"
    assert flag_of(found["share"]) == "share"
    assert not found["note"].metadata


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"color": "blue"}, "--color must be one of red, green, not 'blue'"),
        ({"share": 1.5}, "--share must be between 0 and 1, not 1.5"),
        ({"share": float("nan")}, "--share must be between 0 and 1, not nan"),
        ({"max_seeds": 0}, "--seeds must be greater than 0, not 0"),
        ({"max_seeds": float("inf")}, "--seeds must be greater than 0, not inf"),
        ({"urls": ("http://a.example", "ftp://a")}, "--urls must be an http or https URL"),
    ],
)
def test_a_value_out_of_bounds_names_its_flag(values, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Fruit(**values)


@pytest.mark.parametrize(
    "values", [{"color": "green"}, {"share": 0}, {"share": 1.0}, {"max_seeds": 1}, {}]
)
def test_values_within_bounds_are_taken(values):
    fruit = Fruit(**values)
    assert all(fault_of(f, getattr(fruit, f.name)) is None for f in fields(fruit))


@pytest.mark.parametrize(
    ("parse", "good", "bad"),
    [
        (crawl_name, "CC-MAIN-2024-10", "../etc"),
        (crawl_date, "2024-02", "2024-13"),
        (http_url, "https://index.example/{crawl}-index", "ftp://x"),
        (http_url, "http://h", "https://"),
        (contact_address, "you@host.example", "(you)"),
        (contact_address, "https://host.example/", "ü"),
    ],
)
def test_words_of_flags(parse, good, bad):
    assert parse(good) == good
    with pytest.raises(ValueError, match=r"^must be "):
        parse(bad)


def test_an_extractor_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setattr("wikisum.pipeline.pages.settings.find_spec", lambda name: None)
    assert extractor("fast") == "fast"
    with pytest.raises(ValueError, match=r"pip install 'wikisum\[trafilatura\]'"):
        extractor("trafilatura")


def test_an_unknown_reason_is_answered_with_the_known_ones():
    assert retry_reasons("http_503,timeout") == {"http_503", "timeout"}
    with pytest.raises(ValueError, match=r"unknown reason 'foo'; known reasons: .*private_address"):
        retry_reasons("timeout,foo")


def test_every_reason_for_which_a_request_fails_is_known():
    found = set()
    for folder in ("pipeline/remote", "pipeline/live", "pipeline/locate", "crawl/web"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            found |= set(re.findall(r'(?:BadAnswer|NotFetched)\(\s*"(\w+)"', text))
    assert len(found) > 20
    assert found <= set(RETRY_REASONS)
