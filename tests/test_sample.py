import bz2
import gzip
import importlib.util
import json
import re
import unicodedata
import xml.etree.ElementTree as ElementTree
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from warcio.archiveiterator import ArchiveIterator

from tests.conftest import GOLDEN
from wikisum.crawl.errors import BadArticle, BadUrl
from wikisum.crawl.titles import normalize_title, split_of
from wikisum.crawl.urls import canonical_url, is_wikipedia, unwrap_archive
from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures
from wikisum.crawl.wikipedia.wikitext import parse_article

SOURCE = GOLDEN / "source"
SOURCES = sorted(path for path in SOURCE.rglob("*") if path.is_file())
WARCS = sorted(GOLDEN.glob("sample-*.gz"))
UNDAMAGED = [path for path in WARCS if "00001" not in path.name]
MAX_BYTES = 300_000
EXPORT = "{http://www.mediawiki.org/xml/export-0.11/}"
# The two pages that are there because they are the encyclopedia's own, and the names in formats.
OTHER_HOSTS = {"en.wikipedia.org", "www.wikiwand.com", "www.mediawiki.org", "www.w3.org"}
RESERVED = re.compile(r"(.+\.)?(example\.(com|net|org)|[^.]+\.(example|test)|example)", re.I)
CYRILLIC_PAGE = "370-kinds-of-paragraphs.html"


def test_the_built_files_are_those_of_the_sources(tmp_path):
    spec = importlib.util.spec_from_file_location("make_sample", GOLDEN / "make_sample.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    names = module.build(tmp_path)
    assert names == sorted(path.name for path in tmp_path.iterdir())
    for path in sorted(tmp_path.iterdir()):
        assert content(path) == content(GOLDEN / path.name), path.name
        if not has_other_zlib():
            assert path.read_bytes() == (GOLDEN / path.name).read_bytes(), path.name


def content(path: Path) -> bytes:
    """What a file holds; of a damaged one, its bytes."""
    try:
        return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, zlib.error):
        return path.read_bytes()


def has_other_zlib() -> bool:
    """Whether this Python compresses with a library whose bytes are not those of zlib 1."""
    return not re.fullmatch(r"1(\.\d+)+", zlib.ZLIB_RUNTIME_VERSION)


def test_it_is_small():
    assert sum(path.stat().st_size for path in GOLDEN.glob("s*.*")) < MAX_BYTES


def dump_pages() -> list[ElementTree.Element]:
    root = ElementTree.fromstring(bz2.decompress((GOLDEN / "sample.xml.bz2").read_bytes()))
    assert root.get("version") == "0.11"
    assert root.find(f"{EXPORT}siteinfo/{EXPORT}dbname").text == "samplewiki"
    return root.findall(f"{EXPORT}page")


def captures() -> list[PageRecord | Rejection]:
    found = []
    for path in WARCS:
        with path.open("rb") as raw:
            found.extend(read_captures(raw))
    return found


def test_the_dump_is_a_whole_export():
    pages = dump_pages()
    assert [int(page.find(f"{EXPORT}id").text) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.find(f"{EXPORT}revision/{EXPORT}text")
        assert int(text.get("bytes")) == len(text.text.encode())
    redirects = [page.find(f"{EXPORT}redirect") for page in pages]
    assert [r.get("title") for r in redirects if r is not None] == ["Elsbeth Marlow"]


@pytest.mark.parametrize("path", UNDAMAGED, ids=lambda path: path.name)
def test_another_reader_reads_the_undamaged_files(path):
    with path.open("rb") as raw:
        reader = ArchiveIterator(raw, check_digests="raise")
        records = [
            (r.rec_type, r.rec_headers["WARC-Record-ID"], r.raw_stream.read()) for r in reader
        ]
    kinds = [kind for kind, _, _ in records]
    assert kinds[0] == "warcinfo"
    assert len({name for _, name, _ in records}) == len(records)
    if "wet" in path.name:
        assert set(kinds[1:]) == {"conversion"}
    else:
        assert kinds[1:] == ["request", "response", "metadata"] * (len(kinds) // 3)


def test_one_record_is_damaged_and_the_next_are_read():
    with (GOLDEN / "sample-pages-00001.warc.gz").open("rb") as raw:
        items = list(read_captures(raw))
    reasons = [item.reason if isinstance(item, Rejection) else "" for item in items]
    assert "bad_record" in reasons[1:-1]
    assert isinstance(items[-1], PageRecord)


def test_each_kind_of_bad_record_is_there():
    reasons = [item.reason for item in captures() if isinstance(item, Rejection)]
    assert sorted(reasons) == [
        "bad_encoding",
        "bad_record",
        "http_status_301",
        "http_status_404",
        "http_status_410",
        "not_html",
        "revisit",
        "truncated_record",
    ]


def test_somebody_wants_every_page_but_one():
    wanted = set()
    for page in dump_pages():
        try:
            article = parse_article(*texts_of(page))
        except BadArticle:
            continue
        wanted.update(article.citations)
    for result in search_results():
        wanted.update(canonical_url(u) for u in result["urls"] if u.startswith("http"))
    captured = {canonical_url(item.url) for item in captures() if item.url}
    assert captured - wanted == {"http://unwanted.example.org/shop"}
    assert len(wanted - captured) == 7  # five missing or damaged, two of Wikipedia's


def texts_of(page: ElementTree.Element) -> tuple[str, str]:
    return page.find(f"{EXPORT}title").text, page.find(f"{EXPORT}revision/{EXPORT}text").text


def search_results() -> list[dict]:
    lines = (GOLDEN / "search.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_search_results_hold_what_goes_wrong():
    titles = {normalize_title(texts_of(page)[0]) for page in dump_pages()}
    results = search_results()
    known = [r for r in results if normalize_title(r["title"]) in titles]
    assert len(results) - len(known) == 1
    urls = [url for result in known for url in result["urls"]]
    assert sum(is_wikipedia(u) for u in urls if u.startswith("http")) == 2
    with pytest.raises(BadUrl):
        canonical_url(next(url for url in urls if not url.startswith("http")))


def test_every_split_has_articles():
    cited = {}
    for page in dump_pages():
        try:
            article = parse_article(*texts_of(page))
        except BadArticle:
            continue
        if article.sections:
            cited.setdefault(split_of(article.title), []).append(article.title)
    assert sorted(cited["test"]) == ["Ines Calloway", "Tavin Bridge"]
    assert sorted(cited["validation"]) == ["Cold Ferry", "Upper Verrin Railway"]
    assert len(cited["train"]) > 10


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_hosts_are_reserved_names(path):
    for url in re.findall(r"https?://[^\s<>|\"\]}]+", path.read_text(encoding="utf-8")):
        host = urlsplit(unwrap_archive(url)).hostname
        assert host is None or host in OTHER_HOSTS or RESERVED.fullmatch(host), url


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_letters_are_latin(path):
    letters = {char for char in path.read_text(encoding="utf-8") if char.isalpha()}
    scripts = {unicodedata.name(char).split()[0] for char in letters if not char.isascii()}
    assert scripts <= {"LATIN", "CYRILLIC"}
    assert ("CYRILLIC" in scripts) == (path.name == CYRILLIC_PAGE)


def test_the_readme_names_every_source():
    readme = (GOLDEN / "README.md").read_text()
    for path in sorted((SOURCE / "articles").iterdir()):
        assert f"| {path.name[:3]} " in readme, path.name
    for path in sorted((SOURCE / "pages").iterdir()):
        number = path.name[:3]
        assert number <= "350" or re.search(rf"^\|[ \d,]*\b{number}\b", readme, re.M), path.name
