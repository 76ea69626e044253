import pytest

from wikisum.crawl.extract.stated_text import MAX_CHARS, stated_text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('{"articleBody": "One two."}', "Onetwo."),
        (r'{"articleBody" : "A \"quoted\" word\nand \u00e9 \/."}', 'A"quoted"wordandé/.'),
        ('{"articleBody": "<p>One &amp; two</p>"}', "One&two"),
        ("no text is stated", ""),
        ('<div itemprop="articleBody">', ""),
        ('{"articleBody": 7}', ""),
        ('{"articleBody": "never closed', ""),
        (r'{"articleBody": "\x"}', ""),  # no JSON
        ('{"articleBody": "&#' + "9" * 5_000 + ';"}', ""),
    ],
)
def test_stated_text(html, expected):
    assert stated_text(html.encode()) == expected


def test_a_long_text_is_cut():
    assert len(stated_text(b'{"articleBody": "%b"}' % (b"x" * 2 * MAX_CHARS))) == MAX_CHARS


@pytest.mark.parametrize("part", ['"articleBody":"', "\\", '"articleBody" : "\\"', "<", "&"])
def test_hostile_pages_end(part):
    page = ('{"articleBody": "' + part * (8_000_000 // len(part))).encode()
    assert not stated_text(page)
    assert len(stated_text(page + b'"}')) <= MAX_CHARS
