from hypothesis import given
from hypothesis import strategies as st

from crawl.blocks import read_blocks
from crawl.soup import soup_text


def texts(html):
    return [block.text for block in read_blocks(html).blocks]


def test_a_block_element_is_a_block():
    html = "<div>a<p>b<i>c</i> <b>d</b></p>e<section><h2>f</h2><ul><li>g<li>h</ul></section></div>"
    assert texts(html) == ["a", "bc d", "e", "f", "g", "h"]


def test_two_line_breaks_part_paragraphs_and_one_does_not():
    assert texts("one<br>two<br>\n<br>three<br><br><br>four") == ["one two", "three", "four"]


def test_table_rows():
    html = "<table><tr><th>Year<th>Place<tr><td>1881<td>Rome<tr><td><p>a</p><p>b</p><td>c</table>"
    assert texts(html) == ["Year Place", "1881 Rome", "a", "b", "c"]


def test_long_cells_stand_alone():
    cell = "A long cell of a page that is laid out by tables. " * 4
    assert texts(f"<table><tr><td>{cell}<td>{cell}</table>") == [cell.strip()] * 2


def test_what_is_not_seen_is_left_out():
    html = """<p>seen</p><p hidden>no</p><p style="color:red;display: none">no</p><noscript>no
    </noscript><button>no</button><select><option>no</select><textarea>no</textarea>
    <p>also <span aria-hidden="true">no</span>seen</p><svg><text>no</text></svg>"""
    assert texts(html) == ["seen", "also seen"]


def test_links_are_counted():
    (block,) = read_blocks("<p>Go <a href=x>to <b>x</b></a> or <a>y</a>.</p>").blocks
    assert (block.link_chars, block.link_count) == (5, 2)


def test_elements_know_their_blocks_and_names():
    page = read_blocks("<title>T</title><div class='entry-content'><p>a</p><p>b</p></div><p>c</p>")
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
    assert [block.element for block in page.blocks] == [2, 3, 4]
    hinted = page.bits[1] & ~read_blocks("<div>a</div>").bits[1]
    assert hinted
    assert hinted == read_blocks("<div id=Entry-Content>a</div>").bits[1] & hinted


MARKUP = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "<a href=x>", "</a>", "<ul><li>", "<li>",
         "</ul>", "<br>", "<table><tr><td>", "<td>", "</table>", " ", "word", "a", "<h1>", "</h1>",
         "<!-- x -->", "&amp;", "<nav>", "</nav>", "<form>", "<script>x</script>", "\n"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


@given(MARKUP)
def test_blocks_lie_inside_their_elements(html):
    page = read_blocks(html)
    assert len(page.parents) == len(page.bits) == len(page.tags)
    for i, block in enumerate(page.blocks):
        assert 0 <= block.link_chars <= len(block.text)
        element = block.element
        while element >= 0:
            assert page.starts[element] <= i < page.ends[element]
            element = page.parents[element]


@given(MARKUP)
def test_no_text_is_lost_or_made(html):
    ours = "".join("".join(texts(html)).split())
    soup = "".join("".join(soup_text(html)[1]).split())
    assert sorted(ours) == sorted(soup)
