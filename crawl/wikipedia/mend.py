"""Text without its markup -> plain paragraphs: what broken markup and templates left is mended."""

import re

from wikisum.crawl.wikipedia.marks import APOSTROPHE, HOLE, ITEM, NOTHING, SPLIT
from wikisum.crawl.wikipedia.quotes import remove_quote_marks
from wikisum.crawl.wikipedia.site import FILE_PATTERN

_LEFTOVER = re.compile(
    rf"\[\[(?:{FILE_PATTERN})\s*:[^\[\]]*(?:\]\])?|\[\[(?:[^\[\]|]*\|)?|\]\]|\{{\{{[^{{}}]*\}}\}}|"
    r"\{\{[^{}|\n]*\|?|\}\}|\{\||\|\}|</?[a-zA-Z][a-zA-Z]*(?:\s[^<>\n]*)?/?>|"
    r"__[A-Z]{3,}__|<!--.*?(?:-->|$)",
    re.IGNORECASE | re.DOTALL,
)
_ITEM_LINE = re.compile(f"{ITEM}([^\n{SPLIT}{ITEM}]*)\n")
# A line of an infobox whose braces do not match: `| name = value`, its first line, its last one.
_PARAMETER_LINE = re.compile(r"\|[^\n|=\[\]{}]{0,60}=|\{\{[^\n{}|]{0,80}\|?$|\}{1,2}\s*$")
_HATNOTE = re.compile(
    r"\W*(?:for (?:other|the|a|an|more|information|further|details|people|places|similar|its|"
    r"his|her)?"
    r"\b[^.]{0,150}, see\b[^.]{0,200}|(?:main|see|further)[ -](?:article|also|information|page)s?"
    r"\s?:[^.]{0,200}|see also\s?:?[^.]{1,200}|not to be confused with\b[^.]{0,200}|"
    r"(?:this|the following) (?:article|page|section) (?:is|deals) (?:about|with)\b[^.]{0,200}"
    r"(?:\. for\b[^.]{0,150}\bsee\b[^.]{0,200})?|[^.]{1,80}\bredirects? here\b[^.]{0,40}"
    r"(?:\.\s*for\b[^.]{0,200})?|(?:für|zu) [^.]{0,150}\bsiehe\b[^.]{0,200}|siehe auch\s?:.{0,200}|"
    r"hauptartikel\s?:.{0,200}|pour [^.]{0,150}\bvoir\b[^.]{0,200}|article (?:détaillé|principal)"
    r"\s?:.{0,200})\W*",
    re.IGNORECASE,
)
_HATNOTE_STARTS = (
    "for ", "main", "see ", "furt", "not ", "this", "the ", "für ", "zu ", "sieh", "haup", "pour",
    "arti", '"', "“",
)  # fmt: skip
_THUMB = re.compile(r"^[^\n]*\|\s*(?:thumb|right|left|frame)\b[^\n]*$", re.MULTILINE)
_BLOCKS = re.compile(rf"\n[ \t{HOLE}]*\n|[{SPLIT}{ITEM}]+|\n(?=[*#:;|!])")
_PARENTHESIS = re.compile(r"[ \t]?\(([^()]*)\)")
_FUNCTION_WORDS = re.compile(
    rf"(?:[^:()\d]{{0,40}}:)?[\W{HOLE}]*(?:(?:or|and|also|occasionally|sometimes|often|usually|"
    rf"rarely|"
    r"pronounced|pronunciation|listen|help|info|locally|from|in|is|as|by|the|of|IPA|equivalent|to|"
    r"about|approximately|around|roughly|over|US|UK|American|British|English|local|native|years?|"
    r"ago|million|billion|formerly|officially|abbreviated|more|than|prononcé|écouter|deutsch|"
    r"current|currently|today|today's|dollars?|pounds?|euros?|terms|money|value|prices|adjusted|"
    r"for|inflation|"
    r"Aussprache)\b[\W]*)*",
    re.IGNORECASE,
)
_SEPARATOR = re.compile(r"([;,])")
_LOST_PRONUNCIATION = re.compile(
    rf",?[ \t]*\b(?:also )?pronounced(?: as| like)?[ \t]*{HOLE}[ \t]*(,?)", re.IGNORECASE
)
_LOST_VALUE = re.compile(rf"\b[^\W\d_][\w-]*:[ \t]*{HOLE}?[ \t]*[,;][ \t]*")
_HOLLOW = re.compile(r"\(\s*(?:[;,:/–\-]|or|and)*\s*(?:[;,:/]\s*)*\)|\[\s*\]|(?<=\()\s*[;,:]+\s*")
_DANGLING = re.compile(r"[ \t]*[;,:]+[ \t]*(?=\))")
_SPACE_BEFORE = re.compile(r"[ \t]+(?=\)|[,.;:!?](?:\s|$))")
_DOUBLED = re.compile(r"([,;])(?:[ \t]*[,;])+")
_BLANK = re.compile(r"[ \t\xa0\u2000-\u200a\u202f\u3000]+")
_BRACES = re.compile(r"\{{2,}|\}{2,}")
_NO_TEXT = re.compile(r"[\W_]*")


def clean(text: str) -> str:
    """Return plain paragraphs, one per line, from text whose markup has been taken away.

    Blank lines, list items and `SPLIT` end a paragraph, single line breaks do not. Hatnotes and
    rests of broken infoboxes are removed, and what templates without text left is mended:
    `( ; )`, ` ,`, `Dari:,`.
    """
    text = _ITEM_LINE.sub(rf"{SPLIT}\1{SPLIT}", text.replace("\r", "\n"))
    text = "\n".join(remove_quote_marks(line) for line in text.split("\n") if not _is_noise(line))
    text = _THUMB.sub("", _LEFTOVER.sub("", text)).replace(NOTHING, "").replace(APOSTROPHE, "'")
    lines = []
    for block in _BLOCKS.split(text):
        line = mend_line(block)
        if not _NO_TEXT.fullmatch(line) and not is_hatnote(line):
            lines.append(line)
    return "\n".join(lines)


def is_hatnote(line: str) -> bool:
    """Whether a line only sends the reader to another page ("For other uses, see Bar.")."""
    if len(line) > 400 or not line.lstrip(f"'(:*  {HOLE}").lower().startswith(_HATNOTE_STARTS):
        return "redirects here" in line[:120] and bool(_HATNOTE.fullmatch(line[:600]))
    return bool(_HATNOTE.fullmatch(line))


def _is_noise(line: str) -> bool:
    if line[:1] in ("|", "{", "}") and _PARAMETER_LINE.match(line):
        return True
    return line[:1] in ("'", ":", "(") and is_hatnote(line)


def mend_line(text: str) -> str:
    """Return a paragraph on one line, with the traces of lost templates mended."""
    line = _BLANK.sub(" ", text.replace("\n", " ")).strip(f" *#:;|{HOLE}")
    if HOLE in line:
        line = _LOST_PRONUNCIATION.sub(r"\1", line)
    if "(" in line:
        line = _PARENTHESIS.sub(_mend_parenthesis, line)
    if ":" in line:
        line = _LOST_VALUE.sub("", line)
    line = line.replace(HOLE, "")
    if "(" in line or "[" in line:
        for _ in range(2):
            line = _HOLLOW.sub("", line)
        line = _DANGLING.sub("", line)
    line = _DOUBLED.sub(r"\1", _SPACE_BEFORE.sub("", line))
    line = _BRACES.sub("", line)  # those that a removed mark brought together
    return re.sub("  +", " ", line).replace("( ", "(").strip(" ")


def _mend_parenthesis(match: re.Match[str]) -> str:
    """A parenthesis without the parts of which a lost template left nothing but a label."""
    inner = match[1]
    if HOLE not in inner and inner == inner.strip(" ,;"):
        return match[0]
    if inner[:1] in (" ", ",", ";"):
        inner = HOLE + inner
    if inner[-1:] in (" ", ",", ";"):
        inner += HOLE
    parts = _SEPARATOR.split(inner)
    kept = ""
    for separator, part in zip(["", *parts[1::2]], parts[::2], strict=True):
        if HOLE in part and _FUNCTION_WORDS.fullmatch(part):
            continue
        kept += (separator if kept else "") + part.replace(HOLE, "")
    kept = kept.strip()
    lead = " " if match[0][0] == " " else ""
    return f"{lead}({kept})" if kept else ""
