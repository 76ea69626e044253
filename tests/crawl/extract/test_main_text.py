import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.crawl.extract.block_features import NUMBER_NAMES, features
from wikisum.crawl.extract.blocks import read_blocks
from wikisum.crawl.extract.hints import BIT_NAMES
from wikisum.crawl.extract.main_text import (
    Model,
    default_model,
    fast_text,
    logits,
    main_blocks,
    read_model,
)

SENTENCE = "The bridge, which opened in 1881, carried trains over the river until the line closed. "
MENU = "<ul class=menu>" + "".join(f"<li><a href=/{i}>Section {i}</a>" for i in range(30)) + "</ul>"
TEASERS = "".join(
    f"<div class='related-card'><h3><a href=/s{i}>Another story, number {i}</a></h3></div>"
    for i in range(10)
)
ARTICLE = f"""<html><head><title>The bridge</title></head><body><header>{MENU}</header>
<nav>Menu Home</nav><div id=cookie-consent><p>We use cookies. {SENTENCE}</p></div>
<article><h1>The bridge</h1><div class=entry-content>
{"".join(f"<p>Paragraph {i}. {SENTENCE * 3}</p>" for i in range(8))}
<p hidden>Nobody sees this. {SENTENCE}</p></div></article><aside class=sidebar>{TEASERS}</aside>
<form><label>Your e-mail address</label><input></form>
<footer><p>Copyright 2020 The Bridge Company. All rights reserved.</p></footer></body></html>"""


def test_article_without_its_furniture():
    title, paragraphs = fast_text(ARTICLE.encode())
    assert title == "The bridge"
    assert [p for p in paragraphs if p != "The bridge"] == [
        f"Paragraph {i}. {SENTENCE * 3}".strip() for i in range(8)
    ]


def test_small_page_is_kept_but_for_its_furniture():
    html = "<nav>Home</nav><h1>T</h1><p>One <a>x</a>.</p><ul><li>a</ul><footer>©</footer>"
    assert fast_text(html.encode())[1] == ["T", "One x.", "a"]


@pytest.mark.parametrize(
    ("count", "is_kept"),
    [
        (1, [True, True, True]),  # a tiny page: everything
        (4, [True, True, False]),  # a small one: but for links
    ],
)
def test_links_on_small_pages(count, is_kept):
    prose = f"<p>{SENTENCE * count}"
    page = read_blocks(f"{prose}<p>Half a <a>link</a>.<p><a>Only a link</a>".encode())
    none = default_model()._replace(threshold=np.inf)
    assert main_blocks(page, none) == is_kept


def model_of(threshold: float, weights: dict[str, float]) -> Model:
    """Return a model whose logit is the weighted sum of a few features, where it is positive."""
    names = (*NUMBER_NAMES, *(f"{k}_{b}" for k in ("above", "rare") for b in BIT_NAMES))
    found = {name: [weights.get(name, 0.0)] for name in names}
    text = {"threshold": threshold, "bias": [0], "output": [1], "output_bias": 0}
    return read_model(json.dumps({**text, "weights": found}))


@pytest.mark.parametrize(("logit", "is_kept"), [(1.9, False), (2.1, True)])
def test_a_long_line_that_is_a_link_needs_more_evidence(logit, is_kept):
    line = f"<p><a href=x>{SENTENCE}</a>"
    page = read_blocks(f"<h1>{SENTENCE}</h1>{f'<p>{SENTENCE * 3}' * 9}{line}".encode())
    model = model_of(0.5, {"tag_p": logit})
    assert main_blocks(page, model) == [False] + [True] * 9 + [is_kept]


def test_the_best_prose_is_kept_where_hardly_any_would_be():
    prose = [f"<div>{SENTENCE * 3}</div>", f"<p>{SENTENCE * 3}</p>", f"<pre>{SENTENCE * 9}</pre>"]
    page = read_blocks(f"<h1>Not prose</h1>{''.join(prose)}".encode())
    weights = {"tag_div": 3.0, "tag_p": 4.5, "tag_pre": 1.0}
    assert main_blocks(page, model_of(9.0, weights)) == [False, True, True, False]
    assert main_blocks(page, model_of(4.0, weights)) == [False, False, True, False]


def test_quoted_posts_belong_to_the_text_before_them():
    post = f"<blockquote class=twitter-tweet><p>{SENTENCE}<p>A name</blockquote>"
    page = read_blocks(f"<div>{SENTENCE * 9}</div>{post}<h2>{SENTENCE * 9}</h2>{post}".encode())
    model = model_of(0.5, {"tag_div": 1.0})
    assert main_blocks(page, model) == [True, True, True, False, False, False]


def test_page_without_text():
    assert fast_text(b"") == ("", [])
    assert fast_text(b"<script>x</script>") == ("", [])


def test_features_have_their_names():
    page = read_blocks(ARTICLE.encode())
    found = features(page)
    count = len(page.texts)
    assert found.numbers.shape == (len(NUMBER_NAMES), count)
    assert found.above.shape == (count, len(BIT_NAMES))
    assert found.rarity.shape == (len(BIT_NAMES),)
    row = dict(zip(NUMBER_NAMES, found.numbers, strict=True))
    heading = page.texts.index("The bridge")
    assert row["tag_h1"][heading] == row["title"][heading] == 1
    assert row["tag_p"].sum() == 9
    assert row["place"] == pytest.approx((np.arange(count) + 0.5) / count)
    assert found.above[heading, BIT_NAMES.index("article")] == 1


def test_logit_by_hand():
    names = (*NUMBER_NAMES, *(f"{k}_{b}" for k in ("above", "rare") for b in BIT_NAMES))
    weights = {name: [0.0, 0.0] for name in names}
    weights |= {"short": [2.0, 0.0], "above_header": [-0.5, 3.0], "rare_form": [4.0, 0.5]}
    text = {"threshold": 0.0, "bias": [1, -1], "output": [1, -2], "output_bias": 0.5}
    model = read_model(json.dumps({**text, "weights": weights}))
    page = read_blocks(b"<header><p>ab</p></header><form>cd</form><p>ef</p><p>gh</p>")
    hidden = [[1 + 2 - 0.5, -1 + 3], [1 + 2 + 4 * 0.75, 0], [3, 0], [3, 0]]
    expected = [first - 2 * second + 0.5 for first, second in hidden]
    assert logits(features(page), model) == pytest.approx(expected)


def test_a_model_with_a_missing_weight_is_refused():
    with pytest.raises(KeyError):
        read_model('{"threshold": 0, "bias": [0], "weights": {}}')


@pytest.mark.slow
@given(st.lists(st.sampled_from(["<p>", "<div>", "</div>", "<li>", "<td>", SENTENCE, " x "])))
def test_any_page_has_one_finite_decision_a_block(parts):
    page = read_blocks("".join(parts).encode())
    assert len(main_blocks(page, default_model())) == len(page.texts)
    if page.texts:
        assert np.isfinite(logits(features(page), default_model())).all()


@pytest.mark.slow
def test_main_text_of_real_pages_is_found(real_data):
    """Not a measure of quality (the model has seen these pages): the parts still fit together."""
    found = marked = both = 0
    with gzip.open(real_data / "extraction-dev.jsonl.gz") as lines:
        for line in lines:
            page = json.loads(line)
            ours = set(" ".join(fast_text(page["html"].encode())[1]).split())
            theirs = set(page["text"].split())
            found, marked, both = found + len(ours), marked + len(theirs), both + len(ours & theirs)
    assert both / found > 0.9
    assert both / marked > 0.93
