import pytest

from wikisum.crawl.menus import dated_entries, has_german, is_menu, is_path, is_share_bar


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


def test_german_is_recognized_by_common_words():
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
        ("News / World / Bridges / Old bridge of Tavin is closed.", True),
        ("Ada Holm / Karl Berg wrote it and / or / else.", False),
        ("The bridge is old. Home » Sights » Bridge", False),
        ("if a > b > c then", False),
        ("In value, Gold > Silver > Bronze, as in most of the games.", False),
        ("Works: Songs | Operas | Ballets were all written in Tavin.", False),
    ],
)
def test_paths_to_pages(text, expected):
    assert is_path(text) is expected


def test_entries_with_three_different_dates():
    lines = ["8/14 Vigil of the town.", "It rained.", "8/15/12 Feast of the town.", "11/01 Fair."]
    assert dated_entries(lines, range(4)) == {0, 2, 3}
    assert dated_entries(lines, [0, 1, 2]) == set()


def test_the_same_date_and_fractions_are_no_entries():
    assert not dated_entries(["9/11 Memorial.", "9/11 Museum.", "9/11 Commission."], range(3))
    assert not dated_entries(["1/2 cup of milk.", "1/3 cup of oil.", "1/4 cup of rum."], range(3))
    assert not dated_entries(["3/4 Time is common.", "6/8 Time is old.", "2/4 Time."], range(3))
    assert not dated_entries(["13/1 Fair.", "8/32 Feast.", "24/7 Vigil.", "0/3 Lent."], range(4))
