import io
import struct

import pytest

from tests import tfrecords
from wikisum.crawl.errors import BadLine, BadRecord
from wikisum.pipeline.corpora.cnndm import read_chunk, row_entry, story_entry, story_key
from wikisum.pipeline.corpora.entry import Entry, SourceText

ARTICLE, ABSTRACT = "a storm hit . it left .", "<s> storm hits . </s> <s> it leaves . </s>"


def chunk(*pairs: tuple[str, str]) -> bytes:
    """A chunk as the code published with See et al. 2017 writes it."""
    out = b""
    for article, abstract in pairs:
        data = tfrecords.example({"article": [article.encode()], "abstract": [abstract.encode()]})
        out += struct.pack("<q", len(data)) + data
    return out


def read(data: bytes) -> list:
    return list(read_chunk("test_000.bin", io.BytesIO(data)))


def test_a_chunk_is_lengths_and_examples_with_marked_sentences():
    data = chunk((ARTICLE, ABSTRACT), ("b .", "no marks"))
    second = 8 + struct.unpack("<q", data[:8])[0]
    assert read(data) == [
        (0, Entry("", " storm hits . \n it leaves . ", [SourceText(ARTICLE)])),
        (second, Entry("", "no marks", [SourceText("b .")])),
    ]


@pytest.mark.parametrize("kept", [4, 8, 20, 100])
def test_a_cut_chunk_gives_what_is_whole_and_says_where_it_ends(kept):
    whole = chunk((ARTICLE, ABSTRACT))
    data = whole + chunk((ARTICLE, ABSTRACT))[:kept]
    (_, entry), (offset, error) = read(data)
    assert isinstance(entry, Entry)
    assert (offset, error.reason, error.offset) == (len(whole), "truncated_file", len(whole))
    assert str(error) == f"test_000.bin ends within the example at byte {len(whole)}"


def test_a_wrong_length_ends_the_chunk():
    for length in (0, -1, 1 << 40):
        ((offset, error),) = read(struct.pack("<q", length) + bytes(100))
        assert (offset, error.reason) == (0, "bad_example")


def test_data_that_is_no_example_costs_only_itself():
    data = struct.pack("<q", 5) + b"\xff" * 5 + chunk((ARTICLE, ABSTRACT))
    (_, error), (offset, entry) = read(data)
    assert isinstance(error, BadRecord)
    assert error.reason == "bad_example"
    assert (offset, type(entry)) == (13, Entry)


def test_a_story_has_its_highlights_at_the_end():
    text = (
        "LONDON (CNN) -- A storm hit.\n\nIt left.\n\n@highlight\n\nStorm hits\n\n@highlight\nGone\n"
    )
    entry = story_entry(text)
    assert entry.summary == "Storm hits\nGone"
    assert entry.documents == [SourceText("LONDON (CNN) -- A storm hit.\n\nIt left.\n\n")]
    assert story_entry("No highlights, but an @highlight in text.").summary == ""


def test_the_name_of_a_story_is_the_hash_of_its_url():
    assert story_key("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d"  # FIPS 180, SHA-1


def test_a_row_has_article_and_highlights():
    row = {"article": "A.", "highlights": "B.\nC.", "id": "17"}
    assert row_entry(row) == Entry("", "B.\nC.", [SourceText("A.")], "17")
    with pytest.raises(BadLine, match="'highlights' is missing, not text"):
        row_entry({"article": "A."})
    with pytest.raises(BadLine, match="'article' is int, not text"):
        row_entry({"article": 3, "highlights": ""})
