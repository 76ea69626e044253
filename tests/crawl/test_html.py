import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl import html
from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import EXTRACTORS, extract_paragraphs, read_page

PAGE = b"""<!DOCTYPE html><html><head><title>A
 title &lt; b</title><style>p{}</style></head><body>
<script>var x = "<p>no</p>";</script><noscript>no</noscript><template><p>no</p></template>
<p>One sen<b>ten</b>ce with <a href=x>a link</a>.<br>Same&nbsp;paragraph &amp; more</p>tail
<ul><li>first<li>second</ul><table><tr><td>a</td><th>b</th></tr></table>
<div hidden>no</div><div style="display : none">no</div><span aria-hidden="true">no</span>
<!-- no --><pre>kept  text</pre></body></html>"""


def test_soup_gives_one_paragraph_a_block():
    assert extract_paragraphs(PAGE, extractor="soup") == [
        "One sentence with a link. Same paragraph & more",
        "tail",
        "first",
        "second",
        "a b",
        "kept text",
    ]


def test_fast_gives_the_same_of_a_page_without_furniture():
    assert extract_paragraphs(PAGE) == extract_paragraphs(PAGE, extractor="soup")
    assert read_page(PAGE, None, "html", "fast").title == "A title < b"


def test_trafilatura_is_optional(monkeypatch):
    monkeypatch.setattr(html, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'wikisum\[trafilatura\]'"):
        extract_paragraphs(PAGE, extractor="trafilatura")


def test_page_has_title_and_lines_of_text():
    assert read_page(PAGE, None, "html", "soup").title == "A title < b"
    page = read_page(b"one\n\n  two  \n", None, "text", "soup")
    assert (page.title, page.paragraphs) == ("", ["one", "two"])


@pytest.mark.parametrize(
    ("payload", "kind", "reason"),
    [
        (b"", "html", "no_text"),
        (b"<html><script>x</script>", "html", "no_text"),
        (b" \n ", "text", "no_text"),
        (b"x" * (17 << 20), "html", "page_too_large"),
        (b"x" * (9 << 20), "html", "page_too_large"),
        (b"<b>" * 200_000, "html", "too_many_tags"),
    ],
)
def test_pages_without_use_are_refused(payload, kind, reason):
    with pytest.raises(BadPage) as caught:
        read_page(payload, None, kind, "soup")
    assert caught.value.reason == reason


def test_unknown_extractor_is_named():
    with pytest.raises(ValueError, match="'magic'; choose from fast, soup, trafilatura"):
        extract_paragraphs(PAGE, extractor="magic")


BLOCKS = st.sampled_from(
    ["<p>{}</p>", "<p>{}", "<div>{}</div>", "<h2>{}</h2>", "<ul><li>{}</ul>", "<ol><li>{}</ol>",
     "<blockquote>{}</blockquote>", "<table><tr><td>{}</table>", "<section><div>{}</div></section>"]
)  # fmt: skip
WORDS = st.sampled_from(
    [("word", "word"), ("wo<b>rd</b>", "word"), ("<a href=x>li<i>nk</i></a>", "link"),
     ("<span>&eacute;t&#233;</span>", "été"), ("&lt;b&gt;", "<b>"), ("<em> in </em>", "in"),
     ("a<!-- no -->b<wbr>c", "abc"), ("<i>o<b>pen</i></b>", "open"), ("x</i>y", "xy")]
)  # fmt: skip
SPACES = st.sampled_from([" ", "\n\t", "<br>", " <br/>\n", "&nbsp;", " <b> </b>", "<img src=x>"])
LEFT_OUT = st.sampled_from(
    ["", "<noscript><p>no</p></noscript>", "<p hidden>no</p>", "<nav><a href=x>no</a></nav>",
     "<form><label>no</label><input></form>", "<div id=cookie-consent><p>no</p></div>",
     "<script>no</script>", "<div style='display:none'>no</div>", "<select><option>no</select>",
     "<footer>no</footer>", "<aside>no</aside>", "<template>no</template>"]
)  # fmt: skip


@st.composite
def pages(draw):
    """(HTML, its paragraphs): blocks of words in inline markup, and one piece that is left out."""
    htmls, texts = [], []
    for block in draw(st.lists(BLOCKS, min_size=2, max_size=6)):
        words = draw(st.lists(WORDS, min_size=1, max_size=4))
        space = draw(SPACES)
        htmls.append(block.format(space.join(html for html, _ in words)))
        texts.append(" ".join(text for _, text in words))
    htmls.insert(draw(st.integers(0, len(htmls))), draw(LEFT_OUT))
    return "".join(htmls), texts


@pytest.mark.slow
@given(pages())
def test_paragraphs_are_the_blocks_in_order(page):
    html, texts = page
    assert extract_paragraphs(html.encode()) == texts


@pytest.mark.slow
@pytest.mark.parametrize("extractor", sorted(EXTRACTORS))
@pytest.mark.parametrize(
    "page",
    [
        b"<p>nul\x00 and \xff\xfe &#xD800; &#0; &bogus; </p></p></div>",
        b"<p " + b" ".join(b"a%d=1" % i for i in range(3_000)) + b">many",
        b"<div>" * 5_000 + b"deep",
        b"<" * 50_000,
        b"<table><p>x</table></td></tr>",
        b"<frameset><frame></frameset>",
        b"<plaintext><p>x",
        b"<!--" * 1000,
        b"<html hidden><body style='display:none'><p>shown by a script",
    ],
)
def test_hard_pages_are_survived(extractor, page):
    for paragraph in extract_paragraphs(page, extractor=extractor):
        paragraph.encode("utf-8")
        assert "\0" not in paragraph


@given(
    st.binary(max_size=300) | st.text(alphabet="<>/apdiv=\"' &;#\n", max_size=200).map(str.encode)
)
def test_any_bytes_give_folded_paragraphs(payload):
    for extractor in ("fast", "soup"):
        for paragraph in extract_paragraphs(payload, extractor=extractor):
            assert paragraph == " ".join(paragraph.split())
            assert paragraph


def test_plain_text_has_no_limit_of_its_own():
    """A WET page of 15.2 MiB is below the default of --max-page-bytes."""
    line = b"The bridge over the river was built of iron in 1890 by a company of the town.\n"
    page = read_page(line * (16_000_000 // len(line)), None, "text", "fast")
    assert sum(map(len, page.paragraphs)) > 15 << 20
