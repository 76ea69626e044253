import pytest

from wikisum.crawl.boilerplate import (
    footnotes,
    is_caption,
    is_glued,
    is_notice,
    is_policy,
    is_reference,
)


@pytest.mark.parametrize(
    "text",
    [
        "© 1996-2014, Amazon.com, Inc. or its affiliates. All of it.",
        "© Amazon.com and the people who work there.",
        "(c) The authors and the press of the town.",
        "Copyright of the Tavin Museum and its friends.",
        "Read more. © 2014 The Tavin Times and its partners.",
    ],
)
def test_a_copyright_sign_at_the_start_of_a_line_makes_a_notice(text):
    assert is_notice(text)


def test_a_sentence_about_rights_is_no_notice():
    assert not is_notice("The museum owns the copyright of the drawings.")


def test_a_paragraph_of_a_privacy_policy():
    assert is_policy(
        "This privacy policy says which personal data we collect on this website and with which "
        "third parties we share your information."
    )
    assert not is_policy(
        "The court ruled that the privacy policy of the company misled its users in 2010."
    )


@pytest.mark.parametrize(
    "text",
    [
        "Penrose, J. (1890). Arch Bridges of the North. Journal of Iron 12: 34–56.",
        '^ "Penguins". Department of Conservation. Retrieved 7 March 2011.',
        "King, Michael (2003). The History of Tavin. Penguin Books. ISBN 978-0-14-301867-4.",
        "Startsev, Vitalii Ivanovich. 1982. Krakh kerenshchiny. Moscow: Nauka.",
        "Rudneva, Svetlana 2000. Soveshchanie, sentiabr’ 1917 g. Moscow: Nauka.Google Scholar",
        "Kertzer, D. I. (1983). The role of ritual in political change. In Culture (pp.",
        "Society of Costume, 58(2), 93−106. Modernization of Seoul after port opening.",
        "Lee, Jyh-An, Fading Anonymity (January 20, 2016). Available at SSRN: https://ssrn.co",
        "Holm A, Berg K. Wear of iron arches. J Bridge Eng. 1999; 4: 12-19. doi:10.1000/1",
    ],
)
def test_an_entry_of_a_bibliography(text):
    assert is_reference(text)


@pytest.mark.parametrize(
    "text",
    [
        "In 1881 (the year of the flood) the bridge was opened by the mayor, John Holm.",
        "Hamilton led the team in 1973. She got the greatest honor in 2017: a Lego minifigure.",
        'Holm, who retired in 1999, called the bridge "a work of art and of iron".',
        "The bridge was built in 1881. It carried trains until 1961, when the line was closed.",
    ],
)
def test_prose_with_years_and_names_is_no_reference(text):
    assert not is_reference(text)


def test_words_of_menus_are_glued():
    assert is_glued("Share PriceTata Motors Share PriceYES Bank Share PriceSBI and moreAbout us")
    assert not is_glued("McArthur and McDonald met on the iPhone in the DeLorean of McAdoo Smith.")
    assert not is_glued("In JavaScript, GitHub and YouTube are words. " + "They are rare. " * 40)


@pytest.mark.parametrize(
    "text",
    [
        "see more at bet.example for offers and details. Geo-variations and T&Cs apply. 18+",
        "For assistance, contact your corporate administrator.",
        "Get a code sent to your email to sign in, or sign in using a password.",
        "This opinion column does not necessarily reflect the views of Boulder Weekly.",
        "The opinions expressed in analytical pieces are those of the authors.",
        "This review is the subjective opinion of a Tripadvisor member.",
        "All text is licensed under the Creative Commons Attribution 3.0 New Zealand Licence.",
        "This is an Open Access article, provided the original work is properly cited.",
        "We’re happy to make this story available to republish for free. Republish this story.",
        "You are not required to obtain permission to distribute this article.",
        "All texts on the StatsF1 site are the exclusive property of their authors.",
        "Academia.edu no longer supports Internet Explorer.",
        "To get the best experience, we recommend that you upgrade or download another browser.",
        "Your browser is out of date!",
        "Any cookies that may not be necessary are used to collect personal data.",
        "Necessary cookies are absolutely essential for the website to function properly.",
        "Registered Address: Equinox House, Clifton Park Avenue. Company registration No: 0654.",
        "The images used on this website have been provided by journalists.",
        "To request prayers or offer a suggestion, please fill out this form.",
        "If you buy through our links, we may earn an affiliate commission.",
        "He lives in Denver. Follow him on Twitter for more.",
        "Have a tip? Please contact us by telephone.",
        "Gifts are tax-deductible to the extent of the law.",
        "For more information, please visit the page of the club.",
        "To use materials for printed publications, please, contact via welcome@council.example",
        "Inclusion in an NLM database does not imply endorsement of the contents.",
        "The luncheon is open to the public and tickets are sold via the button below.",
        "We love to hear your opinions and suggestions.",
        "To be continued. All photos use with permission.",
        "Reviewed by: J. Shargorodsky, MD, School of Medicine.",
        "The use of materials of the council on other sites is permitted with a link.",
        "When using any materials on the Internet, links to the agency are mandatory.",
        "All external content remains the property of the rightful owner.",
        "Download The Tavin Times News App to get daily updates.",
        "To republish, simply copy the HTML at right.",
    ],
)
def test_prompts_are_notices(text):
    assert is_notice(text)


@pytest.mark.parametrize(
    "text",
    [
        "The novel was republished in 1950 by Faber.",
        "The trust is a registered charity that was founded in 1994.",
        "Its registered office is in London, where it was founded.",
        "The tomb bears the company number of the regiment.",
        "It was reprinted with permission in 1999.",
        "The use of nuclear materials is prohibited by the treaty of 1968.",
        "The house remained the property of his heirs. He wrote an app for it.",
        "The castle remains the property of the Tavin family and is open to visitors.",
        "The use of materials from local quarries allowed the builders to finish it in 1881.",
        "Since 2015 readers can download the newspaper app for free.",
    ],
)
def test_sentences_with_words_of_notices_are_text(text):
    assert not is_notice(text)


def test_numbered_notes_with_rising_numbers_are_footnotes():
    lines = [
        "The Kadets won the election of 1906 in the city.",
        "16 An estimate based on unpublished research.",
        "29In this part of their strategy they enjoyed success.",
        "[30] Again, reference is to the research.",
        "34 The western borderlands were allotted 93 seats.",
    ]
    assert footnotes(lines, range(5)) == {2, 3, 4}  # 29 is too far from 16
    assert footnotes(lines, [0, 2, 3]) == set()
    assert footnotes([lines[4], lines[3], lines[2]], range(3)) == set()


@pytest.mark.parametrize(
    "step", ["1. Mix the flour.", "2) Mix the eggs.", "3 eggs are boiled.", "100 yards of it."]
)
def test_steps_and_amounts_are_no_footnotes(step):
    assert footnotes([step, step.replace(step[0], "2", 1), "3 cups are hot."], range(3)) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Figure 5. War Minister Verkhovskii speaking in the Council.", True),
        ("Fig. 10-13.Images of the snow in the fringes of Phoenix.", True),
        ("Abbildung 4: klassische Schwachschicht.", True),
        ("Snow in the hills, 2,000 ft. elevation (credit: @Chris on twitter)", True),
        ("A palace ritual for ancestors is performed. © Getty Images Korea", True),
        ("The DSLR is the most common camera. Photo by: 'James Sutton'.", True),
        (
            "1 of 10|Memorials are displayed outside Club Q on Wednesday. (AP Photo/C. Strange)",
            True,
        ),
        ("4 of 10|This image was provided by prosecutors.", True),
        ("FILE - People visit a memorial outside Club Q in June.", True),
        ("Police stand for a moment. (Tyler Tjomsland/The Spokesman-Review)Buy a print", True),
        ("Brendan Smialowski, AFP via Getty ImagesTrump supporters clash with police.", True),
        ("Coach John Cook speaks ahead of the matches in Lincoln on Tuesday, Oct. 31, 2023.", True),
        ("The bridge was opened by the mayor on Saturday, June 12, 1999.", False),
        ("The strike was called off on 31 October 2023. It had begun on a Tuesday.", False),
        ("The bridge (and/or the ferry) was used. It was closed on May 3, 1881.", False),
        ("Figure 10 shows how the repository looks now.", False),
        ("The photo by Adams was sold in 1981. It is now in a museum of the town.", False),
        ("Table salt is common.", False),
    ],
)
def test_captions(text, expected):
    assert is_caption(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "Turn on desktop notifications for breaking stories about the town?",
        "(Catch all the Business News and Latest News Updates on The Tavin Times.)",
        "Click to follow our Whatsapp Channel and read all of the gossip.",
        "Ada Holm lives in Tavin. Follow her at@adaholm",
        "You can find Ada on LinkedIn.",
        "This embed will serve content from youtube-nocookie.com.",
        "frame%20on%20TBS%3C%2Fiframe%3E and the rest of it.",
        "Get more updates from Tavin and the valley at one place.",
        "The bridge will be added to our list of bridges.",
        "To find additional materials on this topic, search the catalog of the library:",
        "The following titles link to fuller information in the catalog of the library.",
        "Views expressed by opinion writers are not necessarily shared by the Tavin Times.",
        "This episode is currently not available.",
        "I love your blog, it is among the highlights of the week.",
        "Great article; very helpful to understand why the bridge was built.",
        "Royalty-free pictures of the bridge and of the river.",
        "iron bridge foto e immagini stock of the river and its valley.",
        "The stake is not part of the winnings. 18+",
        "The stake is not part of the winnings, so please gamble responsibly.",
        "New customers only, and one bet for each of them.",
        "You can also change some of your preferences.",
        "Click on the different category headings to find out more.",
        "If you want to, you can disable tracking in your browser.",
        "The following cookies are also needed.",
        "Did you know you can flag iffy content?",
        "Quoting the news is allowed only with written permission of the agency.",
        "Quoting the news is possible only if there is a link to the site.",
        "Editor's note, 3 May: This story has been updated with the age of the bridge.",
        "This site was designed to help you find the height of a bridge.",
        "The company is of Tavin, VAT number 12345678.",
        "Read also: Why the bridge of Tavin was closed.",
        "Read my review of the bridge here.",
        "For a list of all bridges in the valley see here:",
        "UPDATED 10/21 with a statement of the mayor of Tavin.",
    ],
)
def test_a_prompt_to_the_visitor_of_a_site(text):
    assert is_notice(text)


@pytest.mark.parametrize(
    "text",
    [
        "The phone shows notifications of storms, and news events shaped the year.",
        "They used WhatsApp and Telegram to follow the storm.",
        "His friends decided to find work. On Facebook it was hard.",
        "The titles that were necessarily lost are not part of the topic of this story.",
        "The stone was not available in the valley, and iron was unavailable too.",
        "Her blog and a great article of hers tell of the bridge.",
        "For more than forty years the family of the builder ran a mill here.",
        "Read, the only son of the builder, went to school here.",
        "See also the tomb of the builder, which stands here.",
        "Many children are too afraid to report abuse to a teacher.",
        "The bank failed to flag this transaction of the mayor.",
        "He left the paper to join WhatsApp as its first engineer.",
        "She moved to Tavin to join the Telegram, of which he became editor.",
        "His opinions were not necessarily shared by the other members.",
        "The program is not available for Linux.",
        "The composer lives of royalty-free music, and the film was rated 18+.",
        "GambleAware is a charity of the town.",
        "A journey to the island needed prior written permission of the governor.",
        "A graph is a cycle only if there is a link between the first and the last node.",
        "Listeners could dial a number to get hourly news updates of the radio.",
        "The new version let readers enable push notifications.",
        "The police tried to find Smith on Facebook.",
        "Only the owner was able to change privacy settings of the account.",
        "Third-party cookies are placed by advertisers.",
        "Watch: a small device that shows the time of day.",
        "The royalty of the stock company and 18+ other lines were sold in May.",
        "The preferences of the gamblers and the settings of the novel changed.",
        "The browser has a flag for each of the cookies.",
        "The written consent of the mayor was found in the report.",
        "The bridge was designed to help the poor of the valley.",
        "Holm is a reporter for the Tavin Times, for which she wrote news updates on the bridge.",
        "The guild could not sell it without prior written consent of the mayor.",
        "The VAT number was introduced in Tavin in May, and royalty-free copies were sold.",
        "Holm is an engineer, and no writer for the papers of the town.",
        "Watch towers stand here. Listen to the bells of the town in May.",
        "Reading the plans of the bridge, he lived here.",
        "They updated 10 of the bridges.",
    ],
)
def test_the_words_of_prompts_in_a_text(text):
    assert not is_notice(text)


def test_the_caption_of_an_image():
    assert is_caption("Image caption reads: The bridge of Tavin was opened in May.")
    assert not is_caption("The image caption reads that the bridge of Tavin was opened in May.")
