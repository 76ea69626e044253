"""Recognize menus, paths to pages and rows of links by form, not by what they say."""

import re
from collections.abc import Sequence

MAX_MENU_CHARS = 400
MIN_MENU_WORDS = 20
MIN_MENU_SHARE = 0.75  # of words with a capital
WORDS_PER_GERMAN = 20  # at most, in German text
_GERMAN_WORDS = """der die das dem des und ein eine einen einem einer im vom zum zur für mit auf aus
bei nach sich nicht durch über"""
_GERMAN = frozenset(_GERMAN_WORDS.split())
_PATH = re.compile(r"[^.,;:!?«»›>|]{2,40}(?:(?: [»>|] ?|›)(?=[A-Z])[^.,;:!?«»›>|]{2,40}){2}")
_SLASH_PATH = re.compile(
    r"(?:Home|News|Start|Index|Blog|Sports?|World|Business)(?: / [A-Z][\w& ]{1,20}){2}"
)
_DATED = re.compile(r"((?:0?[1-9]|1[0-2])/(?:[12]\d|3[01]|0?[1-9]))(?:/\d{2,4})? (?=[^\W\d_a-z])")
MIN_DATES = 3
MONTHS = 12
_NETWORK = r"(?:Facebook|Twitter|LinkedIn|Instagram|YouTube|Reddit|Pinterest|WhatsApp|Tumblr)"
_SHARE_BAR = re.compile(rf"{_NETWORK}(?:[^,]{{0,20}}?{_NETWORK}){{2}}", re.IGNORECASE)
_SHARE_KEYS = ("acebook", "witter", "FACEBOOK", "TWITTER")  # a quick check


def is_menu(paragraph: str) -> bool:
    """Return whether three quarters of at least 20 words begin with a capital, as in menus.

    Only the first 400 characters are looked at.

    >>> is_menu("Stocks Deals The FIX Fixed Income Funds Economic Calendar Markets Today " * 2)
    True
    """
    if paragraph.count(" ") < MIN_MENU_WORDS - 1:
        return False
    capitals, count = capital_counts(paragraph[:MAX_MENU_CHARS].split())
    return count >= MIN_MENU_WORDS and capitals >= MIN_MENU_SHARE * count


def capital_counts(words: Sequence[str]) -> tuple[int, int]:
    """Return how many words begin with a capital letter, and how many with any letter.

    >>> capital_counts(["The", "river", "Tavin", "1881"])
    (2, 3)
    """
    initials = [word[0] for word in words if word[0].isalpha()]
    return sum(map(str.isupper, initials)), len(initials)


def has_german(words: Sequence[str]) -> bool:
    """Return whether at least one word in 20 is a common German word.

    German capitalizes all nouns, so capitals do not indicate a menu there.

    >>> has_german("Der Bau der Brücke".split()), has_german("The bridge at Tavin".split())
    (True, False)
    """
    return sum(word.lower() in _GERMAN for word in words) * WORDS_PER_GERMAN >= len(words)


def is_path(paragraph: str) -> bool:
    """Return whether a paragraph begins with the path to a page, as in "Home › News › Bridge".

    >>> is_path("Home » Sights » Bridge of Tavin"), is_path("The bridge » Tavin « is old.")
    (True, False)
    """
    return bool(_PATH.match(paragraph) or _SLASH_PATH.match(paragraph))


def dated_entries(lines: Sequence[str], kept: Sequence[int]) -> set[int]:
    """Return which of the lines `kept` begin with a date in digits, if these are three dates.

    The day of one of them must be over 12.
    Such lines are entries of a calendar or a list of posts.

    >>> sorted(dated_entries(["8/14 Vigil.", "8/15 Feast.", "It was.", "9/1/12 Fair."], range(4)))
    [0, 1, 3]
    """
    dates = {i: match[1] for i in kept if (match := _DATED.match(lines[i]))}
    if len(set(dates.values())) < MIN_DATES:
        return set()
    # otherwise they may be fractions or times of music
    is_date = any(int(date.partition("/")[2]) > MONTHS for date in dates.values())
    return set(dates) if is_date else set()


def is_share_bar(paragraph: str) -> bool:
    """Return whether three social networks are named in a row without commas, as links to them do.

    Facebook or Twitter must be among those of the paragraph.
    """
    if not any(key in paragraph for key in _SHARE_KEYS):
        return False
    return bool(_SHARE_BAR.search(paragraph))
