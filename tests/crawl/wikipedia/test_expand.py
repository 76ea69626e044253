import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.expand import (
    Expander,
    Unexpandable,
    expand,
    parse,
    simple_body,
    template_key,
)


@pytest.mark.parametrize(
    ("body", "call", "text"),
    [
        ("Hello", "{{t}}", "Hello"),
        ("{{{1}}} and {{{b}}}", "{{t|x|b= y }}", "x and y"),
        ("{{{1|none}}}", "{{t}}", "none"),
        ("{{{1|none}}}", "{{t|}}", ""),
        ("{{{1}}}", "{{t| x }}", " x "),
        ("{{{2}}}{{{1}}}", "{{t|2=b|1=a}}", "ba"),
        ("{{{1}}}", "{{t|a=b=c|[[x|y]]}}", "[[x|y]]"),
        ("{{{a}}}", "{{t|a=[[x=y]]=z}}", "[[x=y]]=z"),
        ("{{#if:{{{1|}}}|yes {{{1}}}|no}}", "{{t|x}}", "yes x"),
        ("{{#if:{{{1|}}}|yes|no}}", "{{t}}", "no"),
        ("{{#ifeq:{{{1}}}|01|one|other}}", "{{t|1}}", "one"),
        ("{{#switch:{{{1}}}|a|b=first|c=second|#default=third}}", "{{t|a}}", "first"),
        ("{{#switch:{{{1}}}|a|b=first|c=second|#default=third}}", "{{t|c}}", "second"),
        ("{{#switch:{{{1}}}|a=first|last}}", "{{t|z}}", "last"),
        ("{{#expr:{{{1}}}*2}}", "{{t|21}}", "42"),
        ("{{#ifexpr:{{{1}}}>5|big|small}}", "{{t|7}}", "big"),
        ("{{lc:{{{1}}}}}", "{{t|ABC}}", "abc"),
        ("{{{{{|safesubst:}}}#if:x|kept}}", "{{t}}", "kept"),
        ("a<noinclude>doc</noinclude><includeonly>b</includeonly><!-- c -->", "{{t}}", "ab"),
        ("x<onlyinclude>y</onlyinclude>z", "{{T}}", "y"),
        ("{{t}}", "{{t}}", ""),
        ("{{other|{{{1}}}}}", "{{t|x}}", "{{other|x}}"),
        ("x", "[[a|b]] {{t}}", "[[a|b]] x"),
        ("x", "a}} b}}} {{t}}", "a}} b}}} x"),
        ("x", "{ {{t}} }", "{ x }"),
        ("{{{1}}}", "{{t|a}b}}", "a}b"),
        ("{{{1", "{{t}}", "{{{1"),
        ("ship", "{{Template:T}} and {{subst:t}}", "ship and ship"),
    ],
)
def test_expands_as_mediawiki(body, call, text):
    assert expand(call, {"T": body}) == text


def test_redirects_and_nesting():
    templates = {
        "Née": "née {{{1}}}",
        "Nee": "#REDIRECT [[Template:Née]]",
        "Outer": "({{nee|{{{1}}}}})",
    }
    assert expand("A {{outer|Smith}}.", templates) == "A (née Smith)."
    assert Expander(templates).resolve("nee") == "Née"


def test_loops_end():
    assert expand("{{a}}", {"A": "x{{b}}", "B": "y{{a}}"}) == "xy"


def test_lua_is_reported():
    with pytest.raises(Unexpandable):
        expand("{{t}}", {"T": "{{#time:Y}}"})
    assert simple_body("{{#invoke:convert|convert}}") is None
    assert simple_body("{{Navbox|a=b}}") is None


def test_growth_is_bounded():
    doubling = {f"T{i}": f"{{{{T{i + 1}}}}}" * 10 for i in range(18)} | {"T18": "x" * 100}
    start = time.process_time()
    with pytest.raises(Unexpandable):
        expand("{{T0}}", doubling)
    assert time.process_time() - start < 2


def test_names_are_folded_as_titles():
    assert template_key(" as_of<!-- x -->") == "As of"


@settings(deadline=1000)
@given(st.text("{}[]|=#:aif\n", max_size=300))
def test_any_text_is_expanded(text):
    with suppress(Unexpandable):
        expand(text, {"A": "{{{1|b}}}{{{i|}}}"})


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["{{", "{{{", "}}", "[[", "{{a|", "{{{1|", "{{a}}", "|="])
def test_parsing_takes_linear_time(piece, growth):
    assert growth(lambda count: parse(piece * count), 4000, 40_000) < 40
