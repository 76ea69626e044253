"""Rubrics: scales that the user defines in a TOML file."""

import re
import tomllib
from pathlib import Path
from typing import Any

from wikisum.models.judging.protocols import Protocol, Scale, scale

_TEXTS = ("title", "instruction")
_FLAGS = ("shows_lead", "shows_sources")
_MAX_OPTIONS = 10  # one digit each


def read_rubric(path: Path) -> Protocol:
    """Return the rating protocol that a TOML file describes.

    The file has `title`, `instruction`, optionally `shows_lead` and `shows_sources`, and a table
    `[[scale]]` for each question with `key`, `label`, `text`, `low` and `options`, the labels of
    the values from `low` on. Raises ValueError that names the file and the fault.
    """
    try:
        plain = tomllib.loads(path.read_text(encoding="utf-8"))
        return _protocol(plain)
    except ValueError as error:  # also of TOML and of UTF-8
        raise ValueError(f"{path}: {error}") from error


def _protocol(plain: dict[str, Any]) -> Protocol:
    unknown = plain.keys() - {*_TEXTS, *_FLAGS, "scale"}
    if unknown:
        raise ValueError(f"no setting {min(unknown)!r}")
    texts = {name: _value(plain, name, str, "the rubric") for name in _TEXTS}
    flags = {name: _value(plain, name, bool, "the rubric") for name in _FLAGS if name in plain}
    scales = tuple(map(_scale, _value(plain, "scale", list, "the rubric")))
    keys = [s.key for s in scales]
    if not keys or len(set(keys)) < len(keys):
        raise ValueError("two scales have the same key" if keys else "has no [[scale]]")
    return Protocol("rubric", "rating", scales=scales, **texts, **flags)


def _scale(plain: Any) -> Scale:
    key = _value(plain, "key", str, "a scale")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", key):
        raise ValueError(f"key {key!r} is not lower-case letters, digits and underscores")
    where = f"scale {key}"
    low = plain.get("low", 1)
    names = _value(plain, "options", list, where)
    if not isinstance(low, int) or isinstance(low, bool) or low < 0:
        raise ValueError(f"{where}: low is {low!r}, not a whole number of at least 0")
    if not 2 <= len(names) <= _MAX_OPTIONS or not all(isinstance(n, str) for n in names):
        raise ValueError(f"{where}: options is not a list of 2 to {_MAX_OPTIONS} texts")
    if low + len(names) > _MAX_OPTIONS:
        raise ValueError(f"{where}: the values do not all have one digit")
    label, text = (_value(plain, name, str, where) for name in ("label", "text"))
    return scale(key, label, text, low, tuple(names))


def _value(plain: Any, name: str, kind: type, where: str) -> Any:
    if not isinstance(plain, dict) or name not in plain:
        raise ValueError(f"{where} has no {name}")
    if not isinstance(plain[name], kind):
        raise ValueError(f"{where}: {name} is {plain[name]!r:.40}")
    return plain[name]
