"""Compare detectors of charsets on real pages whose text is known.

    python benchmarks/charset_detection.py PAGES.jsonl.gz [CRAWL.warc.gz]

Each page is encoded in the legacy charset of its language (as far as its text allows, otherwise the
page is skipped) with its ASCII-only markup kept and its declared charset removed. A detector is
right if decoding with its answer gives the text back. Prints a table and one JSON line.
"""

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from wikisum.crawl.extract.charset import _codec, to_utf8
from wikisum.crawl.warc.warc import PageRecord, read_captures

CHARSETS = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "cp949", "gb2312")
MIN_ODD_BYTES = 20  # a page needs this many non-ASCII characters to be worth a guess
DETECTION_BYTES = 1 << 17
_DECLARED = re.compile(r"<meta[^>]+charset[^>]*>|<\?xml[^>]*>", re.IGNORECASE)


def resiliparse(payload: bytes) -> str:
    """The charset as resiliparse detects it, under the name that browsers use."""
    found = detect_encoding(payload, max_len=DETECTION_BYTES)
    return map_encoding_to_html5(found or "windows-1252") or ""


def texts_of(pages: Path, crawl: Path | None) -> list[str]:
    """The pages' HTML as text, without declared charsets."""
    with gzip.open(pages, "rt") as lines:
        found = [json.loads(line)["html"] for line in lines]
    if crawl:
        with crawl.open("rb") as raw:
            found += [
                to_utf8(item.payload, item.charset).decode()
                for item in read_captures(raw)
                if isinstance(item, PageRecord) and item.kind == "html"
            ]
    return [_DECLARED.sub("", text) for text in found]


def samples_of(texts: list[str]) -> list[tuple[str, str, bytes]]:
    """(charset, text, encoded) of each page of which the charset holds 99 % of the letters."""
    samples = []
    for text in texts:
        for charset in CHARSETS:
            payload = text.encode(charset, "ignore")
            kept = payload.decode(charset)
            odd = sum(character > "\x7f" for character in text)
            lost = len(text) - len(kept)
            if odd >= MIN_ODD_BYTES and lost * 100 <= odd:
                samples.append((charset, kept, payload))
                break
    return samples


def is_right(text: str, payload: bytes, name: str) -> bool:
    """Whether decoding gives the text back, with cp1252 for what such a page cannot be in.

    These are UTF-8, which would have been recognized, and the charsets of DOS and old Macs.
    """
    codec = _codec(name)
    if codec is None or codec.startswith(("cp8", "mac", "utf-8")):
        codec = "cp1252"
    return payload.decode(codec, "replace") == text


def main() -> None:
    """Run both detectors over the same pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path)
    parser.add_argument("crawl", type=Path, nargs="?")
    args = parser.parse_args()
    import cchardet

    detectors: dict[str, Callable[[bytes], str]] = {
        "cchardet": lambda data: cchardet.detect(data[:DETECTION_BYTES])["encoding"] or "cp1252",
        "resiliparse": resiliparse,
    }
    samples = samples_of(texts_of(args.pages, args.crawl))
    figures: dict[str, object] = {"benchmark": "charset_detection", "pages": len(samples)}
    for name, detect in detectors.items():
        start = time.process_time()
        answers = [detect(payload) for _, _, payload in samples]
        seconds = time.process_time() - start
        wrong = [
            (charset, answer)
            for (charset, text, payload), answer in zip(samples, answers, strict=True)
            if not is_right(text, payload, answer)
        ]
        per_page = 1e3 * seconds / max(1, len(samples))
        print(f"{name}: {len(samples) - len(wrong)} of {len(samples)} right, {per_page:.2f} ms "
              f"per page; wrong: {wrong[:12]}")  # fmt: skip
        figures[name] = {"right": len(samples) - len(wrong), "ms_per_page": round(per_page, 2)}
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
