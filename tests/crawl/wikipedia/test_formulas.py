import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.wikipedia.formulas import MAX_CHARS, formula_text


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        ("n", "n"),
        ("E=mc^2", "E = mc²"),
        (r"x_1,\dotsc,x_n", "x₁,…,x_n"),
        (r"x_{n+1}^{-1}", "x_(n+1)⁻¹"),
        (r"x_i - \bar{x} \le \frac{a+b}{2}", "x_i - x̄ ≤ (a+b)/2"),
        (r"\left( \frac{2}{3} \cdot 3\right)", "(2/3 · 3)"),
        (r"\sin^2\theta", "sin²θ"),
        (r"(\sin(\alpha))^{-1}", "(sin(α))⁻¹"),
        (r"90^\circ", "90°"),
        (r"\{1,2,\ldots,B\}", "{1,2,…,B}"),
        (r"\sqrt{2}\,\mathrm{km}", "√2 km"),
        ("f''(x) = 0.", "f′′(x) = 0"),
        (r"~|p\rangle~", "|p⟩"),
    ],
)
def test_short_formulas(tex, text):
    assert formula_text(tex) == text


@pytest.mark.parametrize(
    "tex",
    ["", " ", "x_", "a}", "{a", r"\frac a", r"\unknown x", r"\sqrt[3]{x}", "a & b",
     r"\begin{matrix}a\end{matrix}", "x" * (MAX_CHARS + 1)],
)  # fmt: skip
def test_what_cannot_be_read_has_no_text(tex):
    assert formula_text(tex) is None


@given(st.text("\\{}^_& ab1'<>=", max_size=40))
def test_any_formula_becomes_one_line_or_nothing(tex):
    text = formula_text(tex)
    assert text is None or (text and text == " ".join(text.split()) and "\\" not in text)
