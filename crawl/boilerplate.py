"""Recognize paragraphs that are no text about anything: notices, policies, lists of references."""

import re
from collections.abc import Sequence

_NOTICE = re.compile(
    r"^\W*(?:©|\(c\)|copyright\b)(?=.{0,160}$)|(?:©|\(c\)) ?(?:copyright )?\d{4}"
    r"|\b(?:(?:we|this (?:web)?site|our (?:web)?site|by continuing)\b.{0,60}\bcookies?"
    r"|cookies? (?:policy|settings|preferences|consent)|accept (?:all )?cookies"
    r"|all rights reserved|copyright ©|terms (?:of (?:use|service)|and "
    r"conditions)\b.{0,40}\bprivacy|privacy policy\b.{0,40}\bterms"
    r"|(?:enable|turn on|requires?|support) javascript|javascript (?:is|to be) "
    r"(?:disabled|enabled|required)"
    r"|sign up (?:for|to) (?:our|the|receive)|subscribe (?:to|for|now)\b"
    r"|(?:your|an?) e-?mail address will (?:not|never)|log ?in to (?:post|leave|comment)"
    r"|leave a (?:reply|comment)|share (?:this|on) (?:article|facebook|twitter|story|page)"
    r"|click here to|please (?:upgrade|update) your browser|(?:download|install) (?:the|our) app"
    r"|skip to (?:main )?content|powered by wordpress|follow us on"
    r"|t&cs? apply|for assistance,? contact|if you need assistance|please,? check your inbox"
    r"|get a code sent|sign in (?:with|using)|premium subscription|browser notifications"
    r"|by entering this (?:site|store)|member of the independent press standards"
    r"|we recommend the best products|thanks for using|free bets|refund or replacement"
    r"|terms of service here|all prices where applicable"
    r"|not necessarily (?:reflect|represent)|opinions expressed|is the subjective opinion of"
    r"|under (?:the terms of )?(?:a|an|the) creative commons|creative commons (?:attribution|licen)"
    r"|open access article|\brepublish (?:this|our|the) (?:article|story|content)"
    r"|permission to (?:distribute|reproduce|republish|copy)|are the exclusive property of"
    r"|no longer supports? (?:internet explorer|your|this)|upgrade (?:to|or) .{0,30}browser"
    r"|browser is (?:out of date|outdated|not supported)|cookies that may"
    r"|(?:these|necessary|analytical|functional|our) cookies"
    r"|registered (?:address|office)(?: is)? ?:|registered charity (?:in|n(?:o\b|umber)|\d)"
    r"|company registration n(?:o\b|umber)|company n(?:o\b\.?|umber):? ?\d"
    r"|(?:materials?|images|content|text) (?:used )?on (?:the|this) website"
    r"|(?:fill (?:out|in)|complete) (?:the|this) form"
    r"|we may (?:earn|receive) .{0,20}commission|earn (?:us )?(?:a|an) (?:\w+ )?commission"
    r"|our (?:\w+ )?newsletters?|follow .{1,40} on (?:facebook|twitter|instagram)"
    r"|(?:please|to) contact (?:us|our)\b|tax-deductible"
    r"|for more information,? (?:please )?(?:contact|visit|go|click)|\bcontact via\b"
    r"|\b(?:use|using|reproduction|reprinting) (?:of )?(?:any |our |all |the )?materials? "
    r"(?:of|from|on)\b.{0,80}\b(?:(?:is|are) (?:\w+ )?(?:permitted|allowed|prohibited)|links? to)\b"
    r"|remains? the property of (?:\w+ ){0,3}(?:owners?|authors?|publishers?|copyright)\b"
    r"|(?:^|please )download the (?:[\w’']+ ){1,4}app\b|^to republish\b"
    r"|not imply endorsement|(?:button|link) below|love to hear (?:from you|your)"
    r"|(?:used?|reprinted) (?:with|by) permission(?! in\b)"
    r"|(?:medically|fact) (?:reviewed|checked) by)|^(?:also |last )?reviewed (?:by|on)\b",
    re.IGNORECASE,
)
# All that _NOTICE matches contains one of these; searching for them is ten times faster.
_NOTICE_KEYS = (
    "cookie", "rights reserved", "copyright", "©", "(c)", "privacy", "javascript", "sign up",
    "subscribe", "mail address", "login to", "log in to", "leave a", "share this", "share on",
    "click here", "browser", "the app", "our app",
    "skip to", "wordpress", "follow us", "t&c", "assistance", "inbox", "get a code", "sign in",
    "premium sub", "by entering", "independent press", "we recommend", "thanks for", "free bets",
    "refund", "terms of", "all prices", "necessarily", "opinion", "commons", "open access",
    "republish", "permission", "exclusive prop", "longer support", "registered address",
    "registered office", "registered charity", "company n", "company reg", "on this website",
    "on the website", "this form", "the form", "commission", "newsletter", " on twitter",
    " on facebook", " on instagram", "contact us", "contact our", "contact via",
    "more information", "tax-deduct", "reviewed", "checked by", "imply endorse", "button below",
    "link below", "love to hear", "material o", "materials o", "material f", "materials f",
    "the property of", "download the", "to republish",
)  # fmt: skip
# More that speaks to visitors: consent, notifications, channels, bets, praise.
_PROMPT = re.compile(
    r"^\W*(?:turn on|enable|allow) (?:\w+ )?notifications|^\W*(?:get|catch) .{0,60}news updates"
    r"|(?:follow|join|subscribe to) (?:our |the )?(?:whatsapp|telegram) (?:channel|group)"
    r"|(?:follow|join) us on (?:whatsapp|telegram)"
    r"|follow (?:him|her|them|me|us) (?:(?:at|on) ?)?@"
    r"|(?:^\W*|\byou can )find (?:(?-i:[A-Z]\w+)|her|him|me|us) on (?:facebook|twitter|linkedin)"
    r"|this embed will|%3c(?:%2f|iframe)|get more updates|will be added to our (?:list|collection)"
    r"|find (?:additional|more|other) (?:\w+ ){1,2}(?:on|about) this (?:topic|subject|story)"
    r"|following (?:titles|links|resources) link"
    r"|\b(?:views|opinions) (?:expressed|in|of)\b.{0,80}"
    r"not necessarily (?:shared|endorsed|those of)"
    r"|\bthis (?:episode|video|content|preview|program|page) is (?:currently )?(?:not |un)available"
    r"|love (?:your|this) blog|(?:great|awesome) (?:article|post)[;,!]"
    r"|^\W*royalty[- ]free (?:stock|image|photo|picture|music|video)|immagini stock"
    r"|[.!?]\W*18\+\W*$"
    r"|gambl(?:e|ing) responsibly|gambleaware\.org|bet responsibly|new customers only"
    r"|(?:change|manage) (?:some of )?your (?:\w+ )?(?:preferences|settings)"
    r"|^\W*manage (?:cookie|privacy) (?:preferences|settings)"
    r"|category headings to|(?:disable|block|reject) .{0,40}\bin your (?:web )?browser"
    r"|following cookies"
    r"|flag (?:inappropriate|iffy|abusive)|^\W*(?:flag this|report (?:abuse|inappropriate))"
    r"|\b(?:quot|reprint|republi|reproduc|copy).{0,100}"
    r"(?:(?:only with|prior) written permission|only if there is a (?:hyper)?link)"
    r"|this story has been updated|this site (?:is|was) designed to help"
    r"|\bvat (?:reg\w* )?(?:no\b|number)\W{0,3}(?:[a-z]{2})?\d",
    re.IGNORECASE,
)
# All that _PROMPT matches contains one of these.
_PROMPT_KEYS = (
    "notifications", "news updates", "whatsapp", "telegram", "@", " on linkedin",
    " on facebook", " on twitter", "embed will", "%3c", "more updates", "added to our",
    "this topic", "this subject", "this story", "titles link", "links link", "resources link",
    "necessarily", "not available", "unavailable", "your blog", "this blog", "great article",
    "great post", "awesome article", "awesome post", "royalty",
    "immagini", "18+", "gambl", "responsibly", "new customers", "preferences", "settings",
    "category head", "browser", "cookies", "flag ", "report abuse", "report inapp",
    "written permission", "only if there", "designed to help", "vat n", "vat reg",
)  # fmt: skip
# The beginning of a line that only leads elsewhere: "Read also: ...", "Read our review here."
_TEASER = re.compile(
    r"\W*(?:also read|read (?:also|more|next)|related(?: (?:stor(?:y|ies)|articles?|content))?"
    r"|recommended|don['’]t miss|must read|up next) ?[:|]"
    r"|(?:read (?:my|our|the|more|all|about)|see (?:our|all|more))\b.{0,160}\bhere\W{0,3}$"
    r"|for (?:a list|more(?! than)|full)\b.{0,120}\b(?:see|read|click|go)\b.{0,20}\bhere\W{0,3}$"
    r"|updated \d",
    re.IGNORECASE,
)
# Phrases of privacy policies and terms of use; a paragraph that has four of them is part of one.
_POLICY = (
    "privacy policy", "personal data", "personal information", "third parties", "third-party",
    "we collect", "we may share", "your information", "your consent", "your data", "cookies",
    "gdpr", "data protection", "terms of use", "terms of service", "terms and conditions",
    "advertising purposes", "opt out", "opt-out", "your browser", "newsletter", "your rights",
    "datenschutz", "personenbezogene", "données personnelles", "datos personales",
    "our partners", "our website", "this website", "this site",
)  # fmt: skip
_POLICY_KEYS = ("privacy", "personal", "cookie", "terms", "datenschutz", "données", "datos")
MIN_POLICY_PHRASES = 4
MAX_REFERENCE_WORDS = 90
# Marks of an entry in a list of references; a short paragraph that has three is one.
_AUTHOR = (
    r"^(?:[\^•*\[\]\d. ]*|.{0,40}?[.;] )[^\W\d_][\w'’-]+, (?:[A-Z]\.|[A-Z][a-z]+(?=[,.;( ]))"
    r"|^[A-Z][\w'’-]+ [A-Z]{1,2}(?=[,;])"
)
_YEAR = (
    r"\((?:[A-Z][a-z]+ )?(?:1[5-9]|20)\d\d[a-z]?\)|[.,;:] (?:1[5-9]|20)\d\d[.;,:]"
    r"|\b(?:1[5-9]|20)\d\d[.;]?$"
)
_PAGES = r"\bpp?\. ?\d+|\d+ ?[–-] ?\d+\.?$|: ?\d+ ?[–-] ?\d+|\d+\(\d+\)"
_PUBLISHER = r"(?-i:[A-Z]\w+: [A-Z][^:.]{2,50}\.$)"  # behind the place
_REFERENCE = re.compile(
    rf"(?P<author>{_AUTHOR})|(?P<year>{_YEAR})|(?P<pages>{_PAGES})"
    r"|(?P<id>\b(?:isbn|issn|doi|pmid|oclc|arxiv)\b)"
    r"|(?P<source>\b(?:university press|press,|journal of|proceedings of|vol\. ?\d|retrieved"
    r"|archived from|accessed|\beds?\.|verlag|editions|publish(?:ers|ing)))"
    r"|(?P<title>[“\"«][^”\"»]{10,}[”\"»])"
    rf"|(?P<mark>^\W*\^)|(?P<publisher>{_PUBLISHER})",
    re.IGNORECASE,
)
# Each of these makes a short paragraph a reference: "Holm, A. (1999)", "58(2), 93-106" and links at
# the end of an entry.
_CITED = re.compile(
    r"[^\W\d_a-z][\w'’-]+, (?:[^\W\d_a-z]\.[ -]?){1,3}\((?:1[5-9]|20)\d\d[a-z]?\)"
    r"|\d\(\d{1,3}\), \d+[-–−]\d"
)
_MAY_BE_CITED = re.compile(r"\(\d{1,4}[a-z]?\)")
_LINKED = re.compile(
    r"(?:Google ?Scholar|Cross ?Ref|PubMed(?: Central)?)\]?\W*$|\bdoi\.org/|\bSSRN: "
)
MAX_LINK_CHARS = 60  # at the end of an entry
MIN_REFERENCE_MARKS = 3
_HAS_AUTHOR, _HAS_YEAR, _HAS_PAGES, _HAS_PUBLISHER = (
    re.compile(pattern, re.IGNORECASE) for pattern in (_AUTHOR, _YEAR, _PAGES, _PUBLISHER)
)
# What ids and sources contain.
_ID_KEYS = ("isbn", "issn", "doi", "pmid", "oclc", "arxiv")
_SOURCE_KEYS = (
    "press", "journal of", "proceedings of", "vol.", "retrieved", "archived from", "accessed",
    "ed.", "eds.", "verlag", "editions", "publish",
)  # fmt: skip
_TITLE_MARKS = ("“", '"', "«")
# The end of one word and the beginning of the next; names such as McArthur have but one.
_DIGIT = re.compile(r"\d")
# It is found from its capital, as the expression is faster if it begins with a rare character.
_GLUED = re.compile(
    r"[A-Z](?:(?<=[a-z]{2}[A-Z])[A-Za-z]|(?<=[a-z]{2}[.!?)][A-Z])[a-z]"
    r"|(?<=[a-z]{3}\d[A-Z])|(?<=[a-z]{3}\d\d[A-Z]))"
)
MIN_GLUED = 4  # different words
WORDS_PER_GLUED = 30

# A number that a sentence follows without a mark, as in footnotes: "16 An estimate", "[3] See".
_NOTE_NUMBER = re.compile(r"(?:\[(\d{1,3})\] ?|(\d{1,3}) ?)(?=[\"“'‘(]?[^\W\d_a-z])")
MIN_NOTES = 3
MAX_NOTE_STEP = 10  # between the numbers of footnotes that follow each other
MAX_NOTE_LINES = 12  # between them
_FIGURE = re.compile(
    r"(?:fig(?:ure|s)?|table|plate|abb(?:ildung)?)s?\.? ?\d[\d–-]*[a-z]?[.:)]", re.I
)
# Captions of news agencies: by their words, by their beginning, and by their end, which is a name
# with an agency or, in the present tense, a day of the week with a date.
_AGENCY_WORDS = (
    "AP Photo", "via AP", "via Reuters", "via Getty", "Getty Images", "file photo",
)  # fmt: skip
_AGENCY_START = re.compile(r"\d+ of \d+ ?\||FILE(?: PHOTO:| ?[-–—])|Image caption\b")
_AGENCY_END = re.compile(
    r"\([A-Z]\w+ [A-Z][^()/]{1,40}/[A-Z][^()]{2,40}\)(?:Buy a print.{0,20})?\W*$"
)
_AGENCY_DATE = re.compile(r"day, [A-Z][a-z]{2,8}\.? \d\d?, (?:19|20)\d\d\.?(?: \([^()]+\))?$")
_PAST = re.compile(r"\b(?:was|were|had|became|began|took|went)\b")
MAX_AGENCY_CHARS = 600
MAX_AGENCY_END_CHARS = 120
_CREDIT = re.compile(
    r"\((?:photo|image|picture|credit|courtesy|foto)\b[^()]*\)\W*$"
    r"|\b(?:photo|image|photograph)s?(?: (?:credit|courtesy|by)\b|:)[^.]{0,60}\.?$"
    r"|© ?getty images.{0,20}$",
    re.IGNORECASE,
)
# What _CREDIT matches contains one of these; a quick check.
_CREDIT_KEYS = ("photo", "image", "picture", "credit", "courtesy", "foto", "getty")
MAX_CREDIT_CHARS = 300


def footnotes(lines: Sequence[str], kept: Sequence[int]) -> set[int]:
    """Return which of the lines `kept` are footnotes: at least three, with rising numbers.

    >>> sorted(footnotes(["Text.", "7 See A.", "8 In B.", "It was.", "10 Cf. C."], range(5)))
    [1, 2, 4]
    """
    found: set[int] = set()
    run: list[tuple[int, int]] = []
    for i in kept:
        match = _NOTE_NUMBER.match(lines[i])
        if not match:
            continue
        number = int(match[1] or match[2])
        if run and not (
            0 < number - run[-1][1] <= MAX_NOTE_STEP and i - run[-1][0] <= MAX_NOTE_LINES
        ):
            run = []
        run.append((i, number))
        if len(run) >= MIN_NOTES:
            found.update(place for place, _ in run)
    return found


def is_caption(paragraph: str) -> bool:
    """Return whether a paragraph is the caption of a figure, or a short one that credits a photo.

    >>> is_caption("Fig. 10-13. Images of the flood."), is_caption("Figure 8 shows the bridge.")
    (True, False)
    """
    if _FIGURE.match(paragraph):
        return True
    if len(paragraph) <= MAX_AGENCY_CHARS and _is_agency_caption(paragraph):
        return True
    if len(paragraph) > MAX_CREDIT_CHARS or not _has_key(paragraph.lower(), _CREDIT_KEYS):
        return False
    return bool(_CREDIT.search(paragraph))


def _is_agency_caption(paragraph: str) -> bool:
    if _has_key(paragraph, _AGENCY_WORDS) or _AGENCY_START.match(paragraph):
        return True
    end = max(0, len(paragraph) - MAX_AGENCY_END_CHARS)
    if _AGENCY_END.search(paragraph, end):
        return True
    return bool(_AGENCY_DATE.search(paragraph, end)) and not _PAST.search(paragraph)


def is_notice(paragraph: str) -> bool:
    """Return whether a short paragraph speaks of cookies, subscriptions, rights or the like.

    >>> is_notice("Click to follow our WhatsApp channel."), is_notice("Read also: A new bridge.")
    (True, True)
    """
    lower = paragraph.lower()
    if _has_key(lower, _NOTICE_KEYS) and _NOTICE.search(paragraph):
        return True
    if _has_key(lower, _PROMPT_KEYS) and _PROMPT.search(paragraph):
        return True
    return bool(_TEASER.match(paragraph))


def is_policy(paragraph: str) -> bool:
    """Return whether a paragraph of any length is part of a privacy policy or terms of use."""
    lower = paragraph.lower()
    if not _has_key(lower, _POLICY_KEYS):
        return False
    return sum(phrase in lower for phrase in _POLICY) >= MIN_POLICY_PHRASES


def is_glued(paragraph: str) -> bool:
    """Return whether words of a paragraph are glued together, as those of menus without spaces.

    >>> is_glued("HomeNews and moreAbout usContact allRights")
    True
    """
    glued: set[str] = set()
    match = _GLUED.search(paragraph)
    while match:
        start, end = paragraph.rfind(" ", 0, match.start()) + 1, paragraph.find(" ", match.end())
        glued.add(paragraph[start : end if end >= 0 else None])
        match = _GLUED.search(paragraph, end) if end >= 0 else None
    if len(glued) < MIN_GLUED:
        return False
    return len(glued) * WORDS_PER_GLUED >= len(paragraph.split())


def is_reference(paragraph: str) -> bool:
    """Return whether a paragraph is an entry of a bibliography.

    >>> is_reference("Penrose, J. (1890). Arch Bridges. Journal of Iron 12: 34–56.")
    True
    """
    if paragraph.count(" ") >= MAX_REFERENCE_WORDS or not _DIGIT.search(paragraph):
        return False
    if _MAY_BE_CITED.search(paragraph) and _CITED.search(paragraph):
        return True
    if _LINKED.search(paragraph[-MAX_LINK_CHARS:]):
        return True
    if not _may_be_reference(paragraph):
        return False
    kinds = {match.lastgroup for match in _REFERENCE.finditer(paragraph)}
    return len(kinds) >= MIN_REFERENCE_MARKS


def _may_be_reference(paragraph: str) -> bool:
    """Whether a paragraph can have enough kinds of marks of a reference; a quick check."""
    lower = paragraph.lower()
    found = ("^" in paragraph) + bool(_HAS_YEAR.search(paragraph))
    found += _has_key(lower, _SOURCE_KEYS) + _has_key(paragraph, _TITLE_MARKS)
    found += _has_key(lower, _ID_KEYS)
    if found < MIN_REFERENCE_MARKS - 2:
        return False
    found += bool(_HAS_PAGES.search(paragraph)) + bool(_HAS_PUBLISHER.search(paragraph))
    if found == MIN_REFERENCE_MARKS - 1:
        return bool(_HAS_AUTHOR.match(paragraph))
    return found >= MIN_REFERENCE_MARKS


def _has_key(text: str, keys: tuple[str, ...]) -> bool:
    for key in keys:  # noqa: SIM110 (faster than any)
        if key in text:
            return True
    return False
