r"""The TeX of short formulas as readable text, so that a sentence keeps its variables.

`<math>x_1^2 \le \frac{a+b}{2}</math>` becomes "x₁² ≤ (a+b)/2". The names of commands are those of
https://en.wikipedia.org/wiki/Help:Displaying_a_formula.
"""

import re
from collections.abc import Iterator

MAX_CHARS = 100  # of TeX; longer formulas are seldom read as part of a sentence
_TOKEN = re.compile(r"\\(?:[a-zA-Z]+|.)|[{}^_&]|\s+|[^\\{}^_&\s]", re.DOTALL)
_SYMBOLS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "ϑ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "aleph": "ℵ", "ell": "ℓ", "hbar": "ℏ", "infty": "∞",
    "partial": "∂", "nabla": "∇", "emptyset": "∅", "varnothing": "∅", "prime": "′", "angle": "∠",
    "times": " × ", "cdot": "·", "div": " ÷ ", "pm": " ± ", "mp": " ∓ ", "ast": "*", "star": "⋆",
    "le": " ≤ ", "leq": " ≤ ", "ge": " ≥ ", "geq": " ≥ ", "ne": " ≠ ", "neq": " ≠ ", "ll": " ≪ ",
    "gg": " ≫ ", "lt": " < ", "gt": " > ", "approx": " ≈ ", "sim": " ~ ", "equiv": " ≡ ",
    "cong": " ≅ ", "propto": " ∝ ", "to": " → ", "rightarrow": " → ", "leftarrow": " ← ",
    "leftrightarrow": " ↔ ", "Rightarrow": " ⇒ ", "Leftrightarrow": " ⇔ ", "iff": " ⇔ ",
    "mapsto": " ↦ ", "in": " ∈ ", "notin": " ∉ ", "ni": " ∋ ", "subset": " ⊂ ",
    "subseteq": " ⊆ ", "supset": " ⊃ ", "supseteq": " ⊇ ", "cup": " ∪ ", "cap": " ∩ ",
    "setminus": " ∖ ", "land": " ∧ ", "wedge": " ∧ ", "lor": " ∨ ", "vee": " ∨ ", "neg": "¬",
    "lnot": "¬", "forall": "∀", "exists": "∃", "otimes": " ⊗ ", "oplus": " ⊕ ", "circ": " ∘ ",
    "parallel": " ∥ ", "perp": " ⊥ ", "mid": " | ", "vert": "|", "Vert": "‖", "sum": "∑",
    "prod": "∏", "int": "∫", "langle": "⟨", "rangle": "⟩", "ldots": "…", "dots": "…",
    "dotsc": "…", "dotsb": "…", "cdots": "…", "colon": ": ", "quad": " ", "qquad": " ",
    "lbrace": "{", "rbrace": "}", "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉",
    "R": "ℝ", "N": "ℕ", "Z": "ℤ", "Q": "ℚ", "C": "ℂ", "Re": "Re", "Im": "Im", "bmod": " mod ",
    "mod": " mod ",
}  # fmt: skip
_SYMBOLS |= {mark: mark for mark in "{}%$#&_"} | dict.fromkeys(",;: ", " ") | {"!": "", "|": "‖"}
_NAMES = frozenset((
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh",
    "log", "ln", "lg", "exp", "lim", "max", "min", "sup", "inf", "det", "dim", "ker", "gcd", "deg",
    "arg", "Pr", "hom",
))  # fmt: skip
_WITHOUT_TEXT = frozenset((
    "left", "right", "big", "Big", "bigl", "bigr", "Bigl", "Bigr", "displaystyle", "textstyle",
    "scriptstyle", "limits", "nolimits", "rm", "bf", "it", "cal",
))  # fmt: skip
_FONTS = frozenset((
    "text", "textrm", "textit", "textbf", "mathrm", "mathit", "mathbf", "mathsf", "mathtt",
    "mathcal", "mathfrak", "mathscr", "mathbb", "boldsymbol", "bold", "operatorname", "mbox",
))  # fmt: skip
_ACCENTS = {
    "bar": "\u0304", "overline": "\u0304", "hat": "\u0302", "widehat": "\u0302", "vec": "\u20d7",
    "tilde": "\u0303", "widetilde": "\u0303", "dot": "\u0307", "ddot": "\u0308",
}  # fmt: skip
_FRACTIONS = frozenset(("frac", "tfrac", "dfrac", "cfrac"))
_RAISED = str.maketrans("0123456789+-−ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿⁱ")
_LOWERED = str.maketrans("0123456789+-−", "₀₁₂₃₄₅₆₇₈₉₊₋₋")
_RAISABLE = re.compile(r"[0-9+\-−ni]+|[′*]+")
_LOWERABLE = re.compile(r"[0-9+\-−]+")
_ATOM = re.compile(r"[\w.′]+|\([^()]*\)")
_LOOSE = re.compile(r"(?<=\() +| +(?=\))|(?<=[a-z]) +(?=[(^⁰¹²³⁴-⁹⁻ⁿⁱ])")
_SIGN = re.compile(r" *(?<![(\[^_=<>≤≥,;]) *([=<>]) *")


class _Unreadable(Exception):
    """A formula has a command or a layout that text cannot show."""


def formula_text(tex: str) -> str | None:
    r"""Return a formula as one line of text, or None if it is long or cannot be read that way.

    >>> formula_text(r"x_i - \bar{x} \le \frac{a+b}{2}")
    'x_i - x̄ ≤ (a+b)/2'
    """
    if not tex.strip() or len(tex) > MAX_CHARS:
        return None
    tokens = iter(_TOKEN.findall(tex.replace("~", " ")))
    try:
        text = _group(tokens, is_outer=True)
    except _Unreadable:
        return None
    text = " ".join(_SIGN.sub(r" \1 ", text).split())
    return _LOOSE.sub("", text).strip(" ,.;") or None


def _group(tokens: Iterator[str], is_outer: bool = False) -> str:
    """Return the text up to the brace that ends the group, or to the end of the formula."""
    text = ""
    for token in tokens:
        if token == "}":
            if is_outer:
                raise _Unreadable
            return text
        text += _shown(token, tokens)
    if not is_outer:
        raise _Unreadable
    return text


def _shown(token: str, tokens: Iterator[str]) -> str:
    """Return the text of a token and of the arguments that it takes from `tokens`."""
    if token == "{":
        return _group(tokens)
    if token in "^_":
        return _script(_argument(tokens), token)
    if token == "&":
        raise _Unreadable
    if token[0] != "\\":
        return " " if token.isspace() else token.replace("'", "′")
    name = token[1:]
    if name in _FONTS:
        return _argument(tokens)
    if name in _ACCENTS:
        text = _argument(tokens)
        return text + _ACCENTS[name] if len(text) == 1 else text
    if name in _FRACTIONS:
        return f"{_atom(_argument(tokens))}/{_atom(_argument(tokens))}"
    if name == "sqrt":
        text = _argument(tokens)
        if text == "[":  # the degree of another root
            raise _Unreadable
        return f"√{_atom(text)}"
    if name in _WITHOUT_TEXT:
        return ""
    if name in _NAMES:
        return f" {name} "
    if name not in _SYMBOLS:
        raise _Unreadable
    return _SYMBOLS[name]


def _argument(tokens: Iterator[str]) -> str:
    """Return the text of the next token or group, as TeX takes it."""
    for token in tokens:
        if token == "}":
            break
        if not token.isspace():
            return _shown(token, tokens).strip()
    raise _Unreadable


def _script(text: str, mark: str) -> str:
    """Return an exponent or index, as small characters if they exist."""
    if mark == "^":
        if text in ("∘", "°"):
            return "°"
        return text.translate(_RAISED) if _RAISABLE.fullmatch(text) else f"^{_atom(text)}"
    return text.translate(_LOWERED) if _LOWERABLE.fullmatch(text) else f"_{_atom(text)}"


def _atom(text: str) -> str:
    """Return the text in parentheses unless it is a single word or number."""
    return text if _ATOM.fullmatch(text) else f"({text})"
