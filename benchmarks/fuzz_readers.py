"""Feed mutated input to every reader of strangers' data; report crashes and slow rounds.

    python benchmarks/fuzz_readers.py [--rounds 100000] [--seed 0] [--only dump warc ...]

Each round takes a small valid input of one kind (dump, warc, http, index, robots, url), mutates it
and reads it. A round fails if anything but a documented error is raised, if a result breaks a rule
that the pipeline relies on, or if it takes over a second of CPU. Each round depends only on its
number and the seed, so it can be repeated with --first. Prints a table and one JSON line; the exit
code is 1 after a failure.
"""

import argparse
import bz2
import gzip
import io
import ipaddress
import json
import math
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable

import zstandard
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from wikisum.crawl.errors import BadArticle, BadLine, BadRecord, BadUrl
from wikisum.crawl.http import decode_body, parse_response
from wikisum.crawl.index.cdx import (
    MAX_OFFSET,
    drop_reason,
    entries_with,
    parse_block,
    parse_entry,
    parse_server_line,
    preference,
    redirect_target,
)
from wikisum.crawl.urls import canonical_url, canonical_urls
from wikisum.crawl.warc.split_points import records_between
from wikisum.crawl.warc.warc import PageRecord, Rejection, read_captures
from wikisum.crawl.web.addresses import is_public, literal_address
from wikisum.crawl.web.robots import robots_of
from wikisum.crawl.web.targets import target_of
from wikisum.crawl.wikipedia.dump import Page, open_dump, read_pages, read_streams

MAX_SECONDS = 1.0
MAX_PAYLOAD_BYTES = 1 << 20
JUNK = (
    b"\0", b"\xff", b"\xed\xa0\x80", "²".encode(), b"9" * 400, b"-1", b"1e999", b"null", b"[]",
    b"{", b'"', b"\\ud800", b"../", b"\r\n", b"\n\n", b" " * 300, b"<", b">", b"&", b"&#x110000;",
    b"]]>", b"<!--", b"<page>", b"</page>", b"<text>", b"<ns>", b"WARC/1.0\r\n", b"HTTP/1.1 200 OK",
    b"Content-Length: 99999999999", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"BZh91AY&SY", b"*", b"$",
    b"%", b"%00", b"%zz", b"//[", b":0", b"@", b"0x7f.1", b"User-agent: *\n", b"\xe2\x80\xa8",
)  # fmt: skip


def mutate(rng: random.Random, data: bytes) -> bytes:
    """The data after one to four cuts, repeats, insertions of junk, or changes of bytes."""
    for _ in range(rng.randrange(1, 5)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            data = data[:at] + data[at + rng.randrange(300) :]
        elif kind == 1:
            part = data[at : at + rng.randrange(1, 100)]
            data = data[:at] + part * rng.randrange(2, 100) + data[at:]
        elif kind == 2:
            data = data[:at] + rng.choice(JUNK) * rng.choice((1, 1, 2, 50)) + data[at:]
        elif kind == 3 and data:
            changed = bytearray(data)
            for _ in range(rng.randrange(1, 8)):
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            data = bytes(changed)
        else:
            data = data[:at] if rng.random() < 0.3 else data
    return data


def _xml_dump() -> bytes:
    pages = "".join(
        f"<page><title>Title {i}</title><ns>{i % 3}</ns><id>{i}</id><revision><text>Some '''text'''"
        f" &amp; a &lt;ref&gt; {i}</text></revision></page>\n"
        for i in range(6)
    )
    return f'<mediawiki xml:lang="en"><siteinfo/>\n{pages}</mediawiki>'.encode()


def dump_round(rng: random.Random) -> Counter[str]:
    """Read a mutated dump, mutated before or after it is compressed."""
    xml = _xml_dump()
    pack = rng.choice((bytes, bz2.compress, gzip.compress, zstandard.compress))
    middle = rng.randrange(len(xml))
    chunks = [xml[:middle], xml[middle:]] if rng.random() < 0.5 else [xml]
    if rng.random() < 0.5:
        data = b"".join(pack(mutate(rng, chunk)) for chunk in chunks)
    else:
        data = mutate(rng, b"".join(map(pack, chunks)))
    found = list(read_pages(open_dump(io.BytesIO(data))))
    found += read_streams(io.BytesIO(data), rng.randrange(len(data) + 1), None)
    assert all(isinstance(item, Page | BadArticle) for item in found)
    return Counter("page" if isinstance(item, Page) else item.reason for item in found)


def _warc(is_gzip: bool) -> bytes:
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=is_gzip)
    for number in range(3):
        body = gzip.compress(b"<html><p>Some text.</p></html>") * (number + 1)
        fields = [("Content-Type", "text/html"), ("Content-Encoding", "gzip")]
        headers = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
        record = writer.create_warc_record(
            f"http://{number}.example/", "response", io.BytesIO(body), http_headers=headers
        )
        writer.write_record(record)
    return out.getvalue()


WARCS = {is_gzip: _warc(is_gzip) for is_gzip in (False, True)}


def warc_round(rng: random.Random) -> Counter[str]:
    """Read a mutated crawl file whole and in two parts, which must give the same."""
    data = WARCS[rng.random() < 0.5]
    if data is WARCS[False] and rng.random() < 0.5:
        data = rng.choice((gzip.compress, zstandard.compress))(mutate(rng, data))
    data = mutate(rng, data)
    raw = io.BytesIO(data)
    found = list(read_captures(raw, max_payload_bytes=MAX_PAYLOAD_BYTES))
    middle, certain_bytes = rng.randrange(1, len(data) + 2), rng.choice((0, 500))
    parts: list[PageRecord | Rejection] = []
    for first, before in ((0, middle), (middle, None)):
        if part := records_between(raw, first, before, certain_bytes):
            raw.seek(0)
            parts += read_captures(raw, max_payload_bytes=MAX_PAYLOAD_BYTES, start=part[0],
                                   end=part[1])  # fmt: skip
    assert all(isinstance(item, PageRecord | Rejection) for item in found)
    assert parts == found, "the parts do not give what the whole gives"
    return Counter(item.reason if isinstance(item, Rejection) else "capture" for item in found)


RESPONSE = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n"
    b"Content-Encoding: %b\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
)


def http_round(rng: random.Random) -> Counter[str]:
    """Decode a mutated response."""
    body = b"<html><p>Some text.</p></html>" * rng.randrange(1, 50)
    name = rng.choice((b"gzip", b"deflate", b"zstd", b"br", b"gzip, gzip"))
    packed = zstandard.compress(body) if name == b"zstd" else gzip.compress(body)
    data = mutate(rng, RESPONSE % (name, len(packed), packed))
    try:
        response = parse_response(data)
        decoded = decode_body(response.headers, response.body, MAX_PAYLOAD_BYTES)
    except BadRecord as error:
        return Counter([error.reason])
    assert len(decoded) <= MAX_PAYLOAD_BYTES
    return Counter(["decoded"])


FIELDS = {
    "urlkey": "org,example)/", "timestamp": "20240224101530", "url": "https://example.org/",
    "mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": "AAA",
    "length": "17351", "offset": "1023", "filename": "crawl-data/x.warc.gz", "redirect": "/b",
}  # fmt: skip
VALUES = (
    None, 5, -1, 10**30, 1.5, math.inf, True, [], {}, "", "²", "-1", "9" * 5000, "../x", "/x",
    "\ud800", "http://[", "a\0b", "a" * 9000,
)  # fmt: skip


def index_round(rng: random.Random) -> Counter[str]:
    """Parse a line of a CDX file, a CDX server and cluster.idx with odd fields or bytes."""
    fields = dict(FIELDS)
    for name in rng.sample(sorted(fields), rng.randrange(3)):
        fields[name] = rng.choice(VALUES)  # type: ignore[assignment]
    text = json.dumps(fields).encode()
    block = b"org,example)/ 2024\tcdx-00299.gz\t1234\t5678\t9"
    lines = [b"org,example)/ 20240224101530 " + text, text, block]
    if rng.random() < 0.7:
        lines = [mutate(rng, line) for line in lines]
    outcomes: Counter[str] = Counter()
    for parse, line in zip((parse_entry, parse_server_line), lines, strict=False):
        try:
            entry = parse(line)
        except BadLine as error:
            outcomes[error.reason] += 1
            continue
        preference(entry, rng.choice((None, 0.0)))
        redirect_target(entry)
        "".join(map(str, entry)).encode()
        assert 0 <= entry.offset <= MAX_OFFSET
        assert 0 < entry.length <= MAX_OFFSET
        assert ".." not in entry.filename.split("/")
        assert entry.filename[0] != "/"
        outcomes[drop_reason(entry) or "entry"] += 1
    try:
        assert 0 <= parse_block(lines[2]).offset <= MAX_OFFSET
        outcomes["block"] += 1
    except BadLine as error:
        outcomes[error.reason] += 1
    list(entries_with(b"\n".join(lines), ["org,example)/"]))
    return outcomes


ROBOTS = (
    b"# rules\nUser-agent: *\nDisallow: /private/*x$\nAllow: /private/open\nCrawl-delay: 3\n\n"
    b"User-agent: wikisum\nUser-agent: other\nDisallow: /ours?a=%20b\nRequest-rate: 1/10m\n"
    b"Sitemap: http://example.org/s.xml\n"
)


def robots_round(rng: random.Random) -> Counter[str]:
    """Apply mutated rules."""
    robots = robots_of(200, mutate(rng, ROBOTS))
    assert 0 <= robots.delay_seconds < math.inf
    url = "http://example.org/" + mutate(rng, b"private/open?a=b").decode("utf-8", "replace")
    return Counter(["allowed" if robots.allows(url) else "disallowed"])


URLS = (
    b"http://www.Example.org:8080/a/../b?c=d&utm_source=x#e", b"https://127.0.0.1/",
    b"http://0x7f.1:0/x", b"http://[::ffff:10.0.0.1]/", b"http://[3fff::1]:443/",
    "http://bücher.example/ä?ö=%C3".encode(),
    b"https://web.archive.org/web/2016id_/http://example.org/a",
)  # fmt: skip


def url_round(rng: random.Random) -> Counter[str]:
    """Bring a mutated URL into its forms, and judge a random address."""
    number = rng.getrandbits(32 if rng.random() < 0.5 else 128)
    address = ipaddress.ip_address(number)
    if address.version == 4 and (address.is_private or address.is_multicast):
        assert not is_public(address), address
    is_public(address)
    url = mutate(rng, rng.choice(URLS)).decode("utf-8", "surrogateescape")
    canonical_urls([url])
    try:
        target = target_of(url)
        literal_address(target.host)
        target.url.encode("ascii")
        assert target.port > 0
        form = canonical_url(url)
        assert canonical_url(form) == form, form
    except BadUrl as error:
        return Counter([error.reason])
    return Counter(["url"])


Rounds = dict[str, Callable[[random.Random], Counter[str]]]
ROUNDS: Rounds = {
    "dump": dump_round, "warc": warc_round, "http": http_round, "index": index_round,
    "robots": robots_round, "url": url_round,
}  # fmt: skip


def main(rounds: Rounds = ROUNDS, name: str = "fuzz_readers", about: str | None = __doc__) -> int:
    """Run the rounds of a benchmark, print what came of them."""
    benchmark = name
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=rounds, default=list(rounds))
    args = parser.parse_args()
    outcomes: dict[str, Counter[str]] = {name: Counter() for name in args.only}
    slowest = {name: (0.0, 0) for name in args.only}
    failures = 0
    begin = time.process_time()
    for number in range(args.first, args.first + args.rounds):
        rng = random.Random(f"{args.seed}/{number}")
        name = args.only[number % len(args.only)]
        start = time.process_time()
        problem = ""
        try:
            outcomes[name] += rounds[name](rng)
        except Exception as error:  # any exception is a finding
            problem = f"{type(error).__name__}: {str(error)[:300]}"
        seconds = time.process_time() - start
        slowest[name] = max(slowest[name], (seconds, number))
        if seconds > MAX_SECONDS:
            problem = problem or f"{seconds:.1f} s of CPU"
        if problem:
            failures += 1
            print(f"round {number} ({name}) of seed {args.seed}: {problem}", file=sys.stderr)
    for name in args.only:
        seconds, number = slowest[name]
        common = ", ".join(f"{key} {count}" for key, count in outcomes[name].most_common(8))
        print(f"{name}: {common}; slowest {seconds:.3f} s (round {number})")
    figures = {
        "benchmark": benchmark, "seed": args.seed, "rounds": args.rounds,
        "failures": failures, "cpu_seconds": round(time.process_time() - begin),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }  # fmt: skip
    print(json.dumps(figures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
