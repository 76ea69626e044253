from wikisum.pipeline.locate.keys import Lookup
from wikisum.pipeline.locate.reader import by_key


def test_lookups_with_one_key_come_together_in_order():
    lookups = [Lookup("a", "u1", "w"), Lookup("a", "u2", "w"), Lookup("b", "u3", "w")]
    assert list(by_key(iter(lookups))) == [("a", lookups[:2]), ("b", lookups[2:])]
    assert list(by_key([])) == []
