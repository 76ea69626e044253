import io
import json
import re

import pytest
from lxml import html

from wikisum.models.decoding.summary_files import ReadParagraph, Summary
from wikisum.models.evaluation.evaluate import EvaluationSettings, evaluate
from wikisum.models.evaluation.page import attention, example, html_page, text_pieces
from wikisum.pipeline.records import Section

READ = (
    ReadParagraph("The old bridge was painted green by twelve men.", "http://a.example/", 0.7),
    ReadParagraph("Trains go over the river every hour.", "http://b.example/", 0.3),
)
TRICKY = "</script><script>document.title='caught'</script> & \u2028 <!--"


def summary(number, text, model="ht", **changes):
    plain = Summary(
        f"{number:016x}", f"Bridge {number}", f"The lead {number}.", text, model=model,
        run="f00d", paragraphs=READ, lead_tokens=5, lead_log_prob=-5.0 - number,
    )  # fmt: skip
    return plain._replace(**changes)


def written(tmp_path, *systems, count=2_000):
    """The page of systems, each a list of summaries."""
    paths = []
    for number, rows in enumerate(systems):
        paths.append(tmp_path / f"{number}.jsonl")
        plain = [r.plain() for r in rows]
        paths[-1].write_text("".join(json.dumps(r) + "\n" for r in plain))
    settings = EvaluationSettings(samples=20, page_examples=count)
    found, read = evaluate(paths, None, settings, io.StringIO())
    page = tmp_path / "index.html"
    page.write_text(html_page(found, read))
    return page


def test_a_summary_is_cut_at_its_copied_runs():
    row = summary(0, "Now, the old bridge was red; “trains go over the river”, they say.")
    pieces = text_pieces(row.summary, row)
    assert "".join(text for text, _ in pieces) == row.summary
    assert pieces == [
        ("Now, ", None),
        ("the old bridge was", 0),
        (" red; ", None),
        ("“trains go over the river”,", 1),
        (" they say.", None),
    ]


def test_runs_that_overlap_are_shown_once():
    row = summary(0, "one two three four five six")
    row = row._replace(
        paragraphs=(ReadParagraph("one two three four"), ReadParagraph("three four five six"))
    )
    assert text_pieces(row.summary, row) == [("one two three four", 0), (" five six", 1)]


def test_paragraphs_are_listed_once_and_baselines_add_what_they_copied():
    texts = [*(p.text for p in READ), "Not used at all, this one.", "Nine men rowed over it."]
    unread = tuple(ReadParagraph(text) for text in texts)
    lead = summary(0, "Nine men rowed over it.", "lead", paragraphs=unread)
    ft = summary(0, "A bridge.", "ft", paragraphs=READ[::-1])
    shown = example([summary(0, "A bridge."), ft, lead], [False, False, True])
    assert [p["text"] for p in shown["paragraphs"]] == [*texts[:2], texts[3]]
    assert shown["systems"][1]["attention"] == [0.7, 0.3, None]
    assert shown["systems"][2]["attention"] == []
    assert shown["systems"][2]["summary"] == [["Nine men rowed over it.", 2]]


def test_sections_are_shown_with_their_copied_runs():
    gold = (Section("Use", 2, "Trains cross it."), Section("Past", 3, "It was red."))
    written = (Section("Use", 2, "Now trains go over the river."),)
    whole = summary(0, "A bridge.", sections=written, gold_sections=gold)
    shown = example([summary(0, "A bridge.", "ft"), whole], [False, False])
    assert shown["sections"] == [s._asdict() for s in gold]
    assert shown["systems"][0]["sections"] == []
    text = [["Now ", None], ["trains go over the river.", 1]]
    assert shown["systems"][1]["sections"] == [{"title": "Use", "level": 2, "text": text}]


def test_attention_to_a_paragraph_read_twice_adds_up():
    row = summary(0, "", paragraphs=(*READ, READ[0]._replace(attention=0.1)))
    assert attention(row, {READ[0].text: 0, READ[1].text: 1, "other": 2}) == [0.8, 0.3, None]


def test_the_page_asks_for_nothing_and_holds_all(tmp_path):
    page = written(tmp_path, [summary(n, TRICKY) for n in range(3)], count=2)
    tree = html.fromstring(page.read_text())
    assert not tree.xpath("//*[@src]|//img|//iframe|//base")
    assert [link.get("href") for link in tree.xpath("//link")] == ["data:,"]
    assert not re.search(
        r"@import|url\(|fetch\(|XMLHttpRequest|https?://", tree.xpath("//style")[0].text
    )
    assert not re.search(
        r"fetch\(|XMLHttpRequest|import\(|https?://", tree.xpath("//script")[-1].text
    )
    assert len(tree.xpath("//script[starts-with(@id, 'x')]")) == 2
    result = json.loads(tree.get_element_by_id("x1").text)
    assert "".join(text for text, _ in result["systems"][0]["summary"]) == TRICKY
    assert all(label.get("for") or len(label) for label in tree.xpath("//label"))


HT = [
    summary(0, "The old bridge was painted red."),
    summary(1, "The lead 1."),
    summary(2, TRICKY),
]
FT = [summary(n, f"Nothing {n}.", "ft", paragraphs=READ[1:]) for n in range(3)]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    return written(tmp_path_factory.mktemp("page"), HT, FT)


@pytest.mark.slow
def test_the_first_example_is_shown_in_a_browser(page, browse):
    tree = html.fromstring(browse(page))
    assert tree.get_element_by_id("title").text == "Bridge 0"
    assert len(tree.xpath("//ol[@id='list']/li")) == 3
    assert [h.text for h in tree.xpath("//div[@id='texts']//h3")] == ["Lead", "ht", "ft"]
    assert [m.text for m in tree.xpath("//mark")] == ["The old bridge was painted"]
    bars = [b.text_content() for b in tree.xpath("//div[contains(@class, 'bar')]")]
    assert bars == ["ht70.0 %", "ftnot read", "ht30.0 %", "ft30.0 %"]
    assert tree.xpath("//ol[@id='paragraphs']//a/@href") == [p.document_url for p in READ]


@pytest.mark.slow
def test_the_page_works_with_a_keyboard(page, browse):
    script = """
    const press = (key, on = document.body) =>
      on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const seen = [];
    const note = () => seen.push($("title").textContent);
    press("Enter", document.querySelector(".run"));
    seen.push(document.querySelector("#paragraphs mark").textContent);
    press("j"); note(); press("j"); note(); press("j"); note(); press("k"); note();
    $("list").focus(); press("End", $("list")); note(); press("Home", $("list")); note();
    press("/"); seen.push(document.activeElement.id); press("j", $("filter")); note();
    $("metric").value = "rougeL"; $("metric").dispatchEvent(new Event("change"));
    seen.push([...$("list").children].map(line => line.firstChild.textContent).join());
    $("turn").click();
    seen.push($("list").children[0].firstChild.textContent);
    $("system").value = "0-1"; $("system").dispatchEvent(new Event("change"));
    seen.push($("list").children[2].lastChild.textContent);
    $("filter").value = "Nothing 2"; $("filter").dispatchEvent(new Event("input")); note();
    $("filter").value = "no such word"; $("filter").dispatchEvent(new Event("input")); note();
    press("j"); note();
    document.body.replaceChildren(make("pre", { id: "seen" }, JSON.stringify(seen)));
    """
    tree = html.fromstring(browse(page, script))
    assert json.loads(tree.get_element_by_id("seen").text) == [
        "The old bridge was painted",
        "Bridge 1", "Bridge 2", "Bridge 2", "Bridge 1",
        "Bridge 2", "Bridge 0",
        "filter", "Bridge 0",
        "Bridge 1,Bridge 0,Bridge 2",
        "Bridge 2",
        "60.00",  # 1 less the 0.4 of one word of two in common with three
        "Bridge 2",
        "Nothing found",
        "Nothing found",
    ]  # fmt: skip


@pytest.mark.slow
def test_an_example_without_a_title_is_called_so(tmp_path, browse):
    tree = html.fromstring(browse(written(tmp_path, [summary(0, "Red.", title="")])))
    assert tree.get_element_by_id("title").text == "(no title)"
    assert tree.xpath("//ol[@id='list']/li/span[1]")[0].text == "(no title)"


@pytest.mark.slow
def test_what_stands_in_a_text_is_no_markup(page, browse):
    tree = html.fromstring(browse(page, "show(2)"))
    assert tree.findtext(".//title") == "Summaries"
    assert "document.title='caught'" in tree.get_element_by_id("texts").text_content()
