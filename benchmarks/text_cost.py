"""CPU time of pages to documents and of documents to examples, beside an older version's.

    python -m benchmarks.text_cost DATA --before FOLDER [--rounds 4]

FOLDER holds the files of the older version (`git archive COMMIT | tar x -C FOLDER`). Both versions
read the pages of `pages-dev.warc.gz` and `wikigen-dev.warc.wet.gz` and the articles of
`wikigen-dev.xml.bz2`, in processes that alternate. A round times `make_document` for all pages, and
`make_example` with the search for recurring lines for all articles. The ratios are those of the
least times.
"""

import argparse
import inspect
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
FILES = {"HTML pages": "pages-dev.warc.gz", "WET pages": "wikigen-dev.warc.wet.gz"}
RECURRING_ARTICLES = 4


def time_documents(path: Path) -> tuple[float, list[Any]]:
    """Return the seconds for all pages of a file, and their documents."""
    from wikisum.crawl.errors import BadUrl
    from wikisum.crawl.urls import canonical_url
    from wikisum.crawl.warc.warc import PageRecord, read_captures
    from wikisum.pipeline.pages.document import make_document
    from wikisum.pipeline.pages.settings import PageSettings
    from wikisum.pipeline.records import Document

    records = []
    with path.open("rb") as raw:
        for item in read_captures(raw):
            try:
                if isinstance(item, PageRecord) and canonical_url(item.url):
                    records.append(item)
            except BadUrl:
                continue
    settings, counts = PageSettings(), Counter[str]()
    made = []
    start = time.process_time()
    for record in records:
        made.append(make_document(record, path.name, "scan", settings, counts))
    seconds = time.process_time() - start
    return seconds, [document for document in made if isinstance(document, Document)]


def time_examples(data: Path, documents: list[Any]) -> float:
    """Return the seconds for the examples of all articles with these documents."""
    from wikisum.crawl.urls import canonical_url
    from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages
    from wikisum.crawl.wikipedia.wikitext import parse_article
    from wikisum.pipeline.examples.make_example import WantedDocument, make_example
    from wikisum.pipeline.examples.settings import ExampleSettings
    from wikisum.pipeline.records import Article, Section

    by_url = {document.url: document for document in documents}
    searched = {}
    for line in (data / "wikigen-search-dev.jsonl").read_text().splitlines():
        row = json.loads(line)
        searched[row["title"]] = list(map(canonical_url, row["urls"]))
    pairs = []
    with (data / "wikigen-dev.xml.bz2").open("rb") as raw:
        for page in read_pages(open_dump(raw)):
            if not isinstance(page, Page) or page.redirect is not None:
                continue
            parsed = parse_article(page.title, page.text)
            sections = [Section(s.title, s.level, s.text) for s in parsed.sections]
            article = Article(page.title, page.title, "", parsed.lead, sections, [], "train")
            urls = dict.fromkeys([*parsed.citations, *searched.get(page.title, [])])
            wanted = [
                WantedDocument("citation", i, by_url[u]) for i, u in enumerate(urls) if u in by_url
            ]
            pairs.append((article, wanted))
    settings = ExampleSettings()
    more = {}
    start = time.process_time()
    if "recurring" in inspect.signature(make_example).parameters:
        more["recurring"] = recurring(pairs)
    for article, wanted in pairs:
        make_example(article, wanted, settings, **more)
    return time.process_time() - start


def recurring(pairs: list[tuple[Any, list[Any]]]) -> frozenset[int]:
    """Return the keys of the paragraphs that recur in the documents of articles."""
    from wikisum.pipeline.recurring.lines import PageLines, recurring_lines, site_key, text_key

    articles: dict[str, set[int]] = {}
    documents = {}
    for article, wanted in pairs:
        for item in wanted:
            documents[item.document.url] = item.document
            articles.setdefault(item.document.url, set()).add(text_key(article.id))
    pages = [
        PageLines(text_key(url), site_key(url), sorted(articles[url]), sorted(lines))
        for url, document in documents.items()
        for lines in [set(map(text_key, document.paragraphs))]
    ]
    return frozenset(row.line for row in recurring_lines(pages, RECURRING_ARTICLES))


def measure(data: Path) -> dict[str, float]:
    """Return the seconds of each step of the version that is imported."""
    seconds = {}
    documents = []
    for name, file in FILES.items():
        seconds[name], found = time_documents(data / file)
        documents += found
    seconds["examples"] = time_examples(data, documents)
    return seconds


def run(folder: Path, data: Path) -> dict[str, float]:
    """Return the seconds of each step of the version in a folder, in a process of its own."""
    command = [sys.executable, "-P", str(Path(__file__).resolve()), str(data), "--measure"]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}  # as a build has
    environment = {**os.environ, **threads, "PYTHONPATH": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    result = json.loads(done.stdout)
    if Path(result.pop("folder")) != folder.resolve():
        raise RuntimeError(f"the process imported another version than that in {folder}")
    return dict(result)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        import wikisum

        folder = Path(str(wikisum.__file__)).resolve().parent.parent
        print(json.dumps({"folder": str(folder), **measure(args.data)}))
        return
    if args.before is None:
        parser.error("--before is required")
    sides: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    for number in range(args.rounds):
        for name in list(sides)[:: 1 if number % 2 else -1]:
            sides[name].append(run(args.before if name == "before" else ROOT, args.data))
    print("| step | before | after | ratio |\n| --- | --- | --- | --- |")
    for step in sides["before"][0]:
        before, after = (min(seconds[step] for seconds in rounds) for rounds in sides.values())
        print(f"| {step} | {before:.2f} | {after:.2f} | {after / before:.2f} |")


if __name__ == "__main__":
    main()
