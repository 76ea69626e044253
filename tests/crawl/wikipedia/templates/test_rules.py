import pytest

from wikisum.crawl.wikipedia.templates import rules
from wikisum.crawl.wikipedia.templates.rules import Call

CALL = Call("x", ["", "one", "two", ""], {"text": "given", "quote": "said", "a": "", "b": "Yes"})
NO_VALUES = Call("x", [], {"content": "inside", "text": ""})


def test_values_are_counted_from_zero_and_absent_ones_are_empty():
    assert [CALL.value(index) for index in (1, 2, 3, 4)] == ["one", "two", "", ""]


def test_the_first_named_value_that_is_not_empty():
    assert CALL.get("a", "quote", "text") == "said"
    assert CALL.get("a", "z") == ""


@pytest.mark.parametrize("word", ["y", "YES", "on", "1", "True"])
def test_words_that_switch_on(word):
    assert Call("x", [], {"lead": word}).is_on("other", "lead")


@pytest.mark.parametrize("word", ["", "n", "no", "off", "0", "2"])
def test_words_that_do_not_switch_on(word):
    assert not Call("x", [], {"lead": word}).is_on("lead")


def test_shared_shapes():
    assert rules.first(CALL) == "given"
    assert rules.first(NO_VALUES) == "inside"
    assert rules.second(CALL) == "one"
    assert rules.second(Call("x", ["only"], {})) == "only"
    assert rules.last(CALL) == "two"
    assert rules.last(Call("x", [""], {"text": "given"})) == "given"
    assert rules.joined("+")(CALL) == "one+two"
    assert rules.prefixed("<", ">")(CALL) == "<given>"
    assert rules.prefixed("No. ")(Call("x", ["5"], {})) == "No. 5"
