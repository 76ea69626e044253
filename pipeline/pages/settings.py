"""Settings of how pages become documents."""

from dataclasses import dataclass
from importlib.util import find_spec

from wikisum.pipeline.setting import max_page_bytes_setting
from wikisum.ranker.setting import Checked, setting

EXTRACTORS = ("fast", "trafilatura", "soup")
PARAGRAPH_RULES = ("prose", "t2t")


def extractor(name: str) -> str:
    """Return the name of an extractor. Raises ValueError if its package is not installed."""
    if name == "trafilatura" and find_spec("trafilatura") is None:
        raise ValueError("trafilatura is not installed: pip install 'wikisum[trafilatura]'")
    return name


@dataclass(frozen=True)
class PageSettings(Checked):
    """How pages become documents, whether they are fetched, scanned or live."""

    extractor: str = setting(
        "fast",
        "how text is taken from HTML: main text (fast, trafilatura) or all visible text (soup)",
        choices=EXTRACTORS,
        parse=extractor,
    )
    paragraph_rule: str = setting(
        "prose",
        "which paragraphs are kept: prose, or as the original dataset's filter does (t2t)",
        choices=PARAGRAPH_RULES,
    )
    language: str | None = None
    max_page_bytes: int = max_page_bytes_setting(
        16, "drop pages larger than this; HTML over 8 MiB is dropped in any case"
    )
    keep_truncated: bool = setting(
        False, "keep what there is of pages that the crawler cut at its size limit", is_later=True
    )
