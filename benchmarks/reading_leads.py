"""Count visible holes in the prose of dumps, and print random leads for reading.

    python -m benchmarks.reading_leads FOLDER [--leads 100] [--seed 1]

Reads every dump (`*.xml`, `*.bz2`) and every page of bare wiki markup (`*.txt`) in a folder. Prose
is a paragraph of at least eight words that ends a sentence. A hole is what one of `HOLES` matches;
a paragraph counts once for each rule. The rules also match a few honest sentences, so the figures
are for comparison; the reading beside them says what the matches are.
"""

import argparse
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

try:
    from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages
    from wikisum.crawl.wikipedia.reader import parse_plain
except ImportError:  # a checkout from before the packages, for the figures "before"
    sys.path.insert(0, ".")
    from crawl.dump import Page, open_dump, read_pages  # type: ignore[no-redef]
    from crawl.wikitext import parse_plain  # type: ignore[no-redef]

PROSE = re.compile(r"(?:\S+\s+){7,}\S*[.!?:\"”')\]]\s*")
_UNITS = "km|km2|mi|m|ft|kg|lb|ha|acres?|°C|sq mi|sqmi|miles|years ago|percent"
HOLES = {
    "space before punctuation": r"\s[,;:](?=\s|$)|\s\.(?=\s|$)",
    "empty or started parenthesis": r"\(\s*[,;:)]|[,;:]\s*\)|\[\s*\]",
    "doubled punctuation": r"[,;]\s*[,;]",
    "preposition before punctuation": r"\b(?:of|from|near|between|the|than) ?[.,;)]",
    "preposition before verb": r"\b(?:of|near|between|the|an) (?:of|in|is|was|are|were|has)\b",
    "unit without number": rf"\b(?:of|about|over|nearly|some|at|is|was|an?) (?:{_UNITS})\b",
    "joined years": r"\b(?:1[5-9]|20)\d\d(?:1[5-9]|20)\d\d\b",
    "digits without separators": rf"\b\d{{5,}} (?:{_UNITS})\b",
    "label without text": r"\b[A-Z]\w+: ?[,;)]",
    "lone words in parentheses": r"\((?:or|also|years ago|pronounced|occasionally)[ ,;]*\)",
    "currency without amount": r"(?:^|[\s(])[$£€](?=[\s.,;)])",
    "lost apostrophe": r"\b[dl](?:[A-ZÉÖ][a-zéö]{3,}|[A-Z]{3,})\b",
    "markup": r"\{\{|\}\}|\[\[|\]\]|''|<ref|\bthumb\||\d+px\|",
    "hatnote": r"^(?:For other uses|This article is about|Not to be confused)",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in HOLES.items()}


def pages(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (file, title, markup) of every article in the folder's files."""
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".txt":
            yield path.parent.name, path.stem, path.read_text(errors="replace")
        elif path.suffix in (".xml", ".bz2") and path.is_file():
            with path.open("rb") as raw:
                for page in read_pages(open_dump(raw)):
                    if isinstance(page, Page) and page.redirect is None and page.namespace == 0:
                        yield path.name, page.title, page.text


def holes_of(paragraph: str) -> list[str]:
    """Return the names of the rules that match a paragraph."""
    return [name for name, pattern in _PATTERNS.items() if pattern.search(paragraph)]


def main() -> None:
    """Print the holes per 1,000 prose paragraphs of each file, then random leads."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--leads", type=int, default=0, help="number of random leads to print")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random choice")
    parser.add_argument("--show", action="store_true", help="print each match")
    arguments = parser.parse_args()
    prose: Counter[str] = Counter()
    found: dict[str, Counter[str]] = {}
    leads: list[tuple[str, str]] = []
    seconds = 0.0
    for file, title, markup in pages(arguments.folder):
        start = time.process_time()
        sections = parse_plain(markup).sections
        seconds += time.process_time() - start
        leads.append((title, sections[0][2]))
        for line in (line for _, _, text in sections for line in text.split("\n")):
            if PROSE.fullmatch(line):
                prose[file] += 1
                names = holes_of(line)
                found.setdefault(file, Counter()).update([*names, *(["any"] if names else [])])
                if arguments.show and names:
                    for name in names:
                        match = _PATTERNS[name].search(line)
                        assert match is not None
                        around = line[max(0, match.start() - 50) : match.end() + 30]
                        print(f"  {file} | {title} | {name} | {around}")
    for file, count in prose.items():
        rate = 1000 * found[file]["any"] / count
        print(
            f"{file}: {count} prose paragraphs, {found[file]['any']} with a hole, {rate:.1f}/1000"
        )
        for name in HOLES:
            if found[file][name]:
                print(f"    {name}: {found[file][name]}")
    print(f"{seconds:.2f} s of CPU to parse")
    for title, lead in random.Random(arguments.seed).sample(sorted(leads), arguments.leads):
        print(f"\n## {title}\n{lead}")


if __name__ == "__main__":
    main()
