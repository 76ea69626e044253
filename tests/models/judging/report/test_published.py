from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.report.published import PUBLISHED


def test_each_protocol_has_its_published_results():
    assert PUBLISHED.keys() == PROTOCOLS.keys()
    for published in PUBLISHED.values():
        assert len({len(row) for row in published.rows}) <= 1
        assert published.source
    head = PUBLISHED["duc"].rows[0][1:]
    assert head == tuple(scale.label for scale in PROTOCOLS["duc"].scales)
    assert PUBLISHED["questions"].rows[4] == ("HT", "54.11")
