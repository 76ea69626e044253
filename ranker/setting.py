"""How settings describe themselves: fields that carry the help, choices and bounds of their flags.

`setting` makes such a field, and `Checked` compares values with it. `pipeline/commands/flags.py`
turns the fields into flags and the call back into settings.
"""

import dataclasses
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any


def setting(
    default: Any,
    text: str,
    choices: Sequence[str] | None = None,
    *,
    flag: str | None = None,
    metavar: str | None = None,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    parse: Callable[[str], Any] | None = None,
    append: bool = False,
    commas: bool = False,
    default_text: str | None = None,
    is_recorded: bool = True,
    is_later: bool = False,
) -> Any:
    """Return a dataclass field with a flag: `text` is its help, the rest restricts its values.

    `flag` is the flag's name where it is not the field's; `parse` makes the value of a word and
    raises ValueError; `append` lets the flag be repeated, `commas` separate values in one word;
    `default_text` replaces the default in
    the help. Only settings that are `is_recorded` stand in the metadata of shards: no paths of this
    machine, and not the number of shards. `is_later` marks a field that was added after datasets
    had been built without it: it is recorded only if it differs from its default, so that they keep
    their bytes. A field made without this function has no flag.
    """
    given = {k: v for k, v in locals().items() if k not in ("default", "text") and v is not None}
    metadata = {"help": text, **given}
    return dataclasses.field(default=default, metadata=metadata)


def share_setting(default: float, text: str) -> Any:
    """Return the field of a probability that must not be 1."""
    return setting(default, text, at_least=0, below=1)


def flag_of(field: "dataclasses.Field[Any]") -> str:
    """Return the name of a field's flag, without dashes."""
    return str(field.metadata.get("flag") or field.name.replace("_", "-"))


def require(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def fault_of(field: "dataclasses.Field[Any]", value: Any) -> str | None:
    """Return what is wrong with the value of a field, or None if it is allowed."""
    metadata = field.metadata
    if value is None:
        return None
    choices = metadata.get("choices")
    for one in value if isinstance(value, tuple) else [value]:
        if choices and one not in choices:
            return f"must be one of {', '.join(choices)}, not {one!r}"
    if isinstance(value, int | float):
        bounds = {word: metadata[word] for word in _BOUNDS if word in metadata}
        fits = all(_BOUNDS[word](value, bound) for word, bound in bounds.items())
        if not (fits and math.isfinite(value)):
            return f"must be {_range_text(bounds)}, not {value}"
    parse = metadata.get("parse")
    return next(filter(None, (_word_fault(parse, word) for word in _words(value))), None)


_BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "at_least": operator.ge, "above": operator.gt, "at_most": operator.le, "below": operator.lt,
}  # fmt: skip


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


def _range_text(bounds: dict[str, float]) -> str:
    if bounds.keys() == {"at_least", "at_most"}:
        return f"between {bounds['at_least']} and {bounds['at_most']}"
    words = {"above": "greater than"}
    parts = [f"{words.get(n, n.replace('_', ' '))} {bound}" for n, bound in bounds.items()]
    return " and ".join(parts) or "a finite number"


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
