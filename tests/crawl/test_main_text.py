import numpy as np

from crawl.block_features import features
from crawl.blocks import read_blocks
from crawl.main_text import default_model, fast_text, logits, main_blocks

PROSE = (
    "The bridge was opened in the summer of 1881, and for eleven years it was the longest arch "
    "in the country, although few people outside the valley had ever heard of it. "
)
PAGE = f"""<html><head><title>The bridge</title></head><body>
<nav><ul><li><a href=/a>Home</a><li><a href=/b>News</a><li><a href=/c>Sport</a></ul></nav>
<div class="cookie-banner">We use cookies on this website to improve your visit.</div>
<article><h1>The bridge</h1>{"".join(f"<p>{PROSE * 3}({n})</p>" for n in range(5))}
<p hidden>Nobody sees this sentence, however long it may be, so it must not be kept.</p></article>
<footer><p>Copyright 2024 by the company. All rights reserved. <a href=/p>Privacy</a></p></footer>
</body></html>"""


def test_main_text_is_kept_and_furniture_is_not():
    title, paragraphs = fast_text(PAGE)
    assert title == "The bridge"
    prose = [p for p in paragraphs if p.startswith("The bridge was opened")]
    assert len(prose) == 5
    text = " ".join(paragraphs)
    for furniture in ("Sport", "cookies", "Copyright", "Nobody sees"):
        assert furniture not in text


def test_a_page_with_little_text_keeps_what_is_no_furniture():
    line = "One line of text that says a little about the bridge and the river."
    assert fast_text(f"<nav><a href=/>Home</a></nav><p>{line}</p>")[1] == [line]
    assert fast_text("") == ("", [])


def test_logits_are_the_weighted_sum():
    model = default_model()
    found = features(read_blocks(PAGE))
    for row, value in enumerate(logits(found, model)):
        literal = model.bias + float(np.dot(model.numbers, found.numbers[:, row]))
        for bit in range(found.above.shape[1]):
            if found.above[row, bit]:
                literal += model.above[bit] + model.rare[bit] * found.rarity[bit]
        assert abs(literal - value) < 1e-6


def test_every_block_has_a_decision():
    page = read_blocks(PAGE)
    assert len(main_blocks(page, default_model())) == len(page.blocks)
