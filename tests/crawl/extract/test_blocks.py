import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.blocks import read_blocks
from wikisum.crawl.extract.hints import BIT_BY_TAG
from wikisum.crawl.extract.soup import soup_text


def texts(html):
    return read_blocks(html.encode()).texts


def test_a_block_element_is_a_block():
    html = "<div>a<p>b<i>c</i> <b>d</b></p>e<section><h2>f</h2><ul><li>g<li>h</ul></section></div>"
    assert texts(html) == ["a", "bc d", "e", "f", "g", "h"]


def test_two_line_breaks_part_paragraphs_and_one_does_not():
    assert texts("one<br>two<br>\n<br>three<br><br><br>four") == ["one two", "three", "four"]


def test_table_rows():
    html = """<table><caption>Bridges</caption><tr><th>Year<th>Place<tr><td>1881<td><a>Rome</a>
    <tr><td><p>1902</p><td><div>Oslo</div><td><tr><td><p>a</p><p>b</p><td>c</table>"""
    assert texts(html) == ["Bridges", "Year Place", "1881 Rome", "1902 Oslo", "a", "b", "c"]
    assert read_blocks(html.encode()).link_counts == [0, 0, 1, 0, 0, 0, 0]


def test_a_row_of_which_one_cell_is_long_is_one_block():
    long = "What is known of the bridge and of its builders. " * 4
    assert texts(f"<table><tr><td>1881<td>{long}</table>") == [f"1881 {long}".strip()]


def test_tables_in_tables():
    inner = "<table><tr><td>a<td>b<tr><td>c<td>d</table>"
    assert texts(f"<table><tr><td>{inner}<td>e</table>") == ["a b", "c d", "e"]


def test_long_cells_stand_alone():
    cell = "A long cell of a page that is laid out by tables. " * 4
    assert texts(f"<table><tr><td>{cell}<td>{cell}</table>") == [cell.strip()] * 2


def test_what_is_not_seen_is_left_out():
    html = """<p>seen</p><p hidden>no</p><p style="color:red;display: none">no</p><noscript>no
    </noscript><button>no</button><select><option>no</select><textarea>no</textarea>
    <p>also <span aria-hidden="true">no</span>seen</p><svg><text>no</text></svg><!-- no -->
    <template><p>no</p></template><dialog open>no</dialog><script>no</script><style>no</style>
    <iframe>no</iframe><noscript><p>no</p></noscript><p style="visibility : hidden">no</p>"""
    assert texts(html) == ["seen", "also seen"]


def test_menus_asides_and_footers_are_left_out():
    html = """<nav>no</nav><p>seen</p><aside><p>no</p></aside><footer>no</footer>
    <div role=navigation>no</div><div role="contentinfo">no</div><div role=main>main</div>"""
    assert texts(html) == ["seen", "main"]


def test_a_page_that_has_hardly_anything_else_is_taken_whole():
    text = "A sentence that a script is to show. " * 40
    assert texts(f"<p>Loading</p><div style='display:none'>{text}</div>")[1] == text.strip()
    assert texts(f"<footer><p>{text}</p></footer>") == [text.strip()]
    assert texts("<p>Loading</p><div hidden>Not much</div>") == ["Loading"]


def test_words_are_glued_by_inline_tags_alone():
    assert texts("<p>in<b>ter</b>na<i>tio</i>nal <a>li</a>nk<wbr>ed<!-- x -->in</p>") == [
        "international linkedin"
    ]
    assert texts("a<br>b<img>c<button>x</button>d<input>e<p>f") == ["a b c d e", "f"]
    assert texts("<ul><li>a</li><li>b<ul><li>c</ul></ul><dl><dt>d<dd>e</dl>") == list("abcde")


def test_headings_stand_apart():
    assert texts("<h1>a</h1>b<h2>c</h2><p>d</p><h6>e</h6>f") == list("abcdef")


def test_markup_is_mended_as_browsers_do():
    assert texts("<p>a<div>b</p>c") == ["a", "b", "c"]
    assert texts("<table>a<tr><td>b</table>") == ["a", "b"]
    assert texts("<b><p>a</b>b</p>&lt;i&gt; &eacute;&#233; &nbsp;x") == ["ab", "<i> éé x"]
    assert texts("<title>t</title><li>a<li>b<textarea><p>no") == ["a", "b"]


def test_links_are_counted():
    page = read_blocks(b"<p>Go <a href=x>to <b>x</b></a> or <a>y</a>.</p>")
    assert (page.link_chars, page.link_counts) == ([5], [2])


def test_images_count_for_the_block_after_them():
    page = read_blocks(b"<img><p>a<img></p><p><svg></svg></p><p>b</p><p>c</p>")
    assert (page.texts, page.box_counts) == (["a", "b", "c"], [2, 1, 0])


def test_elements_know_their_blocks_and_names():
    page = read_blocks(b"<title>T</title><div class='entry-content'><p>a</p><p>b</p></div><p>c</p>")
    assert page.title == "T"
    assert page.tags == ["body", "div", "p", "p", "p"]
    assert page.parents == [-1, 0, 1, 1, 0]
    assert list(zip(page.starts, page.ends, strict=True)) == [
        (0, 3),
        (0, 2),
        (0, 1),
        (1, 2),
        (2, 3),
    ]
    assert page.elements == [2, 3, 4]
    assert page.bits[3] == page.bits[1] | BIT_BY_TAG["p"]
    assert page.bits[4] == page.bits[0] | BIT_BY_TAG["p"]


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<a href=x>", "</a>", "<ul><li>", "<li>",
         "</ul>", "<br>", "<table><tr><td>", "<td>", "</table>", " ", "word", "a", "<h1>", "</h1>",
         "<!-- x -->", "&amp;", "<form>", "<script>x</script>", "\n"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@pytest.mark.slow
@given(MARKUP)
def test_blocks_lie_inside_their_elements(html):
    page = read_blocks(html.encode())
    assert len(page.parents) == len(page.bits) == len(page.tags)
    rows = zip(page.texts, page.link_chars, page.elements, strict=True)
    for i, (text, link_chars, element) in enumerate(rows):
        assert 0 <= link_chars <= len(text)
        while element >= 0:
            assert page.starts[element] <= i < page.ends[element]
            element = page.parents[element]


@pytest.mark.slow
@given(MARKUP)
def test_no_text_is_lost_or_made(html):
    html = f"<body>{html}"  # where none begins, the other parser may lose a cell without a table
    ours = "".join("".join(texts(html)).split())
    soup = "".join("".join(soup_text(html.encode())[1]).split())
    assert sorted(ours) == sorted(soup)
