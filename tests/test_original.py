"""The original WikiSum's files in place of a dump, through the command."""

import bz2
import io
import json
import math
import string
from pathlib import Path

import pyarrow.dataset as ds
import pytest

from tests import tfrecords
from tests.conftest import GOLDEN
from wikisum.crawl.errors import BadArticle
from wikisum.crawl.wikipedia.dump import read_pages
from wikisum.crawl.wikipedia.wikitext import parse_article
from wikisum.pipeline.cli import main
from wikisum.pipeline.records import DROPPED
from wikisum.pipeline.validate.validate import validate

SHARDS = 10
ASCII = set(string.ascii_letters + string.digits)
PAGES = ["--warcs", str(GOLDEN / "sample-*.gz"), "--search-results", str(GOLDEN / "search.jsonl"),
         "--vocab-size", "500", "--workers", "1"]  # fmt: skip


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    """The articles of the bundled sample in the form of the original files, in ten shards."""
    folder = tmp_path_factory.mktemp("original")
    content, refs = [b""] * SHARDS, [{} for _ in range(SHARDS)]
    xml = io.BytesIO(bz2.decompress((GOLDEN / "sample.xml.bz2").read_bytes()))
    number = 0
    for page in read_pages(xml):
        if isinstance(page, BadArticle) or page.namespace or page.redirect:
            continue
        try:
            article = parse_article(page.title, page.text)
        except BadArticle:
            continue
        url = "https://en.wikipedia.org/wiki/" + page.title.replace(" ", "_")
        sections = [(s.title, s.text) for s in article.sections]
        shard, number = number % SHARDS, number + 1
        content[shard] += tfrecords.content(url, page.title, article.lead, *sections)
        refs[shard].setdefault(url, [*article.citations, "ftp://no.example/"])
    for shard in range(SHARDS):
        place = f"{shard:05d}-of-{SHARDS:05d}"
        (folder / f"wiki_content.tfrecords-{place}").write_bytes(content[shard])
        (folder / f"wiki_urls.json-{place}").write_bytes(tfrecords.refs(refs[shard]))
    return folder


def flags(folder: Path) -> list[str]:
    return ["--articles", str(folder / "wiki_content.tfrecords-*"),
            "--urls", str(folder / "wiki_urls.json-*")]  # fmt: skip


def examples(out: Path) -> list[dict]:
    rows = ds.dataset(out / "examples").to_table().to_pylist()
    return sorted(rows, key=lambda row: row["id"])


@pytest.fixture(scope="module")
def built(original, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert main(["build", *flags(original), *PAGES, "--out", str(out)]) == 0
    return out


def test_the_same_articles_give_the_same_examples(built, sample_build):
    of_dump, of_original = examples(sample_build), examples(built)
    sources = {d["source"] for row in of_original for d in row["documents"]}
    assert sources == {"original", "search"}
    for row in [*of_dump, *of_original]:
        del row["title_ids"], row["lead_ids"], row["paragraph_ids"]  # other splits, other subwords
        del row["categories"]  # the original files have none
        for document in row["documents"]:
            document["source"] = document["source"].replace("original", "citation")
        for section in row["sections"]:
            del section["level"]
    assert of_original == of_dump
    assert len(of_dump) >= 10


def test_the_dataset_is_sound_and_tells_what_it_lost(built):
    assert list(validate(str(built))) == []
    rows = ds.dataset(built / "dropped", schema=DROPPED).to_table().to_pylist()
    bad = [r for r in rows if r["detail"] == "ftp://no.example/"]
    articles = ds.dataset(built / "articles").to_table().num_rows
    assert len(bad) == articles
    assert {r["reason"] for r in bad} == {"not_http"}
    sizes = json.loads((built / "report" / "report.json").read_text())["sizes"]
    assert sizes["original_documents"]["mean"] > 0
    assert sizes["citation_documents"]["mean"] == 0


def test_the_split_is_that_of_the_shard(built, original, tmp_path, monkeypatch):
    def splits(out: Path) -> list[str]:
        return [
            "".join(sorted({row["split"] for row in ds.dataset(path).to_table().to_pylist()}))
            for path in sorted((out / "articles").iterdir())
        ]

    assert splits(built) == ["validation", "test", *["train"] * 8]
    out = tmp_path / "nominal"
    command = ["articles", *flags(original), "--workers", "1", "--out", str(out)]
    assert main([*command, "--split", "t2t-nominal"]) == 0
    assert splits(out) == [*["train"] * 8, "validation", "test"]


def test_a_slice_reads_on_until_it_has_enough(original, tmp_path):
    titles = tmp_path / "titles.txt"
    titles.write_text("Osterby\nTavin Bridge\n")
    command = ["articles", *flags(original), "--workers", "1", "--out", str(tmp_path / "out")]
    assert main([*command, "--limit", "7"]) == 0
    assert ds.dataset(tmp_path / "out" / "articles").to_table().num_rows == 7
    assert main([*command, "--titles", str(titles)]) == 0
    rows = ds.dataset(tmp_path / "out" / "articles").to_table().to_pylist()
    assert {r["title"] for r in rows} == {"Osterby", "Tavin Bridge"}
    lost = ds.dataset(tmp_path / "out" / "dropped", schema=DROPPED).to_table().to_pylist()
    assert {r["reason"] for r in lost} == {"not_http"}


def test_damaged_files_lose_only_what_they_must(tmp_path):
    one = tfrecords.content("http://w/A", "A", "The lead of A.")
    two = tfrecords.content("http://w/B", "B", "The lead of B.")
    three = tfrecords.content("http://w/C", "C", "")
    (tmp_path / "a.tfrecords").write_bytes(one + two[:-4] + b"none" + three + one[:9])
    urls = tfrecords.refs({"http://w/A": ["x.example"], "http://w/D": []})
    urls = urls[:-1] + b', "http://w/E": {}'
    (tmp_path / "a.json").write_bytes(urls)
    named = ["--articles", str(tmp_path / "a.tfrecords"), "--urls", str(tmp_path / "a.json")]
    settings = ["--split", "wikisum", "--workers", "1", "--out", str(tmp_path / "out")]
    assert main(["articles", *named, *settings]) == 0
    (row,) = ds.dataset(tmp_path / "out" / "articles").to_table().to_pylist()
    assert (row["title"], row["citations"]) == ("A", ["http://x.example/"])
    lost = ds.dataset(tmp_path / "out" / "dropped", schema=DROPPED).to_table().to_pylist()
    assert sorted((r["reason"], r["file"].rpartition(".")[2], r["offset"]) for r in lost) == [
        ("bad_checksum", "tfrecords", len(one)),
        ("bad_json", "json", len(urls)),
        ("no_lead", "tfrecords", len(one + two)),
        ("no_refs", "json", urls.index(b'"http://w/E')),
        ("truncated_file", "tfrecords", len(one + two + three)),
        ("unknown_article", "json", urls.index(b'"http://w/D')),
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--articles", "CONTENT"], "--urls names no file for wiki_content.tfrecords-00000-of-"),
        (["--articles", "CONTENT", "DUMP", "--urls", "URLS"], "a file of TFRecords, and "),
        (["--articles", "DUMP", "--urls", "URLS"], "but --articles names a dump"),
        (["--articles", "DUMP", "--split", "t2t"], "--split t2t goes with the original WikiSum"),
        (["--articles", "PLAIN", "--urls", "URLS"], "has no shard number"),
    ],
)
def test_wrong_calls(words, message, original, tmp_path, capfd):
    plain = tmp_path / "plain.tfrecords"
    plain.write_bytes(tfrecords.content("http://w/A", "A", "The lead of A."))
    result = {
        "CONTENT": original / "wiki_content.tfrecords-*",
        "DUMP": GOLDEN / "sample.xml.bz2",
        "PLAIN": plain,
        "URLS": original / "wiki_urls.json-*",
    }
    command = ["articles", *(str(result.get(w, w)) for w in words), "--out", str(tmp_path / "out")]
    assert main(command) == 2
    assert message in capfd.readouterr().err.strip().splitlines()[-1]


def test_a_corpus_that_the_files_do_not_tell(original, tmp_path, capfd):
    command = ["build", *flags(original), *PAGES, "--out", str(tmp_path / "out")]
    assert main([*command, "--corpus", "citations"]) == 2
    assert "do not tell citations from search results" in capfd.readouterr().err


def original_order(title: str, texts: list[str]) -> list[str]:
    """Paragraphs by the original's score, written from its description."""

    def tokens(text: str) -> list[str]:
        return "".join(c if c.isalnum() else " " for c in text).split()

    def normal(text: str) -> str:
        spaced = "".join(f" {c} " if c in string.punctuation else c for c in text.lower())
        return " ".join(spaced.split())

    texts = [normal(text) for text in texts]
    wanted = sorted(t for t in set(tokens(normal(title))) if set(t) & ASCII)
    holders = {t: sum(t in tokens(text) for text in texts) for t in wanted}

    def score(text: str) -> float:
        found = tokens(text)
        return sum(found.count(t) * math.log(len(texts) / max(holders[t], 1)) for t in wanted)

    return sorted(texts, key=lambda text: -score(text))


def test_like_t2t_ranks_and_writes_as_the_original(original, tmp_path):
    out = tmp_path / "out"
    assert main(["build", "--like-t2t", *flags(original), *PAGES, "--out", str(out)]) == 0
    assert list(validate(str(out))) == []
    documents = ds.dataset(out / "documents").to_table().to_pylist()
    page_by_place = {(d["warc_file"], d["offset"]): d for d in documents}
    titles = {a["id"]: a["title"] for a in ds.dataset(out / "articles").to_table().to_pylist()}
    rows = examples(out)
    assert len(rows) > 10
    for row in rows:
        pages = [page_by_place[d["warc_file"], d["offset"]] for d in row["documents"]]
        texts = [text for page in pages for text in page["paragraphs"]]
        assert [p["text"] for p in row["paragraphs"]] == original_order(titles[row["id"]], texts)
        assert row["lead"] == row["lead"].lower()
