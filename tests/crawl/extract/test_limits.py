import pytest

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.limits import MAX_PAGE_BYTES, check_markup, check_size


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


def test_size():
    check_size(b"x" * MAX_PAGE_BYTES)
    with pytest.raises(BadPage, match="bytes"):
        check_size(b"x" * (MAX_PAGE_BYTES + 1))
