"""Pages that are no articles: redirects, disambiguation pages, set indexes.

A set index (Wikipedia:Set index articles) lists things of one kind that share a name: surnames,
given names, ships. Like a disambiguation page it has no subject that a page could be about.
"""

import re

_REDIRECT = re.compile(
    r"\s*[#＃]\s*(redirect|weiterleitung|redirection|redirección|rinvia|rinvio|redirecionamento|"
    r"doorverwijzing|patrz|przekieruj|перенаправление|перенаправлення|転送|リダイレクト|重定向|"
    r"넘겨주기|تحويل|הפניה|تغییرمسیر|omdirigering|ohjaus|přesměruj|átirányítás|yönlendirme)",
    re.IGNORECASE,
)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:template:)?(?:[\w -]*\bdisambig(?:uation)?(?: page| cleanup)?|disamb|dab|hndis|"
    r"hndis-cleanup|human name disambiguation|geodis|place name disambiguation|mil-?unit-?dis|"
    r"numberdis|letter-number ?combdis(?:ambig)?|mathdab|roaddis|schooldis|hospitaldis|airport"
    r"dis|callsigndis|tndis|sndis|wp disambig|begriffsklärung|homonymie|desambiguaci[oó]n|"
    r"disambigua|desambiguação|ujednoznacznienie|dp|aimai|曖昧さ回避|неоднозначность|"
    r"многозначность|неоднозначність|消歧义|消歧義|동음이의|توضيح|פירושונים|förgrening|peker|"
    r"täsmennyssivu|rozcestník|egyért|anlam ayrımı)\s*[|}]|__disambig__",
    re.IGNORECASE,
)
_SET_INDEX = re.compile(
    r"\{\{\s*(?:template:)?(?:sia|set ?index(?: article)?|surnames?|family name|given ?names?|"
    r"forenames?|first name|nickname|patronymic|name ?list|given name and surname|"
    r"(?:ship|class|mountain|storm|hurricane|typhoon|road|highway|lake|river|sports?|chemistry|chem|"
    r"enzyme|locomotive|media set|molecular formula|molform|plant|animal|fungus|flag|"
    r"military unit|hms|uss) ?index|(?:plant|animal|fungus) common name|common name set index|"
    r"nom de famille|patronyme|prénom|фамилия|фамилии|人名一覧|nombre de pila|apellido)\s*[|}]",
    re.IGNORECASE,
)
_LIST_FOLLOWS = re.compile(
    r"[^.\n]{0,200}\b(?:(?:may|can|could|might) (?:also )?(?:either )?(?:refer|apply) to\b[^.\n]*|"
    r"(?:people|persons|bearers|individuals)\b[^.\n]{0,60}\b(?:sur|given |family |first )?name\b"
    r"[^.\n]{0,40}\binclude):?",
    re.IGNORECASE,
)


def is_redirect(text: str) -> bool:
    """Whether the markup of a page is a redirect."""
    return bool(_REDIRECT.match(text))


def is_disambiguation(title: str, text: str) -> bool:
    """Whether a page is a disambiguation page, by its title or a template on it."""
    return title.endswith("(disambiguation)") or bool(_DISAMBIGUATION.search(text))


def is_set_index(text: str) -> bool:
    """Whether a page is a set index, by a template on it."""
    return bool(_SET_INDEX.search(text))


def is_list_of_meanings(lead: str, has_sections: bool) -> bool:
    """Whether a plain lead is only "A may refer to:" with a list below it."""
    opening, _, rest = lead.partition("\n")
    if not (rest or has_sections):
        return False
    sentence = opening.rstrip().rpartition(". ")[2]
    return bool(_LIST_FOLLOWS.fullmatch(sentence)) and opening.rstrip()[-1:] != "."
