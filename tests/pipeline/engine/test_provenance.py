import json
from dataclasses import dataclass

from wikisum.pipeline.engine.provenance import metadata_of, origin_of
from wikisum.pipeline.engine.workspace import StageResult


@dataclass(frozen=True)
class Settings:
    size: int = 3
    titles: str = "/home/someone/titles.txt"


def test_the_origin_has_all_settings_before_it_and_no_path_of_this_machine():
    first = origin_of("first", Settings(1))
    result = StageResult("first", "f", [], {}, {"origin": first}, 0.0)
    assert origin_of("second", Settings(2), result) == {"first": {"size": 1}, "second": {"size": 2}}


def test_metadata_does_not_depend_on_the_order_of_settings():
    one, other = metadata_of({"a": 1, "b": 2}), metadata_of({"b": 2, "a": 1})
    assert one == other
    assert json.loads(one["wikisum.settings"]) == {"a": 1, "b": 2}
