import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tfrecords import example
from wikisum.crawl.errors import BadRecord
from wikisum.crawl.original.tf_example import bytes_features

# url, section_texts, an int64 list `n` and a float list `f`, as the package `tfrecord` writes them
GOLDEN = bytes.fromhex(
    "0a4d0a140a0375726c120d0a0b0a09687474703a2f2f782f0a0a0a016e12051a030a01070a0d0a016612081206"
    "0a040000003f0a1a0a0d73656374696f6e5f746578747312090a070a01610a02c3a9"
)


def test_a_message_that_another_program_wrote():
    found = bytes_features(GOLDEN)
    assert found == {"url": [b"http://x/"], "n": [], "f": [], "section_texts": [b"a", b"\xc3\xa9"]}


@pytest.mark.slow
@given(st.dictionaries(st.text(max_size=200), st.lists(st.binary(max_size=300), max_size=4)))
def test_features_come_out_as_they_went_in(features):
    assert bytes_features(example(features)) == features


def test_the_last_of_one_name_counts():
    assert bytes_features(example({"a": [b"1"]}) + example({"a": [b"2"]})) == {"a": [b"2"]}


@pytest.mark.parametrize("data", [GOLDEN[:-1], b"\x0a\xff", b"plain text", b"\x0a\x02\x0a\x05"])
def test_what_is_no_message(data):
    with pytest.raises(BadRecord, match=r"not a tensorflow\.Example") as result:
        bytes_features(data)
    assert result.value.reason == "bad_example"
