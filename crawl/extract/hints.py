"""Hints about an element from its class names, ids and roles.

The words are those that web designers use. A set of tags and hints is an integer with a bit for
each.
"""

from collections.abc import Mapping
from functools import lru_cache

TAG_BITS = (
    "article", "main", "section", "aside", "header", "footer", "nav", "figure", "figcaption",
    "form", "table", "td", "ul", "ol", "li", "blockquote", "pre", "dl", "p", "h1", "h2", "h3",
    "h4", "div", "body",
)  # fmt: skip
# Substrings of a name or, after "=", whole words of it.
HINTS = {
    "strong": "articlebody article-body article_body entry-content entrycontent entry_content "
    "post-content postcontent post-body post_content story-body storybody main-content "
    "maincontent article-content articlecontent body-content page-content article-text "
    "articletext body-text body-copy bodycopy mw-parser-output prose markdown",
    "content": "article content entry post story text body main blog page",
    "comment": "comment disqus respond reply discuss forum talkback",
    "nav": "nav menu crumb paginat pager skip toolbar =toc =tab =tabs",
    "footer": "foot copyright legal disclaimer colophon bottom",
    "header": "header masthead topbar hero logo =top",
    "side": "side rail widget secondary right left panel column =col",
    "related": "relat recommend more popular trending latest also readnext read-next teaser card "
    "feed archive headlines outbrain taboola recirc similar carousel =most",
    "ad": "advert sponsor dfp promo banner affiliate donat =ad =ads",
    "share": "share sharing social facebook twitter follow like newsletter subscri signup sign-up "
    "login regist paywall email print =rss",
    "meta": "meta byline author date time publish tag categor info credit profile source keyword "
    "topic label badge =bio",
    "caption": "caption figure image photo galler media video slide thumb img player embed =pic",
    "title": "title headline heading kicker intro summary abstract excerpt =dek =lead",
    "cookie": "cookie consent gdpr ccpa",
    "popup": "modal popup pop-up overlay dialog alert notice message tooltip lightbox toast "
    "notification",
    "hidden": "hidden invisible sr-only visually screenreader screen-reader offscreen assistive "
    "noprint d-none collaps =hide",
    "list": "list grid index =item =items =link =links =row",
    "quote": "quote callout fact inset note =pull =box",
    "embedded": "=twitter-tweet =twitter-video =instagram-media =tiktok-embed =bluesky-embed "
    "=reddit-card =fb-post =mastodon-embed",
    "reference": "footnote citation reference bibliograph editsection =ref =edit",
}
BIT_NAMES = (*TAG_BITS, *(f"hint_{hint}" for hint in HINTS))
MAX_NAME_CHARS = 200
_BIT = {name: 1 << i for i, name in enumerate(BIT_NAMES)}
BIT_BY_TAG = {tag: _BIT[tag] for tag in TAG_BITS}
BIT_BY_TAG |= {"h5": _BIT["h4"], "h6": _BIT["h4"], "th": _BIT["td"]}
_ROLES = {
    "main": "main", "article": "article", "navigation": "nav", "complementary": "aside",
    "contentinfo": "footer", "banner": "header", "search": "form", "form": "form",
}  # fmt: skip
# Names of quoted posts hold names of networks, which buttons have too; they count as nothing else.
_EMBEDDED = frozenset(HINTS["embedded"].replace("=", "").split())
_START_CHARS = 3  # of a substring; none is shorter
_BIT_BY_WORD: dict[str, int] = {}
_PARTS_BY_START: dict[str, list[tuple[str, int]]] = {}
for _hint, _words in HINTS.items():
    for _word in _words.split():
        if _word[0] == "=":
            _BIT_BY_WORD[_word[1:]] = _BIT[f"hint_{_hint}"]
        else:
            _parts = _PARTS_BY_START.setdefault(_word[:_START_CHARS], [])
            _parts.append((_word, _BIT[f"hint_{_hint}"]))


def hints(attributes: Mapping[str, str | None]) -> int:
    """Return the bits of an element's class, id, role and microdata."""
    bits = _name_hints(attributes.get("class"), attributes.get("id"))
    if "role" in attributes:
        bits |= _BIT.get(_ROLES.get(attributes["role"] or "", ""), 0)
    if attributes.get("itemprop") == "articleBody":
        bits |= _BIT["hint_strong"]
    return bits


@lru_cache(maxsize=1 << 14)
def _name_hints(*names: str | None) -> int:
    bits = 0
    for text in names:
        for name in (text or "")[:MAX_NAME_CHARS].lower().split():
            bits |= _word_hints(name)
    return bits


@lru_cache(maxsize=1 << 16)
def _word_hints(name: str) -> int:
    if name in _EMBEDDED:
        return _BIT["hint_embedded"]
    bits = 0
    starts = [name[i : i + _START_CHARS] for i in range(len(name) - _START_CHARS + 1)]
    for start in _PARTS_BY_START.keys() & starts:
        for part, bit in _PARTS_BY_START[start]:
            if part in name:
                bits |= bit
    for word in name.replace("_", "-").split("-"):
        bits |= _BIT_BY_WORD.get(word, 0)
    return bits
