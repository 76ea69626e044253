import numpy as np
import pytest

from wikisum.crawl.extract.block_features import NUMBER_NAMES, features
from wikisum.crawl.extract.blocks import read_blocks

PAGE = b"""<title>The Tavin Bridge</title><body>
<div class=menu><a href=a>Home</a> <a href=b>News</a></div>
<article><h1>The Tavin Bridge</h1>
<p>The bridge was opened in 1881, and it is still in use today. Two thousand people, more or less,
cross it on every day.</p><p>Photo: Getty</p></article>
<p>Copyright 2024. All rights reserved.</p>"""
PROSE = 2  # the index of the long block


def numbers(page: bytes) -> dict[str, np.ndarray]:
    found = features(read_blocks(page)).numbers
    assert len(found) == len(NUMBER_NAMES)
    return dict(zip(NUMBER_NAMES, found, strict=True))


def test_features_by_hand():
    page = read_blocks(PAGE)
    by_name = numbers(PAGE)
    text = page.texts[PROSE]
    assert text.startswith("The bridge was opened")
    assert by_name["log_chars"][PROSE] == pytest.approx(np.log1p(len(text)))
    assert by_name["word_length"][PROSE] == pytest.approx(len(text) / len(text.split()) / 10)
    assert by_name["commas"][PROSE] == pytest.approx(0.3)
    assert by_name["sentences"][PROSE] == pytest.approx(2 / 8)
    assert list(by_name["link_density"]) == pytest.approx([8 / 9, 0, 0, 0, 0])
    assert list(by_name["title"]) == [0, 1, 0, 0, 0]
    assert list(by_name["stop"]) == [0, 0, 1, 0, 1]
    assert list(by_name["caption"]) == [0, 0, 0, 1, 0]
    assert list(by_name["furniture"]) == [0, 0, 0, 0, 1]
    assert list(by_name["legal"]) == [0, 0, 0, 0, 1]
    assert list(by_name["tag_p"]) == [0, 0, 1, 1, 1]
    assert list(by_name["place"]) == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    assert list(by_name["heading_distance"]) == pytest.approx(
        [-np.log(2), 0, np.log(2), np.log(3), np.log(4)]
    )


def test_places_around_the_densest_element_by_hand():
    by_name = numbers(PAGE)  # the densest element is the article, blocks 1 to 3 of five
    assert list(by_name["center0_inside"]) == [0, 1, 1, 1, 0]
    assert list(by_name["center1_inside"]) == [1] * 5
    expected = [-np.log(2), 0, 0, 0, np.log(2)]
    assert list(by_name["center0_distance"]) == pytest.approx(expected)
    assert list(by_name["center_place"]) == pytest.approx([0, 0.5 / 3, 1.5 / 3, 2.5 / 3, 0])
    assert list(by_name["center_prose_share"]) == [1] * 5


def test_every_feature_is_a_finite_number():
    for page in (
        PAGE,
        b"x",
        b"<p>" + b"a, " * 5000,
        "<p>橋は千八百年に開通し、今日も使う。".encode(),
    ):
        found = features(read_blocks(page))
        assert np.isfinite(found.numbers).all()
        assert np.isfinite(found.rarity).all()


def test_rarity_is_the_share_of_prose_elsewhere():
    from wikisum.crawl.extract.hints import BIT_NAMES

    found = features(read_blocks(PAGE))
    assert found.rarity[BIT_NAMES.index("article")] == pytest.approx(0.0)
    assert found.rarity[BIT_NAMES.index("hint_nav")] == pytest.approx(1.0)


def test_blocks_that_the_page_states_as_its_text():
    text = "The bridge was opened in 1881, and it is still in use today, with three tracks."
    page = f'<script type="application/ld+json">{{"articleBody": "{text} More."}}</script><body>'
    by_name = numbers(f"{page}<p>{text}</p><p>Another sentence about it, not stated.</p>".encode())
    assert list(by_name["stated"]) == [1, 0]
    assert list(by_name["stated_share"]) == pytest.approx([1, 1])  # the second block is no prose
    assert not numbers(PAGE)["stated"].any()


def test_images_before_a_block_count_up_to_three():
    assert list(numbers(b"<p>a</p>" + b"<img>" * 9 + b"<p>b</p>")["boxes"]) == [0, 3]
