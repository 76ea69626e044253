"""Turn public sets of marked pages into the file that the extraction benchmarks read.

    python benchmarks/marked_sources.py wcxb-dev FOLDER wcxb-dev.jsonl.gz

FOLDER is a clone of the set's repository:

    wcxb-dev, wcxb-test  github.com/Murrough-Foley/web-content-extraction-benchmark (CC BY 4.0)
    zyte                 github.com/scrapinghub/article-extraction-benchmark (MIT)
    newspaper            github.com/codelucas/newspaper (MIT and Apache-2.0), its test pages
    snippets             github.com/adbar/trafilatura (Apache-2.0), its evaluation pages
    l3s-gn1              github.com/geodrome/page-signal (the set: research use only)
    cleaneval            github.com/j-szulc/html-cleaning-dataset-merged (no license stated)
    fundus               github.com/flairNLP/fundus (MIT), the pages of its tests

The pages belong to their publishers and stay outside this repository. Each line of the output has
`id`, `site`, `kind`, `html` and `text`; those of `snippets` have no `text` but `with` and
`without`, texts that an extractor must and must not keep.
"""

import argparse
import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from wikisum.crawl.errors import BadPage
from wikisum.crawl.extract.charset import to_utf8
from wikisum.crawl.extract.limits import check_markup, check_size

Row = dict[str, Any]
_CLEANEVAL_MARKUP = re.compile(r"^\s*(?:<[a-z]+>|URL: \S*)", re.IGNORECASE | re.MULTILINE)
_L3S_LABEL = re.compile(r"x-nc-sel(\d)")
MIN_SHOWN = 0.75  # of the paragraphs of a text; else it is of another page
_L3S_MAIN = {"1", "2"}  # headline and full text


def site_of(url: str) -> str:
    """Return the host of a URL without `www.`."""
    host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    return host.removeprefix("www.")


def _utf8(path: Path) -> str:
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return to_utf8(data, None).decode("utf-8", "replace")


def wcxb(split: str) -> Callable[[Path], Iterator[Row]]:
    """Return a reader of one split of WCXB; `kind` is the type of page."""

    def read(folder: Path) -> Iterator[Row]:
        files = json.loads((folder / "metadata.json").read_text())["files"]
        for name, facts in files.items():
            if facts["split"] != split:
                continue
            truth = json.loads((folder / split / "ground-truth" / f"{name}.json").read_text())
            yield {
                "id": f"wcxb-{name}",
                "site": site_of(facts["domain"]),
                "kind": facts["page_type"],
                "html": _utf8(folder / split / "html" / f"{name}.html.gz"),
                "text": truth["ground_truth"].get("main_content") or "",
            }

    return read


def zyte(folder: Path) -> Iterator[Row]:
    for name, truth in json.loads((folder / "ground-truth.json").read_text()).items():
        yield {
            "id": f"zyte-{name[:12]}",
            "site": site_of(truth["url"]),
            "kind": "article",
            "html": _utf8(folder / "html" / f"{name}.html.gz"),
            "text": truth["articleBody"],
        }


def newspaper(folder: Path) -> Iterator[Row]:
    for path in sorted((folder / "tests" / "data" / "text").glob("*.txt")):
        html = folder / "tests" / "data" / "html" / f"{path.stem}.html"
        if html.exists():
            yield {
                "id": f"newspaper-{path.stem}",
                "site": path.stem.rstrip("0123456789"),
                "kind": "article",
                "html": _utf8(html),
                "text": path.read_text(),
            }


def snippets(folder: Path) -> Iterator[Row]:
    tests = folder / "tests"
    for url, facts in json.loads((tests / "evaldata.json").read_text()).items():
        paths = [p for p in (tests / d / facts["file"] for d in ("eval", "cache")) if p.exists()]
        if paths:
            yield {
                "id": f"snippets-{facts['file']}",
                "site": site_of(url),
                "kind": "snippets",
                "html": _utf8(paths[0]),
                "text": "",
                "with": facts["with"],
                "without": facts["without"],
            }


def l3s(folder: Path) -> Iterator[Row]:
    """Pages whose every text node has a label; the headline and the full text are marked."""
    from lxml import html as lxml_html

    base = next(folder.glob("L3S-GN1-*"))
    lines = (line.split(maxsplit=1) for line in (base / "url-mapping.txt").read_text().splitlines())
    for key, url in lines:
        name = key.strip("<>").removeprefix("urn:uuid:")
        tree = lxml_html.fromstring((base / "annotated" / f"{name}.html").read_bytes())
        texts = [
            node.text_content()
            for node in tree.iter("span", "SPAN")
            if (label := _L3S_LABEL.search(node.get("class") or "")) and label[1] in _L3S_MAIN
        ]
        yield {
            "id": f"l3s-{name}",
            "site": site_of(url.strip()),
            "kind": "article",
            "html": _utf8(base / "original" / f"{name}.html"),
            "text": "\n".join(texts),
        }


def cleaneval(folder: Path) -> Iterator[Row]:
    base = folder / "cleaneval-final"
    for path in sorted((base / "GoldStandard").glob("*.txt")):
        text = path.read_text("utf-8", "replace")
        url = re.search(r"URL: (\S+)", text)
        html = _utf8(base / "input" / f"{path.stem}.html")
        yield {
            "id": f"cleaneval-{path.stem}",
            "site": site_of(url[1]) if url else path.stem,
            "kind": "mixed",
            "html": re.sub(r"^\s*<text[^>]*>|</text>\s*$", "", html),
            "text": _CLEANEVAL_MARKUP.sub("", text),
        }


def fundus(folder: Path) -> Iterator[Row]:
    """Yield news pages with the paragraphs that a parser for each newspaper finds in them.

    The parsers are written and their results checked by persons. Standfirsts are left out. The
    file of a newspaper has the text of several pages without saying which.
    """
    for info in sorted((folder / "tests/resources/parser/test_data").glob("*/meta.info")):
        for name, facts in json.loads(info.read_text()).items():
            page = info.with_name(name)
            texts = info.with_name(f"{name.split('_')[0]}.json")
            if page.exists() and texts.exists():
                html = _utf8(page)
                bodies = [
                    text["body"]["sections"] for text in json.loads(texts.read_text()).values()
                ]
                yield {
                    "id": f"fundus-{name.removesuffix('.html.gz')}",
                    "site": site_of(facts["url"]),
                    "kind": "news",
                    "html": html,
                    "text": _text_in_page(html, bodies),
                }


def _text_in_page(html: str, bodies: Iterable[list[dict[str, list[str]]]]) -> str:
    """Return the text of which the page has the most paragraphs, if it has three quarters."""
    from selectolax.lexbor import LexborHTMLParser

    shown = "".join((LexborHTMLParser(html).body or LexborHTMLParser("")).text().split())
    best, most = "", MIN_SHOWN
    for sections in bodies:
        texts = [t for part in sections for t in (*part["headline"], *part["paragraphs"])]
        share = sum("".join(text.split()) in shown for text in texts) / max(len(texts), 1)
        if share >= most:
            best, most = "\n".join(texts), share
    return best


SOURCES: dict[str, Callable[[Path], Iterator[Row]]] = {
    "wcxb-dev": wcxb("dev"),
    "wcxb-test": wcxb("test"),
    "zyte": zyte,
    "newspaper": newspaper,
    "snippets": snippets,
    "l3s-gn1": l3s,
    "cleaneval": cleaneval,
    "fundus": fundus,
}


def usable(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the rows whose page the extractors accept and that have a marked text or snippet."""
    for row in rows:
        html = row["html"].encode("utf-8", "replace")
        try:
            check_size(html)
            check_markup(html)
        except BadPage as error:
            print(f"{row['id']}: {error}")
            continue
        if row["text"].strip() or row.get("with") or row.get("without"):
            yield row
        else:
            print(f"{row['id']}: no marked text")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("source", choices=SOURCES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    count = 0
    with gzip.open(options.out, "wt", encoding="utf-8", errors="replace") as out:
        for row in usable(SOURCES[options.source](options.folder)):
            out.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    print(f"{count} pages")


if __name__ == "__main__":
    main()
