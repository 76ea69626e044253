import pytest

from wikisum.crawl.errors import BadAnswer, BadRecord, DataError


@pytest.mark.parametrize("kind", [DataError, BadRecord, BadAnswer])
def test_an_error_reads_as_its_detail_or_else_its_reason(kind):
    assert str(kind("bad_record", "byte 7 is wrong")) == "byte 7 is wrong"
    assert str(kind("bad_record")) == "bad_record"
    assert kind("bad_record", "byte 7 is wrong").reason == "bad_record"
    assert issubclass(kind, DataError)


def test_an_error_may_name_an_offset():
    assert BadRecord("bad_record", "x", 7).offset == 7
    assert BadRecord("bad_record").offset is None


def test_an_answer_is_final_unless_it_says_otherwise():
    final = BadAnswer("http_404")
    assert (final.is_transient, final.wait_seconds) == (False, None)
    later = BadAnswer("http_503", "busy", is_transient=True, wait_seconds=2.5)
    assert (later.is_transient, later.wait_seconds) == (True, 2.5)
