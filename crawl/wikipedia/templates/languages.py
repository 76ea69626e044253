"""Templates that mark a text as of another language, or write it in another script."""

from wikisum.crawl.wikipedia.templates.rules import Call, Rule, first, joined, last

_NAMES = (
    "af Afrikaans;am Amharic;ang Old English;ar Arabic;arc Aramaic;arz Egyptian Arabic;"
    "az Azerbaijani;"
    "be Belarusian;ber Berber;bg Bulgarian;bn Bengali;bo Tibetan;br Breton;bs Bosnian;ca Catalan;"
    "ckb Central Kurdish;co Corsican;cop Coptic;cs Czech;cy Welsh;da Danish;de German;el Greek;"
    "en English;eo Esperanto;es Spanish;et Estonian;eu Basque;fa Persian;fi Finnish;fil Filipino;"
    "fo Faroese;fr French;fro Old French;fy West Frisian;ga Irish;gd Scottish Gaelic;gl Galician;"
    "grc Ancient Greek;gu Gujarati;ha Hausa;haw Hawaiian;he Hebrew;hi Hindi;hr Croatian;"
    "hu Hungarian;"
    "hy Armenian;id Indonesian;is Icelandic;it Italian;ja Japanese;jv Javanese;ka Georgian;"
    "kk Kazakh;"
    "km Khmer;kn Kannada;ko Korean;ku Kurdish;ky Kyrgyz;la Latin;lb Luxembourgish;lo Lao;"
    "lt Lithuanian;lv Latvian;mi Māori;mk Macedonian;ml Malayalam;mn Mongolian;mr Marathi;ms Malay;"
    "mt Maltese;my Burmese;nah Nahuatl;nap Neapolitan;nb Norwegian Bokmål;ne Nepali;nl Dutch;"
    "nn Norwegian Nynorsk;no Norwegian;non Old Norse;oc Occitan;or Odia;pa Punjabi;pl Polish;"
    "ps Pashto;pt Portuguese;qu Quechua;rm Romansh;ro Romanian;ru Russian;sa Sanskrit;sc Sardinian;"
    "scn Sicilian;sco Scots;sh Serbo-Croatian;si Sinhala;sk Slovak;sl Slovene;so Somali;"
    "sq Albanian;"
    "sr Serbian;su Sundanese;sv Swedish;sw Swahili;ta Tamil;te Telugu;tg Tajik;th Thai;ti Tigrinya;"
    "tk Turkmen;tl Tagalog;tr Turkish;tt Tatar;ug Uyghur;uk Ukrainian;ur Urdu;uz Uzbek;"
    "vi Vietnamese;"
    "yi Yiddish;yo Yoruba;zh Chinese;zu Zulu;prs Dari;pes Persian;cu Church Slavonic;kab Kabyle"
)
LANGUAGE_BY_CODE = dict(entry.split(" ", 1) for entry in _NAMES.split(";"))
_CHINESE = (
    ("t", "traditional Chinese"), ("s", "simplified Chinese"), ("c", "Chinese"), ("p", "pinyin"),
    ("w", "Wade–Giles"), ("j", "Jyutping"), ("y", "Yale"), ("poj", "Pe̍h-ōe-jī"), ("l", "lit."),
)  # fmt: skip
_KOREAN = (
    ("hangul", "Korean"), ("hanja", "Hanja"), ("rr", "RR"), ("mr", "MR"), ("lk", ""),
)  # fmt: skip


def _of_language(call: Call) -> str:
    """`fr|texte`: the text."""
    return call.get("text") or call.value(1) or call.value(0)


def label_language(code: str, values: list[str], call: Call) -> str:
    """Return `Russian: text, romanized: translit`, as Template:Langx shows it.

    English wikis show the language's name; others have names of their own, which are left out.
    """
    text, romanized = (*values, "", "")[:2]
    romanized = romanized or call.get("translit", "tr", "transl")
    gloss = call.get("lit", "translation")
    name = LANGUAGE_BY_CODE.get(code) if call.language == "en" else None
    label = name and call.get("label", "links") not in ("no", "none", "-")
    shown = f"{name}: {text}" if label and text else text
    if romanized and romanized != "-":
        shown += f", romanized: {romanized}" if shown else romanized
    return f"{shown}, lit. '{gloss}'" if gloss and shown else shown


def _langx(call: Call) -> str:
    """`ru|text|translit`."""
    return label_language(call.value(0).partition("-")[0].lower(), call.values[1:3], call)


def _japanese(call: Call) -> str:
    """`English|kanji|romaji|extra` -> `English (kanji, romaji, extra)`."""
    english, kanji, romaji, *extra = (*call.values, "", "", "", "")[:5]
    if call.is_on("lead") and kanji:
        kanji = f"Japanese: {kanji}"
        romaji = romaji and f"Hepburn: {romaji}"
    if not english:
        english, romaji = romaji, ""
    inside = ", ".join(part for part in (kanji, romaji, *extra[:1], call.get("extra")) if part)
    return f"{english} ({inside})" if english and inside else english or inside


def _japanese_romaji_first(call: Call) -> str:
    """`English|kanji|romaji` -> `romaji (kanji, English)`."""
    english, kanji, romaji = (*call.values, "", "", "")[:3]
    inside = ", ".join(part for part in (kanji, english) if part)
    return f"{romaji} ({inside})" if romaji and inside else romaji or inside


def _labels(call: Call, labels: tuple[tuple[str, str], ...]) -> str:
    parts = [(label, value) for key, label in labels if (value := call.get(key))]
    shown = "; ".join(f"{label}: {value}" if label else value for label, value in parts)
    return shown or last(call)


def _reading(call: Call) -> str:
    """`漢字|かんじ` -> `漢字（かんじ）`."""
    return f"{call.value(0)}（{call.value(1)}）" if call.value(1) else call.value(0)


RULES = [
    Rule("Template:Lang", "lang; langue; en langue; langr; lang-rtl; rtl-lang; foreign; lango; "
         "язык; lang2; llang; wikt-lang-text; script; lingua; idioma; langnf; lang/it",
         _of_language),
    Rule("Template:Langx", "langx; lang-x; langinfo", _langx),
    Rule("Template:Transliteration", "transl; transliteration; tlit; xlit; translit; "
    "translittération; "
         "romanization; transl2; translação", last),
    Rule("Template:Native name", "native name; native phrase; native_name", _of_language),
    Rule("Template:Nihongo", "nihongo; nihongo title; nihongo core; nihongo foot title", _japanese),
    Rule("Template:Nihongo2", "nihongo2; nihongo-s; jp; kanji; ja-text; hiragana; jis2004フォント; "
         "cjkv; 補助漢字フォント; jisx0213フォント; unicodeフォント", first),
    Rule("Template:Nihongo3", "nihongo3; nihongo4; nihongo krt; nihongokrt",
    _japanese_romaji_first),
    Rule("Template:Nihongo foot", "nihongo foot; nihongo note", first),
    Rule("Template:Korean", "korean; ko-hhrm; lang-ko-text; korean/auto",
         lambda call: _labels(call, _KOREAN)),
    Rule("Template:Zh", "zh; zh-full; zh-hans; zh-hant; zh-cpw; zh-cp; zh-ts; zh-stp; zh-tp; zh-c; "
         "lang-zh; zh-tsp; linktext-zh", lambda call: _labels(call, _CHINESE)),
    Rule("틀:한자", "한자; 문화어; 중국어", joined(" ")),
    Rule("Template:読み仮名", "読み仮名; 読み仮名 ruby不使用; よみがな", _reading),
    Rule("Modèle:Latin", "latin; grec ancien; japonais; chinois; russe; grec; arabe; hébreu; "
         "allemand; anglais", last),
]  # fmt: skip
