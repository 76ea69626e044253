import pytest

from benchmarks.wet_text import wet_text
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.warc.warc import PageRecord, read_captures


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One <b>bo</b>ld<p>word.", "One bold\nword."),
        ("<tr><td>Iron<td>1881<tr><td>Steel", "Iron 1881\nSteel"),
        ("a<br>b<img>c<li>d<span>e</span>f", "a\nb c\ndef"),
        ("<style>p {}</style>x<script>if (a < b) {}</script>y", "xy"),
        ("<pre>one\ntwo</pre>three\nfour", "one\ntwo\nthree four"),
        ("<nav><a>Home</a><a>News</a></nav><footer>&copy; 2020", "HomeNews\n© 2020"),
    ],
)
def test_by_hand(html, text):
    assert wet_text(html) == text


def test_a_page_has_the_lines_of_common_crawls_file(real_data):
    texts = []
    for name in ("commoncrawl-one-record.warc.gz", "commoncrawl-one-record.warc.wet.gz"):
        with (real_data / name).open("rb") as raw:
            (page,) = (item for item in read_captures(raw) if isinstance(item, PageRecord))
        texts.append(to_utf8(page.payload, page.charset).decode())
    expected = [" ".join(line.split()) for line in texts[1].splitlines()]
    assert wet_text(texts[0]).splitlines() == expected
