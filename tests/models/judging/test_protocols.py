import json
from dataclasses import asdict

import pytest

from wikisum.models.judging.protocols import PROTOCOLS, Protocol


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_protocol_comes_back_from_json(name):
    protocol = PROTOCOLS[name]
    assert protocol.name == name
    assert protocol.kind in ("rating", "preference", "best-worst", "questions")
    assert Protocol.from_plain(json.loads(json.dumps(asdict(protocol)))) == protocol


def test_the_scales_are_those_of_the_papers():
    duc, pht = PROTOCOLS["duc"], PROTOCOLS["pht"]
    assert len(duc.scales) == 5
    assert {tuple(o.value for o in s.options) for s in duc.scales} == {("1", "2", "3", "4", "5")}
    values = {s.key: [o.value for o in s.options] for s in pht.scales}
    assert values["factual_consistency"] == ["0", "1", "2"]
    assert values["informativeness"] == values["fluency"] == ["1", "2", "3", "4", "5"]
    assert (duc.examples, duc.judges_per_item, pht.examples) == (25, 3, 20)
    assert {p.name for p in PROTOCOLS.values() if p.shows_lead} == {
        "pht", "preference", "best-worst"
    }  # fmt: skip
