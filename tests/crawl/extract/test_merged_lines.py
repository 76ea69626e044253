import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.merged_lines import (
    MIN_WORDS,
    cut_furniture,
    split_glued,
    split_menus,
)

MENU = " ".join(["Home News Sports Weather Travel Books Music Film Games Cars"] * 3)
TEXT = (
    "The iron bridge over the river was opened in 1881, and it was for eleven years the longest "
    "arch in the country. Trains ran over it until the line was closed by Mr. Penrose."
)


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        (f"{MENU} {TEXT}", [MENU, TEXT]),
        (f"{TEXT} {MENU}", [TEXT, MENU]),
        (f"{TEXT} {MENU} {TEXT}", [TEXT, MENU, TEXT]),
        (f"{TEXT} {TEXT}", [f"{TEXT} {TEXT}"]),
        (MENU, [MENU]),  # under 40 words
    ],
)
def test_menus_are_cut_out(line, pieces):
    assert split_menus(line) == pieces


def test_a_title_or_a_list_of_names_in_a_sentence_is_no_menu():
    title = "Detroit Tigers Dominate the 1984 MLB Season"
    names = (
        "by Anna Bell, Carl Dorn, Emil Frey, Gina Hall, Ivan Jung, Karl Lund, Mia Noor, Otto Penn"
    )
    line = f"{title} {TEXT} It was built {names}, and Quin Rose, who lived there for many years."
    assert len(line.split()) > MIN_WORDS
    assert split_menus(line) == [line]


def test_scripts_without_case_have_no_menus():
    line = "A 그런데 B 이런 C 대중들의 D " + "반응 때문이었을까 " * 30 + "Kim Lee Park Choi"
    assert split_menus(line) == [line]


@given(st.lists(st.sampled_from(["Home", "News", "the", "river,", "was."]), max_size=120))
def test_no_word_is_lost(words):
    assert " ".join(split_menus(" ".join(words))).split() == words


NEWS = (
    "The backlog was almost 60,000 cases in 2019, and three years later it was larger than ever "
    "before in the history of the court, as the ministry said in a written reply to a question "
    "that had been asked in March"
)


@pytest.mark.parametrize(
    "parts",
    [
        [f"{NEWS}.", "The Nittany Lions won."],
        [f"{NEWS}.", '"She was protective (of me)," Deborah said.'],
        [f'It said "{NEWS}."', "The others did not."],
        [f"“{NEWS}.”", "Read more about it"],
        [f"{NEWS} on November 26 2002", "Mr Prescott tells the House"],
        ["The Drivers of the Conflict", f"The conflict grew. {NEWS}."],
        ["★ 2019-11-11", f"A bizarre murder was solved. {NEWS}."],
        [f"{NEWS} today. Read more", "Contact us at any time", "Address of the hotel"],
    ],
)
def test_glued_lines_are_cut_where_they_meet(parts):
    assert split_glued("".join(parts)) == parts


@pytest.mark.parametrize(
    "line",
    [
        f"{NEWS} by the McArthur family on YouTube and of an iPhone in the DeLorean.",
        f"{NEWS} on LinkedIn of a Radeon Pro 5500M with 96W and of the SLG46620V in it.",
        f"{NEWS} of the admiral d’Argenlieu, who used the remoteStorage of the ship.",
        f"{NEWS}. The grid of the country runs at 50Hz and is 300Km long, with 100Mbit of data.",
        "Read moreContact usAbout",  # under 40 words
    ],
)
def test_names_with_a_capital_inside_stay_whole(line):
    assert split_glued(line) == [line]


@given(st.lists(st.sampled_from(["read", "more", "Contact", '"The', "was.", "1999", " "])))
def test_no_character_is_lost_between_glued_lines(words):
    line = "".join(words)
    assert "".join(split_glued(line)).replace(" ", "") == line.replace(" ", "")


MENU_SENTENCE = (
    "Home Sights Bridge of Tavin Categories Old Towns Tags History Share Ada Holm is an engineer "
    "from Tavin Norland and wrote many books on iron Contact Shop Tours the Iron Bridge of Tavin "
    "which is one of the Sights of New Norland and the Old Town and is open to all visitors."
)


@pytest.mark.parametrize(
    "sentence",
    [
        MENU_SENTENCE,
        "Read More » Dunoon gains gold in the race on the river of the town.",
        "RELATED STORIES about the river and the bridges of the town.",
        "Read alsoThe bridge over the river of the town is closed.",
        "The link Opens in a new window of the browser of your choice.",
        "Please read our cookie policy before you go on.",
        "Show it on Facebook Twitter Pinterest or tell a friend.",
        "You are here: Home › Sights › Bridge and more.",
    ],
)
def test_sentences_that_hold_furniture_are_cut(sentence):
    assert cut_furniture(f"{TEXT} {sentence} {TEXT}") == f"{TEXT} {TEXT}"


@pytest.mark.parametrize(
    "paragraph",
    [
        f"{TEXT} {TEXT}",
        "Please read our cookie policy before you go on.",  # short: judged as a whole elsewhere
        f'{TEXT} {TEXT} She pressed "Read More" and went on with her life in the town.',
        MENU_SENTENCE.replace(" ", ", "),  # a list
        MENU_SENTENCE.replace(" ", "; "),
        f"Der Bau der Brücke mit dem Tor {MENU_SENTENCE}",
    ],
)
def test_prose_lists_and_german_are_not_cut(paragraph):
    assert cut_furniture(paragraph) == paragraph


def test_nothing_is_left_where_a_third_of_the_sentences_is_furniture():
    button = "Read More about the bridge over the river."
    prose = "Trains ran over the iron bridge until the line was closed by the state."
    assert cut_furniture(" ".join([prose] * 7 + [button] * 3)) == " ".join([prose] * 7)
    assert cut_furniture(" ".join([prose] * 6 + [button] * 3)) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Download Free PDFDownload Free PDFThe bridges of the valley were built of iron.",
        "Why you can trust SCMP The bridges of the valley were built of iron.",
    ],
)
def test_buttons_that_are_glued_to_the_next_word(sentence):
    assert cut_furniture(f"{TEXT} {sentence} {TEXT}") == f"{TEXT} {TEXT}"


def test_a_path_with_slashes_is_cut_at_the_beginning():
    path = "News / World / Bridges / Old bridge of Tavin: The bridge is closed for a year."
    assert cut_furniture(f"{path} {TEXT} {TEXT}") == f"{TEXT} {TEXT}"
