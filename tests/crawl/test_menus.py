import pytest

from wikisum.crawl.menus import has_german, is_menu, is_path, is_share_bar, is_title


def test_links_to_social_networks():
    assert is_share_bar(
        "Winter storm until Friday Email Facebook Twitter LinkedIn Reddit Show more"
    )
    assert is_share_bar("share with FacebookTwitterPinterest")
    assert not is_share_bar("Apps such as Facebook, Twitter, and Pinterest are made to be used.")
    assert not is_share_bar("She left Facebook for Twitter, and neither of them was sold in 2010.")


def test_menus_are_runs_of_capitalized_words():
    menu = (
        "Markets Markets Deals Odd Lots The FIX Fixed Income ETFs FX Factor Investing Alternative "
        "Investing Economic Calendar Markets Magazine UK Markets Today."
    )
    assert is_menu(menu)
    assert not is_menu(menu[:90])
    assert not is_menu(
        "The British Empire controlled Burma, India, and the Malay Peninsula in Asia, and the "
        "Dutch controlled the Netherlands East Indies, Polynesia (Tahiti), and New Caledonia."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Feast of the Queenship of Our Blessed Mother in the Most Holy Divine Will!",
        "Iron Bridge Raid, Tavin, N.N., 1969.",
        "2023: Cannes Film Festival: nominated to Golden Palm: Best Picture.",
        "09:00 Friday 22nd November to 09:00 Saturday 30th November",
    ],
)
def test_titles_have_capitals_and_no_verb(text):
    assert is_title(text)


@pytest.mark.parametrize(
    "text",
    [
        "The Iron Bridge of Tavin was built by Ada Holm in New Norland.",  # a verb
        "The Iron Bridge carried trains over the river Tavin until the line closed.",
        "Die Vorfahren Ada Holms stammten aus dem Tal der Tavin.",  # German nouns
        "Bridge of Tavin and Norland.",  # too few words with a capital
        "^ Holm, Ada (1999). Iron Bridges. Tavin University Press.",  # a note
        "また、サービスが利用者の情報を守るためにTrend Micro Smart Protection "
        "Networkによって提供されている。",
        " ".join(["Iron Bridge"] * 16),  # 32 words
        "",
    ],
)
def test_sentences_notes_and_german_are_no_titles(text):
    assert not is_title(text)


def test_german_is_told_by_its_small_words():
    assert has_german(["Brücke"] * 19 + ["Der"])
    assert not has_german(["Brücke"] * 20 + ["der"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Home » Sights » Bridge of Tavin The bridge is old.", True),
        ("News›India›Cases in the courts", True),
        ("Home | News | Sport", True),
        ("The town » Tavin « has a bridge » Holm « of iron.", False),
        ("Home » Sights", False),
        ("The bridge is old. Home » Sights » Bridge", False),
        ("if a > b > c then", False),
    ],
)
def test_paths_to_pages(text, expected):
    assert is_path(text) is expected
