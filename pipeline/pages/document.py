"""A record of a crawl file -> its document, or a row that says why there is none. Pure."""

from collections import Counter

from wikisum.crawl.blocked import is_blocked
from wikisum.crawl.errors import BadPage, BadUrl
from wikisum.crawl.extract.merged_lines import MIN_CHARS as MIN_MENU_CHARS
from wikisum.crawl.extract.merged_lines import cut_furniture, split_glued, split_menus
from wikisum.crawl.extract.text_blocks import mark_furniture
from wikisum.crawl.html import read_page
from wikisum.crawl.original.t2t import t2t_drop_reason
from wikisum.crawl.paragraphs import MAX_WORDS, drop_reasons, split_long
from wikisum.crawl.sentence_ends import has_sentence, without_broken_sentences
from wikisum.crawl.urls import canonical_url
from wikisum.crawl.warc.warc import PageRecord, Rejection
from wikisum.crawl.whitespace import normalize_whitespace
from wikisum.pipeline.pages.settings import PageSettings
from wikisum.pipeline.records import Document, Dropped

MAX_DETAIL_CHARS = 200  # of a refused page


def make_document(
    item: PageRecord | Rejection,
    file: str,
    stage: str,
    settings: PageSettings,
    counts: Counter[str],
) -> Document | Dropped:
    """The document of a record of `file`; its paragraphs are counted by their fates in `counts`."""
    if isinstance(item, Rejection):
        return drop_record(item.url, item.reason, stage, file, item.offset, item.detail)
    try:
        page = read_page(item.payload, item.charset, item.kind, settings.extractor)
    except BadPage as error:
        return drop_record(item.url, error.reason, stage, file, item.offset, str(error))
    pieces, reasons = _judged(page.paragraphs, item.kind, settings)
    for reason, number in Counter(reasons).items():
        counts[f"paragraphs_{reason or 'kept'}"] += number
    kept = [piece for piece, reason in zip(pieces, reasons, strict=True) if reason is None]
    if settings.paragraph_rule == "prose" and is_blocked(page.title, page.paragraphs, kept):
        detail = normalize_whitespace(" ".join(page.paragraphs))[:MAX_DETAIL_CHARS]
        return drop_record(item.url, "blocked_page", stage, file, item.offset, detail)
    if not kept:
        detail = f"none of {len(page.paragraphs)} paragraphs was kept"
        # The language is tested last, so what fails that test is the prose of the page.
        reason = "other_language" if "other_language" in reasons else "no_text"
        return drop_record(item.url, reason, stage, file, item.offset, detail)
    return Document(
        url=canonical_url(item.url),
        source_url=item.url,
        title=page.title,
        paragraphs=kept,
        language=page.language,
        warc_file=file,
        offset=item.offset,
        length=item.length,
        digest=item.digest,
        fetched_at=item.fetched_at,
    )


def _judged(
    paragraphs: list[str], kind: str, settings: PageSettings
) -> tuple[list[str], list[str | None]]:
    """The pieces of the paragraphs of a page, and why each is dropped.

    The extractor has already removed menus and notices from HTML pages. The paragraph rule `t2t`
    does not split paragraphs.
    """
    if settings.paragraph_rule == "t2t":
        return paragraphs, [t2t_drop_reason(paragraph) for paragraph in paragraphs]
    if kind != "text":
        pieces = [piece for paragraph in paragraphs for piece in split_long(paragraph)]
        return pieces, drop_reasons(pieces, settings.language)
    lines = []
    for line in paragraphs:
        if len(line) < MIN_MENU_CHARS:  # most lines; the functions would return them whole
            lines.append(line)
            continue
        for part in split_menus(line):
            lines += split_long(part) if part.count(" ") >= MAX_WORDS else [part]
    return _judged_text(lines, settings.language)


def _judged_text(lines: list[str], language: str | None) -> tuple[list[str], list[str | None]]:
    """The pieces of the lines of plain text, and why each is dropped.

    A line that is kept is cut where other lines were glued to it, and its parts are judged one by
    one. Parts that are kept and follow each other in a line are one piece, without broken
    sentences.
    """
    pieces: list[str] = []
    reasons: list[str | None] = []
    marked = mark_furniture(lines, drop_reasons(lines, language))
    for line, line_reason in zip(lines, marked, strict=True):
        if line_reason:
            pieces.append(line)
            reasons.append(line_reason)
            continue
        parts = split_glued(line)
        part_reasons = drop_reasons(parts, language) if len(parts) > 1 else [None]
        is_open = False  # whether the next part belongs to the last piece
        for part, part_reason in zip(parts, part_reasons, strict=True):
            text, reason = (part, part_reason) if part_reason else _cleaned(part)
            if is_open and reason is None:
                pieces[-1] += f" {text}"
            else:
                pieces.append(text)
                reasons.append(reason)
            is_open = reason is None
    return pieces, reasons


def _cleaned(part: str) -> tuple[str, str | None]:
    """Return a part without furniture and broken sentences, and None.

    If no sentence is left, return the part itself and the reason `furniture`.
    """
    text = cut_furniture(part)
    if text != part and not has_sentence(text):
        return part, "furniture"
    return without_broken_sentences(text), None


def drop_record(
    url: str | None, reason: str, stage: str, file: str, offset: int, detail: str
) -> Dropped:
    """The row of a record without a document; the detail has a URL that has no canonical form."""
    try:
        canonical = canonical_url(url) if url else None
    except BadUrl:
        canonical, detail = None, f"{url}: {detail}"
    return Dropped("record", None, canonical, stage, reason, file, offset, detail)
