"""The form of a template rule, and the few shapes that most rules share."""

from collections.abc import Callable, Mapping
from typing import NamedTuple


class Call(NamedTuple):
    """A template as an article uses it, its parameters as plain text.

    `name` is in lower case with single spaces; `values` are the positional parameters in order;
    `named` holds the others by their name in lower case; `language` is the code of the wiki.
    """

    name: str
    values: list[str]
    named: Mapping[str, str]
    language: str = "en"

    def value(self, index: int) -> str:
        """Return a positional parameter (counted from 0), or "" without it."""
        return self.values[index] if index < len(self.values) else ""

    def get(self, *names: str) -> str:
        """Return the first of these named parameters that is not empty, or ""."""
        return next((value for name in names if (value := self.named.get(name, ""))), "")

    def is_on(self, *names: str) -> bool:
        """Whether one of these named parameters says yes."""
        return self.get(*names).lower() in ("y", "yes", "on", "1", "true")


Text = str | Callable[[Call], str]


class Rule(NamedTuple):
    """What some templates show: a fixed text or a function of the call.

    `source` is the documentation page that the rule follows; `names` are its name and its
    aliases, separated by "; ".
    """

    source: str
    names: str
    text: Text


def first(call: Call) -> str:
    """Return the first positional parameter, or `text`, `quote` or `content`."""
    return call.value(0) or call.get("text", "quote", "content")


def second(call: Call) -> str:
    """Return the second positional parameter, or the only one."""
    return call.value(1) or call.value(0)


def last(call: Call) -> str:
    """Return the last positional parameter that is not empty, or `text`."""
    return next((value for value in reversed(call.values) if value), call.get("text"))


def joined(separator: str) -> Callable[[Call], str]:
    """Return a rule that joins all positional parameters that are not empty."""
    return lambda call: separator.join(value for value in call.values if value)


def prefixed(prefix: str, suffix: str = "") -> Callable[[Call], str]:
    """Return a rule that puts a prefix and a suffix around the first parameter."""
    return lambda call: f"{prefix}{first(call)}{suffix}"
