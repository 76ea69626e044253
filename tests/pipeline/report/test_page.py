import json
from html import escape

import pytest
from lxml import html

from wikisum.pipeline.report.page import bars, crawled_share, fates, file_link, html_page, ticks

TRICKY = "<script>alert('caught')</script> & more"


def size(mean):
    return {"mean": mean, **dict.fromkeys(("20", "40", "50", "60", "80", "100"), mean)}


@pytest.fixture
def report():
    names = ("lead_words", "citation_documents", "citation_words", "search_documents",
             "search_words", "documents", "paragraphs", "rouge1_recall")  # fmt: skip
    return {
        "version": "0.1.0",
        "counts": {"graphs": {"examples_out": 2}},
        "funnel": {
            "articles": {"articles": 3, "in_examples": 2, "no_documents": 1},
            "references": {"wanted": 9, "in_examples": 3, "clone": 1, "not_in_crawl": 5, "odd": 0},
            "records_read": {"read": 90, "wanted_or_broken": 8, "not_wanted": 82},
            "records_taken": {"wanted_or_broken": 8, "documents": 6, "no_text": 2},
            "paragraphs_of_pages": {"extracted": 5, "kept": 4, "too_short": 1},
            "paragraphs_of_articles": {"joined": 4, "in_examples": 4},
        },
        "splits": {"train": 1, "validation": 1, "test": 0},
        "sizes": {
            **{name: size(2.5) for name in names},
            "words_per_paragraph": 50.5,
            "kept_paragraphs_per_article": 2.0,
        },
        "histograms": {"lead_words": {"step": 10.0, "counts": [1, 4, 0, 2]}},
        "graphs": {
            name: {"paragraphs": 4, "paragraphs_alone": 1, "edges": 3}
            for name in ("similarity", "discourse")
        },
        "leakage": {
            "one_key_in": 1, "validation_urls": 6, "validation_urls_in_train": 5,
            "test_urls": 0, "test_urls_in_train": 0, "validation_paragraphs": 4,
            "validation_paragraphs_in_train": 1, "test_paragraphs": 0,
            "test_paragraphs_in_train": 0,
        },
        "dropped": [
            {"kind": "record", "article": None, "url": "http://a.example/", "stage": "scan",
             "reason": "no_text", "file": "a.warc.gz", "offset": 0, "detail": TRICKY,
             "title": None},
            {"kind": "reference", "article": "ff", "url": "http://b.example/", "stage": "examples",
             "reason": "clone", "file": None, "offset": None, "detail": None, "title": TRICKY},
        ],
        "kept": [
            {"title": TRICKY, "url": "https://en.wikipedia.org/wiki/A", "lead": TRICKY,
             "categories": ["Bridges", TRICKY], "paragraphs": 3, "documents": 1, "split": "train",
             "best": [{"text": TRICKY, "score": 0.5, "url": "http://b.example/",
                       "source": "citation", "warc_file": "a.warc.gz", "offset": 7}],
             "graphs": {"similarity": [[0, 1], [1, 2]], "discourse": []}},
        ],
        "names": {"categories": {"Bridges": 2, TRICKY: 1}, "unknown_templates": {},
                  "recurring_lines": {"Subscribe to our news.": 5}},
        "settings": {"articles": {"split": "wikisum", "limit": None}},
        "inputs": {"warcs": [{"name": "a.warc.gz", "path": "/data/a.warc.gz", "bytes": 1234}]},
    }  # fmt: skip


def text(node):
    return " ".join(" ".join(node.itertext()).split())


def test_the_page_tells_every_part_of_the_report(report):
    tree = html.fromstring(html_page(report))
    references = tree.xpath("//table[@class='funnel']")[1]
    assert [text(row) for row in references.xpath(".//tbody/tr")] == [
        "in examples 3 33.33 %", "not in crawl 5 55.56 %", "clone 1 11.11 %",
    ]  # fmt: skip
    read, taken = tree.xpath("//table[@class='funnel']")[2:4]
    assert [text(row) for row in read.xpath(".//tbody/tr")] == [
        "wanted or broken 8 8.89 %", "not wanted 82 91.11 %",
    ]  # fmt: skip
    assert [text(row) for row in taken.xpath(".//tbody/tr")] == [
        "documents 6 75.00 %", "no text 2 25.00 %",
    ]  # fmt: skip
    assert taken.xpath(".//a/@href") == ["#record-no_text"]
    assert "The crawl has 44.4 % of the wanted pages (78.9 %" in text(tree)
    rows = [text(row) for row in tree.xpath("//section[@aria-labelledby='sizes']//tbody/tr")]
    assert rows[:2] == ["lead, words 2.5 2.5 2.5 2.5 2.5 2.5 2.5",
                        "the paper's 139.4 tokens 37 62 78 98 166 10,034"]  # fmt: skip
    splits = [text(r) for r in tree.xpath("//section[@aria-labelledby='splits']//tbody/tr")]
    assert splits[1] == "validation 1 50.0 % 233,252 6 5 4 1"
    graphs = [text(r) for r in tree.xpath("//section[@aria-labelledby='graphs']//tbody/tr")]
    assert graphs[0] == "similarity 3 1.5 1.5 1 (25.0 %)"
    assert [text(r) for r in tree.xpath("//section[@aria-labelledby='settings']//tbody/tr")] == [
        "articles split wikisum", "articles limit -",
    ]  # fmt: skip


def test_reasons_lead_to_their_samples_and_samples_to_their_files(report):
    tree = html.fromstring(html_page(report))
    (reason,) = tree.xpath("//a[@href='#reference-clone']")
    assert reason.text == "clone"
    assert TRICKY in tree.get_element_by_id("reference-clone").text_content()
    record = tree.get_element_by_id("record-no_text")
    assert record.xpath(".//a/@href") == ["http://a.example/"]
    assert "a.warc.gz at 0" in text(record)


def test_the_page_shows_no_folder_of_the_machine_that_built_it(report):
    report["inputs"]["articles"] = [{"name": "d", "path": "gs://bucket/d.xml", "bytes": 5}]
    report["settings"]["articles"]["titles"] = "/home/me/titles.txt"
    page = html_page(report)
    assert "/data/" not in page
    assert "/home/" not in page
    assert "titles.txt" in page
    assert "a.warc.gz, 1,234 bytes" in page
    assert "gs://bucket/d.xml, 5 bytes" in page


def test_control_characters_of_pages_are_left_out(report):
    report["dropped"][0]["detail"] = "bell\x07, null\x00, next line\x85, tab\t kept"
    assert "bell, null, next line, tab\t kept" in html_page(report)


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_a_phone_or_a_desktop(report, browse, tmp_path, width):
    """Each table that is wider than the window scrolls inside the page, and the bars are drawn."""
    frame = f'<iframe width="{width}" height="900" srcdoc="{escape(html_page(report))}"></iframe>'
    (tmp_path / "frame.html").write_text(f"<!doctype html><body>{frame}")
    script = """
        onload = () => {
            const page = document.querySelector("iframe").contentDocument;
            const bars = [...page.querySelectorAll("svg.bar")].map((bar) => bar.clientWidth);
            const root = page.documentElement;
            document.title = `${root.clientWidth} ${root.scrollWidth} ${Math.min(...bars)}`;
        };
    """
    title = html.fromstring(browse(tmp_path / "frame.html", script)).findtext(".//title")
    window, content, least_bar = map(int, title.split())
    assert window > width - 20
    assert content <= window
    assert least_bar > 100


def test_the_page_asks_for_nothing_and_runs_nothing(report):
    page = html_page(report)
    tree = html.fromstring(page)
    assert not tree.xpath("//script|//*[@src]|//img|//iframe|//*[@onload]")
    (policy,) = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert [link.get("href") for link in tree.xpath("//link")] == ["data:,"]
    assert "url(" not in page
    assert "@import" not in page


def test_it_depends_on_the_report_alone(report):
    again = json.loads(json.dumps(report))
    assert html_page(report) == html_page(again)


def test_fates_put_what_is_kept_first_and_leave_out_what_never_was():
    whole, total, found = fates({"wanted": 10, "in_examples": 2, "clone": 3, "odd": 0, "late": 5})
    assert (whole, total) == ("wanted", 10)
    assert [(f.name, f.number, f.share) for f in found] == [
        ("in_examples", 2, 0.2), ("late", 5, 0.5), ("clone", 3, 0.3),
    ]  # fmt: skip
    assert fates({"wanted": 0, "in_examples": 0})[2][0].share == 0.0
    assert crawled_share({"wanted": 0, "in_examples": 0}) == 0.0


def test_bars_are_as_high_as_their_counts():
    found = bars({"step": 10.0, "counts": [1, 4, 2]})
    assert [bar.height for bar in found] == [37.5, 150.0, 75.0]
    assert [bar.y + bar.height for bar in found] == [150.0] * 3
    assert [bar.label for bar in found] == [
        "0 to under 10: 1",
        "10 to under 20: 4",
        "20 and more: 2",
    ]
    assert ticks({"step": 10.0, "counts": [1, 4, 2]}) == [(0.0, "0"), (160.0, "10"), (320.0, "20")]
    assert bars({"step": 1.0, "counts": []}) == ticks({"step": 1.0, "counts": []}) == []


def test_links_to_files_are_known_or_none():
    paths = {"a b.gz": "/data/a b.gz", "c.gz": "gs://bucket/c.gz"}
    assert file_link("a b.gz", paths) is None
    assert file_link("c.gz", paths) == "gs://bucket/c.gz"
    assert file_link("articles/x.parquet", paths) == "../articles/x.parquet"
    crawled = "crawl-data/CC-MAIN-2024-10/segments/1/warc/a.warc.gz"
    assert file_link(crawled, paths) == f"https://data.commoncrawl.org/{crawled}"
    assert file_link("d.gz", paths) is file_link(None, paths) is None


def test_examples_and_names_are_shown(report):
    page = html.fromstring(html_page(report))
    (example,) = page.xpath("//section[@aria-labelledby='kept']/details")
    assert TRICKY in text(example)
    assert "a.warc.gz at 7" in text(example)
    similarity, discourse = example.xpath(".//figure")
    assert [len(similarity.xpath(f".//{kind}")) for kind in ("circle", "line")] == [3, 2]
    assert [len(discourse.xpath(f".//{kind}")) for kind in ("circle", "line")] == [3, 0]
    (names,) = page.xpath("//section[@aria-labelledby='names']")
    assert [text(row) for row in names.xpath(".//tbody/tr/th")] == [
        "Bridges", TRICKY, "Subscribe to our news.",
    ]  # fmt: skip
    assert "Every template inside a sentence is known." in text(names)
