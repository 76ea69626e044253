import pytest

from wikisum.crawl.extract.hints import BIT_BY_TAG, BIT_NAMES, HINTS, hints


def names(**attributes: str | None) -> set[str]:
    plain = {name.rstrip("_"): value for name, value in attributes.items()}
    bits = hints(plain)
    return {name for i, name in enumerate(BIT_NAMES) if bits >> i & 1}


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, set()),
        ({"class_": None, "id": ""}, set()),
        ({"class_": "Site-Footer"}, {"hint_footer"}),
        ({"class_": "x", "id": "sidebar"}, {"hint_side"}),
        ({"class_": "ad"}, {"hint_ad"}),  # a whole word
        ({"class_": "shadow"}, set()),  # not as a part
        ({"class_": "top_ad box-1"}, {"hint_header", "hint_ad", "hint_quote"}),
        ({"class_": "twitter-tweet"}, {"hint_embedded"}),
        ({"class_": "twitter-button"}, {"hint_share"}),
        ({"role": "navigation"}, {"nav"}),
        ({"role": "unknown"}, set()),
        ({"itemprop": "articleBody"}, {"hint_strong"}),
    ],
)
def test_hints_of_attributes(attributes, expected):
    assert names(**attributes) == expected


def test_only_the_beginning_of_a_name_is_read():
    assert names(class_="x" * 300 + "footer") == set()


def test_every_hint_is_reached_by_each_of_its_words():
    for hint, words in HINTS.items():
        for word in words.split():
            assert f"hint_{hint}" in names(class_=word.removeprefix("=")), word


def test_bits_of_tags_are_distinct_but_for_small_headings_and_cells():
    assert len(set(BIT_BY_TAG.values())) == len(BIT_BY_TAG) - 3
