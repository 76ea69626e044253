"""Extract mutated real pages and report every crash and every page that takes too long.

    python benchmarks/fuzz_extraction.py PAGES.jsonl.gz [--count 100000] [--seed 0]

A page is cut, its parts are repeated, swapped or dropped, tags are nested or left open, bytes are
overwritten; a few mutations a page. Prints a summary and one JSON line; exit code 1 on a failure.
"""

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from marked_pages import read_marked_pages

from wikisum.crawl.errors import BadPage
from wikisum.crawl.html import read_page
from wikisum.crawl.whitespace import normalize_whitespace

MAX_SECONDS = 1.0
SLOWEST = 5
MAX_PAGE_BYTES = 400_000  # of the page to mutate, so that many pages are tried
_TAG = re.compile(rb"<[^<>]{1,200}>")
CHARSETS = (None, "utf-8", "iso-8859-1", "shift_jis", "utf-16", "windows-1251", "nonsense", "")
JUNK = (
    b"\0", b"<", b">", b"&", b"\xff\xfe", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#xD800;", b'"',
    b"<table>", b"</table>", b"<tr>", b"<td>", b"<svg>", b"<math>", b"<template>", b"</body>",
    b"<body>", b"<html>", b"<plaintext>", b"<script>", b"</script>", b"<style>", b"<textarea>",
    b"<select>", b"<option>", b"<frameset>", b"<a href=x>", b"</p>", b"<p>", b"<b>", b"</i>",
    b"<form>", b"<noscript>", b"<title>", b"<br><br>", b"<div hidden>", b"<p style='display:none'>",
    b"\xc3", b"\xed\xa0\x80", b"\xe2\x80\xae", b"<meta charset=shift_jis>", b"<li>", b"<dd>",
)  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]


def _cut(rng: random.Random, page: bytes) -> bytes:
    return page[: rng.randrange(len(page) + 1)]


def _drop(rng: random.Random, page: bytes) -> bytes:
    start = rng.randrange(len(page) + 1)
    return page[:start] + page[start + rng.randrange(2000) :]


def _repeat(rng: random.Random, page: bytes) -> bytes:
    start = rng.randrange(len(page) + 1)
    part = page[start : start + rng.randrange(1, 500)]
    return page[:start] + part * rng.randrange(2, 200) + page[start:]


def _junk(rng: random.Random, page: bytes) -> bytes:
    for _ in range(rng.randrange(1, 20)):
        start = rng.randrange(len(page) + 1)
        page = page[:start] + rng.choice(JUNK) * rng.choice((1, 1, 1, 3, 50)) + page[start:]
    return page


def _nest(rng: random.Random, page: bytes) -> bytes:
    tag = rng.choice((b"div", b"span", b"b", b"a", b"ul><li", b"table><tr><td", b"font", b"p"))
    start = rng.randrange(len(page) + 1)
    return page[:start] + (b"<" + tag + b">") * rng.randrange(1, 3000) + page[start:]


def _attributes(rng: random.Random, page: bytes) -> bytes:
    start = page.find(b">", rng.randrange(len(page) + 1))
    names = b" ".join(b"a%d=%d" % (i, i) for i in range(rng.randrange(1, 3000)))
    return page[:start] + b" " + names + page[start:] if start >= 0 else page


def _swap_tags(rng: random.Random, page: bytes) -> bytes:
    tags = _TAG.findall(page)
    if len(tags) < 2:
        return page
    rng.shuffle(tags)
    chance = rng.random() / 4
    return _TAG.sub(lambda match: tags.pop() if rng.random() < chance else match[0], page)


def _overwrite(rng: random.Random, page: bytes) -> bytes:
    changed = bytearray(page)
    for _ in range(min(len(page), rng.randrange(1, 300))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


MUTATIONS: tuple[Mutation, ...] = (
    _cut, _drop, _repeat, _junk, _nest, _attributes, _swap_tags, _overwrite,
)  # fmt: skip


def fault(payload: bytes, charset: str | None, extractor: str) -> tuple[str, float]:
    """What is wrong with the answer ("" if nothing, a reason for a refusal), and CPU seconds."""
    start = time.process_time()
    try:
        page = read_page(payload, charset, "html", extractor)
    except BadPage as error:
        return error.reason, time.process_time() - start
    except Exception as error:  # a fuzzer's very purpose
        return f"fault: {type(error).__name__}: {error}", time.process_time() - start
    seconds = time.process_time() - start
    texts = [page.title, *page.paragraphs]
    if any("\0" in text or text != normalize_whitespace(text) for text in texts) or not all(
        page.paragraphs
    ):
        return "fault: not folded", seconds
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return "fault: surrogates", seconds
    return "", seconds


def main() -> int:
    """Try mutated pages, and say which failed; each can be made again from its number."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--extractor", default="fast")
    options = parser.parse_args()
    sources = [page.html for page in read_marked_pages(options.pages)]
    sources = [page for page in sources if len(page) <= MAX_PAGE_BYTES]
    outcomes: Counter[str] = Counter()
    times = np.zeros(options.count)
    failures = 0
    for number in range(options.count):
        rng = random.Random(f"{options.seed}/{number}")
        page = rng.choice(sources)
        for _ in range(rng.randrange(1, 5)):
            page = rng.choice(MUTATIONS)(rng, page)
        found, spent = fault(page, rng.choice(CHARSETS), options.extractor)
        if spent > MAX_SECONDS:
            found = f"fault: {spent:.1f} s"
        if found.startswith("fault"):
            failures += 1
            print(f"page {number} of seed {options.seed}: {found}", file=sys.stderr)
        outcomes[found.partition(":")[0] or "text"] += 1
        times[number] = spent
        if sys.stderr.isatty() and number % 100 == 0:
            print(f"\r{number:,} of {options.count:,} pages", end="", file=sys.stderr)
    print(", ".join(f"{name} {count}" for name, count in outcomes.most_common()))
    slowest = [(round(float(times[i]), 3), int(i)) for i in np.argsort(-times)[:SLOWEST]]
    print("slowest, in CPU seconds:", ", ".join(f"{s} (page {i})" for s, i in slowest))
    facts = {"benchmark": "fuzz_extraction", "extractor": options.extractor, "seed": options.seed}
    p50, p99 = (round(float(ms), 2) for ms in np.quantile(times * 1e3, [0.5, 0.99]))
    figures = {"pages": options.count, "failures": failures, "outcomes": dict(outcomes)}
    seconds = {"p50_ms": p50, "p99_ms": p99, "slowest_s": slowest[0][0]}
    print(json.dumps({**facts, **figures, **seconds}))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
