import io

from wikisum.pipeline.estimate.prefix import Prefix


def test_reading_ends_after_the_given_bytes():
    prefix = Prefix(io.BytesIO(b"0123456789"), 5)
    assert (prefix.read(3), prefix.read(3), prefix.read(3)) == (b"012", b"34", b"")
    assert prefix.read_bytes == 5


def test_lines_are_whole_and_none_begins_behind_the_end():
    prefix = Prefix(io.BytesIO(b"ab\ncd\nef\n"), 4)
    assert list(iter(prefix.readline, b"")) == [b"ab\n", b"cd\n"]
    assert prefix.read_bytes == 6


def test_a_line_does_not_begin_at_the_end():
    prefix = Prefix(io.BytesIO(b"ab\ncd\n"), 3)
    assert list(iter(prefix.readline, b"")) == [b"ab\n"]


def test_without_a_limit_all_is_read_until_it_is_ended():
    prefix = Prefix(io.BytesIO(b"0123456789"))
    assert prefix.read(4) == b"0123"
    prefix.end()
    assert prefix.read(4) == prefix.readline() == b""
    assert prefix.read_bytes == 4


def test_seeking_is_not_reading():
    prefix = Prefix(io.BytesIO(b"0123456789"), 4)
    prefix.seek(8)
    assert prefix.read(9) == b"89"
    assert prefix.read_bytes == 2
