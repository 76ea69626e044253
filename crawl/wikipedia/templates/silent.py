"""Templates that show nothing in running text, by the words of their names.

Navigation, infoboxes, hatnotes, maintenance notes, footnotes, pronunciations, coordinates, icons.
Their rules follow Wikipedia:Template index; each word stands for a family of templates.
"""

import re

_NAMES_BY_KIND = {
    # notes and citations: Wikipedia:Template index/Sources of articles
    "notes and citations": (
        "sfn; dnb; bnf; sfnp; sfnm; sfnmp; sfnref; sfnb; harvnb; harv; harvp; harvcol; "
        "harvcolnb; harvid; "
        "harvard citation no brackets; harvsp; rp; r; ref; ref label; note; note label; efn; "
        "efn-ua; "
        "efn-lr; efn-la; efn-ur; refn; #tag:ref; notetag; notelist; reflist; refbegin; refend; nb; "
        "cref; cref2; cnote; fn; fnb; fnz; inote; ran; rf; sup note; page needed; nfn; snf; "
        "wikicite; listref; note de groupe; références; примечания; 脚注ヘルプ; einzelnachweise; "
        "reference page; reference; kotobank; bref; rn; nhle; nhrp; reply; ping"
    ),
    # maintenance: Wikipedia:Template index/Cleanup
    "maintenance": (
        "cn; fact; facts; dubious; dubious span; clarify; when; who; whom; which; where; why; how; "
        "by whom; by whom?; according to whom; who?; weasel inline; vague; specify; opinion; "
        "pov-inline; neologism inline; peacock inline; citation needed; better source; "
        "better source needed; failed verification; verify source; full; full citation needed; "
        "nonspecific; disputed inline; discuss; update inline; update after; update inline span; "
        "original research inline; or; synthesis inline; unreliable source?; unreliable source; "
        "self-published source; self-published inline; primary source inline; "
        "primary source-inline; "
        "primary inline; third-party inline; medcn; medrs; dn; disambiguation needed; dead link; "
        "deadlink; bare url inline; quantify; relevance inline; relevance-inline; sic; lang?; "
        "cite quote; rs?; ref?; insufficient détails; quand; qui; où; lequel; pas clair; "
        "précision nécessaire; source insuffisante; référence insuffisante; à actualiser; нет аи; "
        "уточнить; кто?; когда?; источник; belege; zukunft; absatz; 要出典2; リンク切れ; 要説明;"
        " いつ"
    ),
    # pronunciation: Wikipedia:Template index/Sound
    "pronunciation": (
        "respell; audio; pronunciation; pron; pron-en; prononciation; api; api'; msapi; listen; "
        "ipa; "
        "ipa-all; ipac; h; tts; lautschrift; 音声; phon; small ipa; afi; usdict; enpr; arabdin; "
        "audio-ipa; audio-de; audio-nohelp; pronounced"
    ),
    # coordinates, icons, anchors, layout
    "coordinates, icons, anchors, layout": (
        "coord; coordinate; coor; coor d; coor dm; coor dms; coord missing; gbmapping; "
        "gbmappingsmall; oscoor; iem4ibx; koord; anchor; anchors; anker; ancre; якорь; clear; clr; "
        "clearleft; clearright; col-begin; col-end; col-break; col-2; col-3; col-4; col-1-of-2; "
        "col-2-of-2; div col; div col end; colbegin; colend; columns-list; multicol; columns; "
        "extinct; dagger; dagger sym; double dagger; increase; decrease; steady; gain; loss; "
        "profit; "
        "won; dni; yes; no; yc; flagicon; flagdeco; flag icon; flagicon image; flagico; drapeau; "
        "флаг; cricon; fbicon; fb icon; loop; ac; goal; yel; sent off; subon; suboff; gold medal; "
        "gold1; silver2; bronze3; gold; silver; bronze; medal; double-dagger; check; cross; tick; "
        "augmentation; augmentation négative; diminution; rise; fall; star; legend; color box; "
        "legend2; farblegende; legend inline; bartable; toc right; toc left; toc limit; toc; "
        "tocright; compact toc; clade; cladex; break2; 0; dé; hide; nobots; bots; italic title; "
        "displaytitle; lowercase; short description; lowercase title; good article; "
        "featured article; featured list; featurette; lesenswert; exzellent; hs; sortkey; ntsh; "
        "dtsh; sort key; !; s-start; s-end; s-bef; portal; portal bar; portail; portal-inline; "
        "commons; wiktionary; wikisource; pdf; commonscat; authority control; normdaten; autorité; "
        "bases; wikidata; external media; multiple image; double image; wide image; image; "
        "css image crop; annotated image; quote box; quotebox; bar box; bar percent; "
        "historical populations; us census population; weather box; climat; klimatabelle; s-break; "
        "fossil range; fossilrange; geological range; long fossil range; personendaten; palette; "
        "mapframe; maplink; maplink2; galerie; gallery; family tree; chart; tree chart; "
        "ahnentafel; "
        "main; see; see also; seealso; further; further information; about; for; redirect; "
        "hatnote; "
        "distinguish; other uses; otheruses; details; hauptartikel; siehe auch; article détaillé; "
        "détails; article principal; article connexe; voir homonymes; see below; see above; below; "
        "above; crossreference; crossref; voir; xref; voir aussi; die; begriffsklärungshinweis; "
        "weiterleitungshinweis; другие значения; см. также; основная статья; otheruseslist; "
        "dieser artikel; loc; autre4; autres; wikibooks; wikiquote; sister; sisterlinks; "
        "spoken wikipedia; dmoz; navboxes; section vide ou incomplète; inflation; inflation-fn; "
        "inflation-year; inflation/year; unbalanced; use dmy dates; use mdy dates; cite; citation; "
        "full date; engvarb; youtube; twitter; instagram; facebook; oed; sep; iep; "
        "official website; "
        "aktuelle arbeitslosenquoten de; keep local; nrhp row; enlink; en; jumelage; tl; tlx; "
        "para; "
        "cl; catlink; vedi anche; vedi; vt; principal; ap; ae; gesprochener artikel; "
        "internetquelle; "
        "literatur; webarchiv; lien web; ouvrage; article; lien brisé; книга; статья; публикация; "
        "wayback; webarchive; ifequal; void; empty; null; noprint; snd2; dieu; google books; "
        "sources; translation; in lang; link language; languageicon; lien arkane; incomplete list; "
        "dynamic list; family name hatnote; spanish name; chinese name; eastern name order; "
        "patronymic name; subject bar; stack; stack begin; stack end; abbreviations"
    ),
}
_NAMES = frozenset(name for names in _NAMES_BY_KIND.values() for name in names.split("; "))
_FAMILIES = re.compile(
    r"infobox|taxobox|speciesbox|automatic taxobox|navbox|sidebar|geobox|drugbox|chembox|protein|"
    r"(?:use|engvar|eb1911|pp-|ipac?-|ipa |cite|citation|harv|sfn|vcite|webarchive|wikisource|"
    r"wikipedia|commons|wiktionary|main\b|see also|other ?uses|redirect|distinguish|about|for\b|"
    r"about\b|refimprove|unreferenced|expand|more |coord|toc\b|campaignbox|positionskarte|pov|"
    r"location map|flagicon|party color|s-|succession|#if|#switch|#invoke|defaultsort|displaytitle|"
    r"sortierung|clé de tri|デフォルトソート|wahldiagramm|флаг |ref-|sister|medal|audio|listen|"
    r"lang-en-|imdb|metadaten|fldez|imagemap|population ger|bildergalerie|mehrere bilder|"
    r"nowikidatalink|#tag|#section|#lst|pagename|shortdesc|infobox|инфобокс|карточка|навигация|"
    r"info/|ficha|scheda|boîte|formule|tabelle|portal)",
    re.IGNORECASE,
)
_ENDINGS = re.compile(
    r".*(?:[ -]stub|infobox|navbox|sidebar| topics?| topic list| icon|-icon|-inline| inline|"
    r" needed|"
    r" begin| end|-begin|-end| series| table| map| timeline| list of| box|box| notice| hatnote|"
    r" name|"
    r" footer| header| navigation|\?| cleanup| section| note| chart| graph| diagram| template|"
    r" portal| succession| squad| standings| results| bracket| link to|redirect| color)",
    re.IGNORECASE,
)
_LANGUAGE_ICON = re.compile(r"[a-z]{2,3}")


def is_silent(name: str, has_values: bool) -> bool:
    """Whether a template shows nothing in running text, by its name in lower case."""
    if name in _NAMES or _FAMILIES.match(name) or _ENDINGS.fullmatch(name):
        return True
    return not has_values and bool(_LANGUAGE_ICON.fullmatch(name))
