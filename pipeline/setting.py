"""How settings describe themselves: fields that carry the help, choices and bounds of their flags.

`setting` makes such a field, `Checked` compares values with it, and `Settings` holds those of all
stages of a build. Each folder's `settings.py` has the classes of its stages: they decide the bytes
that these write. `commands/flags.py` turns the fields into flags and the call back into settings.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

MIB = 1 << 20


def setting(
    default: Any,
    text: str,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    choices: Sequence[str] | None = None,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    parse: Callable[[str], Any] | None = None,
    append: bool = False,
    default_text: str | None = None,
    is_recorded: bool = True,
    is_later: bool = False,
) -> Any:
    """Return a dataclass field with a flag: `text` is its help, the rest restricts its values.

    `flag` is the flag's name where it is not the field's; `parse` makes the value of a word and
    raises ValueError; `append` lets the flag be repeated; `default_text` replaces the default in
    the help. Only settings that are `is_recorded` stand in the metadata of shards: no paths of this
    machine, and not the number of shards. `is_later` marks a field that was added after datasets
    had been built without it: it is recorded only if it differs from its default, so that they keep
    their bytes. A field made without this function has no flag.
    """
    about = {k: v for k, v in locals().items() if k not in ("default", "text") and v is not None}
    return dataclasses.field(default=default, metadata={"help": text, **about})


def max_page_bytes_setting(mib: int, text: str = "drop pages larger than this") -> Any:
    """Return the field of a maximum page size, `mib` MiB if the call does not name one."""
    shown = f"{mib * MIB}, {mib} MiB"
    return setting(mib * MIB, text, metavar="BYTES", at_least=1, default_text=shown)


def flag_of(field: "dataclasses.Field[Any]") -> str:
    """Return the name of a field's flag, without dashes."""
    return str(field.metadata.get("flag") or field.name.replace("_", "-"))


def fault_of(field: "dataclasses.Field[Any]", value: Any) -> str | None:
    """Return what is wrong with the value of a field, or None if it is allowed."""
    about = field.metadata
    if value is None:
        return None
    choices, parse = about.get("choices"), about.get("parse")
    if choices and value not in choices:
        return f"must be one of {', '.join(choices)}, not {value!r}"
    low, above, high = (about.get(name) for name in ("at_least", "above", "at_most"))
    if isinstance(value, int | float):
        fits = math.isfinite(value) and (low is None or value >= low)
        fits = fits and (above is None or value > above) and (high is None or value <= high)
        if not fits:
            return f"must be {_range_text(low, above, high)}, not {value}"
    return next(filter(None, (_word_fault(parse, word) for word in _words(value))), None)


def _words(value: Any) -> Sequence[str]:
    """The words that a value was made of, where the value still shows them."""
    return value if isinstance(value, tuple) else [value] if isinstance(value, str) else ()


def _word_fault(parse: Callable[[str], Any] | None, word: str) -> str | None:
    try:
        if parse is not None:
            parse(word)
    except ValueError as error:
        return str(error)
    return None


def _range_text(low: float | None, above: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f"between {low} and {high}"
    if low is not None:
        return f"at least {low}"
    return "a finite number" if above is None else f"greater than {above}"


class Checked:
    """Settings whose values are compared with the choices and bounds of their fields."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            fault = fault_of(field, getattr(self, field.name))
            if fault is not None:
                raise ValueError(f"--{flag_of(field)} {fault}")

    def values(self) -> dict[str, Any]:
        """Return all values by the names of the fields, without later ones at their defaults."""
        every = dataclasses.asdict(self)  # type: ignore[call-overload]
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        left_out = {f.name for f in fields if f.metadata.get("is_later")
                    and every[f.name] == f.default}  # fmt: skip
        return {name: value for name, value in every.items() if name not in left_out}

    def recorded(self) -> dict[str, Any]:
        """Return the values that the metadata of shards name."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        kept = {f.name for f in fields if f.metadata.get("is_recorded", True)}
        return {name: value for name, value in self.values().items() if name in kept}


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
