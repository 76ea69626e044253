import pytest

from wikisum.crawl.blocked import MAX_WORDS, is_blocked

REFUSALS = [
    "Your request has been blocked due to a network policy.",
    "Attention Required! | Cloudflare",
    "Sorry, you have been blocked",
    "Just a moment...Enable JavaScript and cookies to continue",
    "You don't have permission to access /page on this server.",
    "We can't tell if you're a human or a bot.",
    "Please verify you are a human",
    "Block Reference: #4a29218e-b6f3-11ee",
    "We have detected unusual traffic from your network.",
    "Zugriff verweigert",
    "Accès refusé",
    "Acceso denegado",
    "Доступ запрещен",
    "访问被拒绝",
    "Accesso negato",
    "Bitte bestätigen Sie, dass Sie kein Roboter sind",
    "Complete the CAPTCHA to go on.",
]
REQUESTS = [
    "Please enable JavaScript to use this site.",
    "Bitte aktivieren Sie JavaScript.",
    "JavaScript est désactivé dans votre navigateur.",
    "Your browser is not supported",
    "We value your privacy and use cookies.",
    "Before you continue to Google Search",
    "Bevor Sie fortfahren",
    "Avant de continuer",
    "Upgrade your browser",
    "Something went wrong. Wait a moment and try again.",
]
PROSE = "The bridge was built of iron in 1890 and carried trains across the river until 1961."


@pytest.mark.parametrize("text", REFUSALS)
def test_a_short_page_that_refuses_is_blocked(text):
    assert is_blocked("", ["Home", text, PROSE], [PROSE, PROSE])
    assert is_blocked(text, ["Home"], [])


@pytest.mark.parametrize("text", REQUESTS)
def test_a_request_blocks_a_page_that_has_nothing_else(text):
    assert is_blocked("Bridge", ["Home", text], [text])
    assert not is_blocked("Bridge", [text, PROSE, PROSE], [PROSE, PROSE])


@pytest.mark.parametrize("text", [*REFUSALS, *REQUESTS])
def test_a_long_page_is_never_blocked(text):
    assert not is_blocked(text, [text, "word " * MAX_WORDS], [])


@pytest.mark.parametrize(
    "text",
    [
        "The embassy denied access to the archive in 1990.",
        "He was blocked at the door by two guards.",
        "JavaScript is a programming language of the web.",
        "Cookies are baked with butter and sugar.",
        PROSE,
    ],
)
def test_honest_short_pages_are_kept(text):
    assert not is_blocked("A page", [text], [text])
