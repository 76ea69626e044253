import re
from itertools import chain, count, islice, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract import limits
from wikisum.crawl.extract.limits import MAX_PAGE_BYTES, check_markup, check_size


def _attributes(names: str, number: int = 20_000) -> str:
    return " ".join(f"{names}{i}" for i in range(number))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("<b>" * 1_000_000, "too_many_tags"),
        ("<div>" * 90_000, "too_deep"),
        ("<ul><li>" * 45_000, "too_deep"),
        ("<div>" * 45_000 + "</div>" * 45_000, "too_deep"),
        ("<i>x</b>" * 40_000, "too_deep"),
        ("".join(f"<b id={i}>" for i in range(15_000)), "too_many_copies"),
        ("<p>" + "".join(f"<b id={i}>" for i in range(400)) + "</p>x" * 2_000, "too_many_copies"),
        ("<p>" + "".join(f"<FONT id={i}>" for i in range(700)) + "</p>x" * 800, "too_many_copies"),
        ("<p>" + "".join(f"<u id='>{i}'>" for i in range(700)) + "</p>x" * 800, "too_many_copies"),
        ("<b>" * 3 + "<i>" * 3 + "<br>" * 90_000, "too_many_copies"),
        ("<p " + " ".join(f"a{i}=1" for i in range(60_000)) + ">", "too_many_attributes"),
        ("<p " + " ".join(f"a{i}" for i in range(60_000)), "too_many_attributes"),
        ("<p " + " ".join(f"a{i}='<'" for i in range(60_000)), "too_many_attributes"),
        ("<p " + " ".join(f'a{i}=">"' for i in range(60_000)), "too_many_attributes"),
        ("<p " + " ".join(f"a{i}<" for i in range(60_000)), "too_many_attributes"),
        ("<p " + "/".join(f"a{i}" for i in range(60_000)), "too_many_attributes"),
        ("<p " + "\v \v".join(f"a{i}" for i in range(30_000)), "too_many_attributes"),
        (("<p " + " ".join(f"a{i}" for i in range(4_000)) + ">") * 20, "too_many_attributes"),
        (f'<p a = ">" {_attributes("b")}>', "too_many_attributes"),
        (f"<p a =\n'>' {_attributes('b')}>", "too_many_attributes"),
        (f'<p \v=">" {_attributes("b")}>', "too_many_attributes"),
        (f'<p {_attributes("a", 40)} b=c="><p {_attributes("d")}">', "too_many_attributes"),
        (
            f'<script><p {_attributes("a", 40)} b="</script><p {_attributes("c")} ">',
            "too_many_attributes",
        ),
        (f"<!-- <p {_attributes('a', 40)} b='--><p {_attributes('c')} '>", "too_many_attributes"),
        ("<p " + "".join(f"a{i}=''" for i in range(60_000)), "too_many_attributes"),
        ("<a " * 20_000 + "b=1 " * 100_000, "too_many_attributes"),
        ("=" * 20_000 + "<a" * 20_000 + "x" * 4_000_000, "too_many_attributes"),
        (_attributes("<p a", 16_000) + '">' * 20_000 + _attributes("a"), "too_many_attributes"),
    ],
)
def test_endless_markup_is_refused(html, reason):
    with pytest.raises(BadPage) as caught:
        check_markup(html.encode())
    assert caught.value.reason == reason


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "",
        "<p>" * 90_000,
        "<table>" + "<tr><td>x<td>y" * 30_000,
        "<div>x</DIV>" * 45_000,
        "<p>a <b>b</b> <i class=x></i> <strong>c</strong></p>" * 5_000,
        "<p><font size='2'>a <b>b</p>" * 5_000,
        "<b>" * 5 + "<br>" * 90_000,  # at most three of the same are copied
        "<b><b><b>x</b></b></b><br>" * 10_000,
        "<p><b id=1><b id=2><b id=3>x</b></b></b></p>" * 5_000,
        "<img src='data:image/png;base64," + "A" * 1_000_000 + "'>",
        "<p title='" + "word " * 100_000 + "'>",
        "<script>" + "x = 1; " * 100_000 + "</script>",
        "a < b, " * 20_000,
        "<p class='a b' id=\"c\" hidden>x</p>" * 10_000,
        "<p " + " ".join(f"data-attribute{i}='some words'" for i in range(15_000)) + ">",
        "<p " + " ".join(f"attribute{i} = some/words=x" for i in range(15_000)) + ">",
    ],
)
def test_long_honest_markup_is_let_through(html):
    check_markup(html.encode())


def test_the_shortest_page_with_too_many_attributes_is_refused():
    """Parsers ignore a name that a tag has already, so that there must be as many names."""
    letters = [chr(code) for code in range(33, 127) if chr(code).islower() or code < 65]
    letters = [letter for letter in letters if letter not in "/>="]
    names = islice(chain.from_iterable(product(letters, repeat=n) for n in (1, 2, 3)), 16_001)
    html = "<p " + " ".join(map("".join, names)) + ">"
    assert len(html) < 62_000
    with pytest.raises(BadPage, match="attributes"):
        check_markup(html.encode())


def test_size():
    check_size(b"x" * MAX_PAGE_BYTES)
    with pytest.raises(BadPage, match="bytes"):
        check_size(b"x" * (MAX_PAGE_BYTES + 1))


PARTS = (
    "<p", "<a", "</p", ">", "/>", " ", "=", '"', "'", "\v", "/", "<", "<!--", "-->", "<script>",
    "</script>", ' a="b"', " c='d'", " e = \"f>\"", " g=h", " i", "j",
)  # fmt: skip


@given(
    parts=st.lists(st.sampled_from((*PARTS, *(" i j" * n for n in range(9)))), max_size=40),
    limit=st.integers(1, 6),
)
def test_attributes_of_a_page_that_is_let_through_are_few(parts, limit):
    """Compares with the attributes that the parser finds."""
    numbers = count()
    html = re.sub(r"\b[a-j]\b", lambda name: f"{name[0]}{next(numbers)}", "".join(parts)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MAX_ATTRIBUTES", limit)
        patch.setattr(limits, "_SOON_BYTES", 2)
        patch.setattr(limits, "_LONG_BYTES", 0)
        patch.setattr(limits, "_FEW_COPIED_TAGS", 0)
        is_let_through = _is_let_through(html)
    elements = LexborHTMLParser(html).css("*")
    squares = sum(len(element.attributes) ** 2 for element in elements)
    assert not is_let_through or squares <= limit**2


def _is_let_through(html: bytes) -> bool:
    try:
        check_markup(html)
    except BadPage:
        return False
    return True


def _part_bounds(html: str) -> list[int]:
    page = html.encode()
    may_precede = limits._may_precede_attributes(np.frombuffer(page, np.uint8))
    return [limits._bound(may_precede, part) for part in limits._parts(page, 2_000)]


@pytest.mark.parametrize("quote", ["'", '"'])
def test_parts_of_a_page_with_a_tag_that_continues_after_them(quote):
    value = f" b={quote}{'>' * 6_000}{quote} "
    assert max(_part_bounds(f"<p {value.join([_attributes('a', 450)] * 3)}>")) > 1_350
    assert max(_part_bounds(f"<p {value}{_attributes('a', 450)}>" * 3)) < 500
    assert max(_part_bounds(f"<p {_attributes('a', 800)}{value}{'c ' * 400}>")) > 1_200


@pytest.mark.parametrize(
    ("html", "total"),
    [
        ("<p a b=1 c='2 3' d = \">\" e>", 25),
        ("<p a/b/=c>", 9),
        ("<p a><br b c/>", 5),
        ("<p a='<p b c' d>", 9),  # the longer one with the same end
        ("<p a='<p b c", 144),  # may have ten more after the end
        ("1 < 2 a b", 0),
    ],
)
def test_square_sum(html, total):
    followed = len(html)
    assert limits._square_sum(html.encode(), 0, len(html), 10, 2 * followed)[0] == total


def test_square_sum_gives_up_if_tags_nest():
    html = b"<a " * 100
    assert limits._square_sum(html, 0, len(html), 0, 1_000)[0] > limits.MAX_ATTRIBUTES**2
