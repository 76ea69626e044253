"""Templates that wrap a text that they show: formatting, links, quotations, lists."""

import re

from wikisum.crawl.wikipedia.templates.rules import (
    Call,
    Rule,
    first,
    joined,
    last,
    prefixed,
    second,
)

_LANGUAGE_CODE = re.compile(r"[a-z]{2,3}(-[a-z-]+)?")


def _interlanguage_link(call: Call) -> str:
    """`Name|de|Name` or the older `de|Name|Name`; `lt` is the text shown instead."""
    is_old = len(call.values) > 1 and _LANGUAGE_CODE.fullmatch(call.value(0))
    return call.get("lt", "label", "display") or call.value(1 if is_old else 0)


def _translated_link(call: Call) -> str:
    """`Page|text|language|page there` of the Russian wiki."""
    return call.value(1) or call.value(0)


def _section_link(call: Call) -> str:
    page, *sections = call.values or [""]
    return call.get("display", "nopage") or " § ".join(part for part in [page, *sections] if part)


def _person(call: Call) -> str:
    """`First|Last|page`, shown as "First Last"."""
    return " ".join(value for value in call.values[:2] if value)


def _harvard_text(call: Call) -> str:
    """`Smith|Jones|1999`, shown as "Smith & Jones (1999)"."""
    *names, year = call.values or [""]
    return f"{' & '.join(names)} ({year})" if names else year


def _post_nominals(call: Call) -> str:
    """`country=GBR|OBE|FRS` or the older `GBR|OBE|FRS`: the letters, separated by commas."""
    values = [value for value in call.values if value]
    is_old = len(values) > 1 and not call.get("country") and re.fullmatch("[A-Z]{3}", values[0])
    return ", ".join(values[1:] if is_old and values[0] in _POST_NOMINAL_COUNTRIES else values)


_POST_NOMINAL_COUNTRIES = frozenset(("GBR", "AUS", "CAN", "NZL", "IND", "IRL", "PAK", "USA", "MYS"))


def _identifier(label: str) -> Rule:
    return Rule(f"Template:{label}", label.lower(), lambda call: f"{label} {first(call)}".strip())


RULES = [
    Rule(
        "Template:Nowrap",
        "nowrap; nobr; nobreak; nbr; j; nwr; nowr; no break; no wrap; no-wrap; wrap; inline block",
        first,
    ),
    Rule("Template:Small", "small; smaller; smalldiv; resize; font; fontsize", last),
    Rule("Template:Big", "big; bigger; large; larger; huge; x-large", first),
    Rule(
        "Template:Strong",
        "strong; b; bold; em; i; italic; italics; it; nobold; noitalic; no italic; emphasis; u; "
        "underline; overline; oline; s; strikethrough; strike; del; not a typo; notatypo; "
        "as written; typo; proper name; normal; upright; highlight; mark; plain text",
        first,
    ),
    Rule("Template:Color", "color; font color; colour; colored text; background color", last),
    Rule("Template:Sub", "sub; sup; subsup; sup sub; superscript; subscript; ind; ssub", first),
    Rule(
        "Template:Abbr",
        "abbr; abbreviation; abbrv; abbrlink; tooltip; h:title; hover title; define; gloss abbr; "
        "acronym; initialism; popup; comment; explain",
        first,
    ),
    Rule(
        "Template:Visible anchor", "visible anchor; vanchor; visanc; va; anchored; vis anc", first
    ),
    Rule(
        "Template:No selflink",
        "no selflink; noselflink; linkless exists; w; wp; l; srlink; wl",
        second,
    ),
    Rule(
        "Template:Interlanguage link",
        "ill; interlanguage link; link-interwiki; illm; iill; "
        "interlanguage link multi; red link with example; ill-wd",
        _interlanguage_link,
    ),
    Rule(
        "Шаблон:Не переведено",
        "нп; нп1; нп2; нп3; нп4; нп5; не переведено; не переведено 5; iw; не переведено 3",
        _translated_link,
    ),
    Rule("Modèle:Lien", "lien", lambda call: call.get("texte", "fr", "trad") or call.value(0)),
    Rule("Template:仮リンク", "仮リンク; 日本語版にない記事リンク", first),
    Rule(
        "Template:Section link",
        "section link; slink; sectionlink; sect; see section",
        _section_link,
    ),
    Rule("Template:Sortname", "sortname; sort name", _person),
    Rule("Template:Sort", "sort", second),
    Rule(
        "Template:Small caps",
        "smallcaps; small caps; sc; sc1; sc2; smallcap; smcaps; scaps; sm; "
        "aut; allcaps; all caps; caps; smallcaps2; sp. caps",
        first,
    ),
    Rule("Template:Title case", "title case; first word; last word", first),
    Rule(
        "Template:Keypress",
        "keypress; key press; key; keyboard; key top; button; keyb",
        joined("+"),
    ),
    Rule(
        "Template:Math",
        "math; mvar; tmath; mathcal; texhtml; bigmath; math tex; var serif; "
        "serif; sans-serif; sans",
        first,
    ),
    Rule(
        "Template:Angbr",
        "angbr; angle bracket; angbr ipa; ab; grapheme; angle bracketed",
        prefixed("⟨", "⟩"),
    ),
    Rule(
        "Template:Bracket",
        "bracket; brackets; interp; square bracket; sqbr; bracketed",
        prefixed("[", "]"),
    ),
    Rule("Template:Linktext", "linktext; link text; wiktlink", joined(" ")),
    Rule("Template:Wikt-lang", "wikt-lang; wiktionary link; wikt; wt; wktl", last),
    Rule("Template:Gloss", "gloss; single quoted; s-quote; sq", prefixed("'", "'")),
    Rule("Template:Double quotes", "double quotes; double+single; dq; quoted", prefixed('"', '"')),
    Rule("Template:Lit", "lit; literally; literal translation; lit.", prefixed("lit. '", "'")),
    Rule("Template:URL", "plain link; plainlink; plainlinks; url; official url; weblink", second),
    Rule(
        "Template:Blockquote",
        "quote; blockquote; cquote; rquote; quotation; bquote; pull quote; poemquote; "
        "centered pull quote; block quote; quote block; poem quote; verse translation; bq; "
        "cita; citazione; citação; citat; zitat; cytat; цитата; quote2; long quotation",
        lambda call: (
            call.get("text", "quote", "texte", "texto", "testo", "1", "content") or call.value(0)
        ),
    ),
    Rule(
        "Template:Q",
        "q; qq; talkquote; tq; q-inline; inline quote; quote inline",
        prefixed('"', '"'),
    ),
    Rule(
        "Template:Plainlist",
        "plainlist; plain list; flatlist; startplainlist; hlist; flat list; unbulleted list; ubl; "
        "ubt; vunblist; cslist; comma separated entries; comma-separated entries; csv; "
        "bulleted list; blist; ordered list; semicolon list; enum; enumerated list; plainrow; "
        "horizontal list; vlist; cle; cse; numbered list; olist; ublist",
        joined(", "),
    ),
    Rule(
        "Template:Harvtxt",
        "harvtxt; harvcoltxt; harvard citation text; harvs; citet",
        _harvard_text,
    ),
    Rule(
        "Template:Post-nominals",
        "post-nominals; postnominals; post nominals; post-nom; post-nominals/gbr; pnl",
        _post_nominals,
    ),
    _identifier("ISBN"),
    _identifier("ISSN"),
    _identifier("OCLC"),
    _identifier("LCCN"),
    Rule("Template:Doi", "doi", prefixed("doi:")),
    Rule("Template:ArXiv", "arxiv", prefixed("arXiv:")),
    Rule("Template:Unicode", "unicode; pua; char; utf-8", first),
    Rule(
        "Template:Nastaliq",
        "nastaliq; nq; naskh; normal script; big script; rtl; bdi; bidi; pe; roman; lino",
        last,
    ),
    Rule("Template:Ruby", "ruby; furigana; ruby-zh-p; ruby-ja; ふりがな; ルビ; 読み", first),
    Rule("Template:Usurped", "usurped; text; tq2; ifsubst; trim; str; noprint; onlyinclude", first),
    Rule(
        "Template:Citation needed span",
        "citation needed span; cn span; cnspan; fact span; cns; "
        "clarify span; disputed span; according to whom span; better source span; vague span; "
        "synthesis span; text-source inline; référence nécessaire; refnec; référence souhaitée; "
        "refsou; passage à sourcer; 要出典; 要出典範囲; 要検証範囲; 誰範囲",
        first,
    ),
]
