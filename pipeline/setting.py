"""The settings of all stages of a build.

Each folder's `settings.py` has the classes of its stages: they decide the bytes that these write.
"""

import re
from typing import Any, TypeVar

from wikisum.ranker.setting import Checked, setting

MIB = 1 << 20
ANY_LANGUAGE = "any"
MAX_LANGUAGE_LENGTH = 35  # RFC 5646, section 4.4.1


def language_code(text: str) -> str:
    """Return the code of a language. Raises ValueError for a word that cannot be one."""
    is_code = re.fullmatch(r"[A-Za-z0-9]+(-[A-Za-z0-9]+)*", text) is not None
    if not is_code or len(text) > MAX_LANGUAGE_LENGTH or text == ANY_LANGUAGE:
        raise ValueError(f"must be a language code like en or zh-yue, not {text!r}")
    return text


def language_or_any(text: str) -> str:
    """Return the code of a language, or the word for all of them. Raises ValueError."""
    return text if text == ANY_LANGUAGE else language_code(text)


def max_page_bytes_setting(mib: int, text: str = "drop pages larger than this") -> Any:
    """Return the field of a maximum page size, `mib` MiB if the call does not name one."""
    shown = f"{mib * MIB}, {mib} MiB"
    return setting(mib * MIB, text, metavar="BYTES", at_least=1, default_text=shown)


S = TypeVar("S", bound=Checked)


class Settings:
    """The settings of a build: an object of each class, with the defaults of those not given.

    settings = Settings(PageSettings(extractor="soup"))
    settings[PageSettings].extractor  # "soup"
    settings[GraphSettings]           # GraphSettings()
    """

    def __init__(self, *given: Checked) -> None:
        self._by_kind = {type(one): one for one in given}

    def __getitem__(self, kind: type[S]) -> S:
        found = self._by_kind.get(kind)
        return found if isinstance(found, kind) else kind()

    def changed(self, *given: Checked) -> "Settings":
        """Return these settings with the given ones instead of those of their classes."""
        return Settings(*self._by_kind.values(), *given)
