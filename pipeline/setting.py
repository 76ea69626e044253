"""The settings of all stages of a build.

Each folder's `settings.py` has the classes of its stages: they decide the bytes that these write.
"""

from typing import Any, TypeVar

from wikisum.ranker.setting import Checked, setting

MIB = 1 << 20


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
