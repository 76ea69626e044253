"""Recognize pages that a server shows in place of the requested one to robots.

They refuse access, ask for a proof that the reader is human, or ask for JavaScript, a newer browser
or consent. Long pages never count, so that an article about such pages is kept.
"""

import re
from collections.abc import Iterable

MAX_WORDS = 250  # of a refusal, its menus included
MAX_WORD_CHARS = 12  # on average; only to pass over long pages quickly
MAX_REQUEST_WORDS = 80  # of a page that asks for JavaScript, another browser or consent
MAX_OTHER_WORDS = 20  # of prose beside such a request

# Phrases that only a refusal says about itself.
_REFUSAL = re.compile(
    r"your (?:request|access|ip(?: address)?) (?:has been|was|is|has) (?:temporarily )?"
    r"(?:blocked|denied|banned)"
    r"|(?:sorry, )?you have been blocked\b|access to this page (?:has been|is) denied"
    r"|you don.t have permission to access|^access denied\b|^403 forbidden|block reference: ?#"
    r"|(?:attention required! \||performance & security by|^) ?cloudflare\b(?: ray id|$)"
    r"|enable javascript and cookies to continue"
    r"|checking (?:if the site connection is secure|your browser before)"
    r"|^just a moment\.\.\.|(?:verify|confirm|prove|make sure|tell if|sure that)\b.{0,20}"
    r"\byou.{1,3}re (?:a )?(?:human|not a (?:ro)?bot)|\bare (?:you )?(?:a )?human or a (?:ro)?bot"
    r"|verify(?:ing)? (?:that )?you are (?:a )?human|are you a (?:ro)?bot\?|^bot or not\?"
    r"|(?:unusual|suspicious|automated) (?:traffic|activity) (?:from|on) your"
    r"|complete the (?:security check|captcha)|(?:solve|enter) (?:the|this) captcha"
    r"|zugriff (?:wurde )?verweigert|ihre anfrage wurde blockiert|dass sie kein roboter sind"
    r"|accès refusé|votre (?:requête|accès) a été (?:bloquée?|refusée?)|que vous êtes humain"
    r"|acceso denegado|su solicitud ha sido bloqueada|verifique que es humano"
    r"|accesso negato|acesso negado|toegang geweigerd|odmowa dostępu"
    r"|доступ (?:запрещен|ограничен)|访问被拒绝|アクセスが拒否",
    re.IGNORECASE,
)
# Requests that honest pages make too, beside their text.
_REQUEST = re.compile(
    r"(?:enable|activate|turn on|requires?|needs?|without|activer?|habilit[ea]r?|aktivier\w*"
    r"|включите|włącz)\b.{0,40}\b(?:java ?script|cookies)"
    r"|java ?script\b.{0,30}\b(?:disabled|required|enabled|deaktiviert|aktivieren|désactivé"
    r"|desactivado|wyłączon)"
    r"|(?:browser|navigateur|navegador)\b.{0,40}\b(?:not supported|no longer supported"
    r"|unsupported|veraltet|obsolète|no es compatible)"
    r"|unsupported browser|(?:upgrade|update) (?:your|to a newer) browser"
    r"|(?:we|we and our partners|wir|nous) (?:value|use|care about|respect|verwenden|utilisons)\b"
    r".{0,40}\b(?:cookies|privacy)|accept (?:all )?cookies|cookies (?:akzeptieren|zulassen)"
    r"|accepter (?:les|tous les) cookies|aceptar (?:todas las )?cookies|before you continue to"
    r"|bevor sie fortfahren|avant de continuer"
    r"|something went wrong\. wait a moment",
    re.IGNORECASE,
)


# All that a pattern matches contains one of these; searching for them is much faster.
_REFUSAL_KEYS = (
    "block", "denied", "banned", "permission", "forbidden", "cloudflare", "script and cookie",
    "checking", "moment...", "human", "bot", "traffic", "activity", "captcha", "security",
    "verweigert", "refus", "bloqu", "denegad", "negat", "negad", "geweigerd", "odmowa", "доступ",
    "拒",
)  # fmt: skip
_REQUEST_KEYS = (
    "script", "cookie", "browser", "naviga", "navega", "privacy",
    "continue to", "continuer", "fortfahren", "wrong",
)  # fmt: skip


def is_blocked(title: str, paragraphs: Iterable[str], prose: Iterable[str]) -> bool:
    """Return whether a page refuses its reader, by its paragraphs and those that are prose.

    Short pages that say so count, and very short pages that ask for JavaScript, cookies or another
    browser beside at most 20 words of prose.

        >>> is_blocked("Access denied", ["You don't have permission to access this page."], [])
        True
        >>> is_blocked("Cheese", ["Please enable JavaScript."], ["Cheese is made of milk. " * 5])
        False
    """
    texts = [title, *paragraphs]
    if sum(map(len, texts)) > MAX_WORDS * MAX_WORD_CHARS:
        return False
    words = sum(text.count(" ") + 1 for text in texts)
    if words > MAX_WORDS:
        return False
    if any(map(_REFUSAL.search, _with_key(texts, _REFUSAL_KEYS))):
        return True
    if words > MAX_REQUEST_WORDS or not any(map(_REQUEST.search, _with_key(texts, _REQUEST_KEYS))):
        return False
    other = (text for text in prose if not _REQUEST.search(text))
    return sum(len(text.split()) for text in other) <= MAX_OTHER_WORDS


def _with_key(texts: list[str], keys: tuple[str, ...]) -> list[str]:
    """Return the texts that contain a key in any case."""
    lower = "\n".join(texts).lower()
    found = [key for key in keys if key in lower]
    return [text for text in texts if any(key in text.lower() for key in found)] if found else []
