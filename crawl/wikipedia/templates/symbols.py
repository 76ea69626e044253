"""Templates that show a fixed character or word: dashes, spaces, quotation marks, formulas."""

from wikisum.crawl.wikipedia.marks import APOSTROPHE
from wikisum.crawl.wikipedia.templates.rules import Rule, prefixed

_MUSIC = {
    "sharp": "♯", "#": "♯", "flat": "♭", "b": "♭", "natural": "♮", "double sharp": "𝄪", "x": "𝄪",
    "double flat": "𝄫", "bb": "𝄫",
}  # fmt: skip
_FORMULAS = (
    "CO2; H2O; O2; N2; H2; O3; CH4; N2O; NO2; SO2; SO3; NOx; NH3; H2S; HNO3; H2SO4; CaCO3; SiO2; "
    "Fe2O3; TiO2; UF6; UO2; SF6; H2O2; CO"
)


RULES = [
    Rule("Template:En dash", "en dash; endash; ndash; –; nsndns; nsndashns; nsnd; dash", "–"),
    Rule("Template:Em dash", "em dash; emdash; mdash; —; mdashb; mdashes", "—"),
    Rule(
        "Template:Spaced en dash",
        "spaced en dash; spaced endash; spaced ndash; snd; sndash; spnd; spndash; spaced en dash "
        "space; nbndash; snds; sned; spaced dash; s-dash; ndashb",
        " – ",
    ),
    Rule("Template:Spaced em dash", "spaced em dash; spaced mdash; smd; snmd; spmd", " — "),
    Rule("Template:Hyphen", "hyphen; nbhyph; nbhyphen; nbh; non-breaking hyphen; hyp", "-"),
    Rule("Template:Minus sign", "minus; minus sign", "−"),
    Rule(
        "Template:Space",
        "space; nbsp; spaces; thinsp; thin space; hair space; hairsp; nnbsp; narrow nbsp; ensp; "
        "emsp; figure space; figsp; sp; nbs; indent; break; br; crlf; pad; px2; gap; ident; -; "
        "clear left; quad; em space; en space; nb5; 5 spaces; break line",
        " ",
    ),
    Rule("Template:Zero width space", "zwsp; wbr; zwnj; zwj; shy; soft hyphen; zwnbsp; wj", ""),
    Rule("Template:'", "'; apostrophe; apos; '-; -'; left single quote", APOSTROPHE),
    Rule("Template:'s", "'s; s'; apostrophe s", f"{APOSTROPHE}s"),
    Rule("Template:\" '", "\" '; \"'; -\"'", f'" {APOSTROPHE}'),
    Rule("Template:' \"", "' \"; '\"; '\"-", f'{APOSTROPHE} "'),
    Rule('Template:-"', '-"; "-; \'" -', '"'),
    Rule("Template:=", "=; equals; equal", "="),
    Rule("Template:!", "!; pipe; !-; vertical bar; |", "|"),
    Rule("Template:((", "((; {{", ""),
    Rule("Template:))", ")); }}", ""),
    Rule("Template:Okina", "okina; ʻ", "ʻ"),
    Rule("Template:Hamza", "hamza", "ʼ"),
    Rule("Template:Ayin", "ayin; ain", "ʽ"),
    Rule("Template:Asper", "asper", "ʽ"),
    Rule("Template:·", "·; middot; dot; •; bull; bullet; dot separator; interpunct; •w; ·w", " · "),
    Rule("Template:\\", "\\; /; slash", " / "),
    Rule("Template:Ellipsis", "ellipsis; ...; …; .. .", "…"),
    Rule("Template:Degree", "degree; degrees; deg sign", "°"),
    Rule("Template:Deg", "deg", prefixed("", "°")),
    Rule("Modèle:Ier", "ier", "Ier"),
    Rule("Modèle:Ire", "ire", "Ire"),
    Rule("Modèle:1er", "1er", "1er"),
    Rule("Modèle:1re", "1re", "1re"),
    Rule("Template:Carbon", "carbon", "C"),
    Rule("Template:Hydrogen", "hydrogen", "H"),
    Rule("Template:Nitrogen", "nitrogen", "N"),
    Rule("Template:Oxygen", "oxygen", "O"),
    Rule("Template:Pi", "pi", "π"),
    Rule("Template:Tau", "tau", "τ"),
    Rule("Template:Phi", "phi", "φ"),
    Rule("Template:Mu", "mu", "μ"),
    Rule("Template:Lambda", "lambda", "λ"),
    Rule("Template:Infinity", "infinity; infty", "∞"),
    Rule("Template:Plus-minus", "plus-minus; +-; ±; plusminus; pm", prefixed("±")),
    Rule("Template:Times", "times; ×", "×"),
    Rule("Template:Approx", "approx; approximately; ~", prefixed("approx. ")),
    Rule("Template:Section sign", "section sign; §", prefixed("§ ")),
    Rule("Template:Numero", "numero; no.; number sign", prefixed("No. ")),
    Rule(
        "Template:Music",
        "music; musical note",
        lambda call: _MUSIC.get(call.value(0).lower(), call.value(0)),
    ),
    Rule("Template:Sharp", "sharp", prefixed("", "♯")),
    Rule("Template:Flat", "flat", prefixed("", "♭")),
    Rule("Template:Number sign", "hash; num sign", "#"),
    Rule("Template:Asterisk", "asterisk; asterisks", "*"),
    Rule("Template:BCE", "bce", "BCE"),
    Rule("Template:BC", "bc", prefixed("", " BC")),
    Rule("Template:CE", "ce", prefixed("", " CE")),
    Rule("Template:AD", "ad; a.d.", prefixed("AD ")),
    Rule("Template:Euro", "euro sign", "€"),
    Rule(
        "Template:Spaced bullet",
        "spaced bullet",
        lambda call: f" {call.value(0)} " if call.values else " ",
    ),
    *(Rule(f"Template:{formula}", formula.lower(), formula) for formula in _FORMULAS.split("; ")),
]
