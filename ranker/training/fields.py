"""Fields of settings: their help texts, and the checks that name the flag of a wrong value."""

import dataclasses
from collections.abc import Sequence
from typing import Any


def setting(default: Any, text: str, choices: Sequence[str] | None = None) -> Any:
    """Return a dataclass field with a default, a help text and, for strings, the allowed values."""
    metadata = {"help": text} | ({"choices": tuple(choices)} if choices else {})
    return dataclasses.field(default=default, metadata=metadata)


def flag(name: str) -> str:
    """Return the command-line flag of a field: `batch_tokens` -> `--batch-tokens`."""
    return "--" + name.replace("_", "-")


def require(condition: bool, message: str) -> None:
    """Raise ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def require_positive(settings: Any, *names: str) -> None:
    """Raise ValueError naming the flag of the first of these fields that is not over 0."""
    for name in names:
        value = getattr(settings, name)
        require(value > 0, f"{flag(name)} must be over 0, not {value}")


def require_at_least_zero(settings: Any, *names: str) -> None:
    """Raise ValueError naming the flag of the first of these fields that is negative."""
    for name in names:
        value = getattr(settings, name)
        require(value >= 0, f"{flag(name)} must not be negative, not {value}")


def require_share(settings: Any, *names: str) -> None:
    """Raise ValueError naming the flag of the first of these fields that is not in [0, 1)."""
    for name in names:
        value = getattr(settings, name)
        require(0 <= value < 1, f"{flag(name)} must be at least 0 and below 1, not {value}")


def require_choice(settings: Any, name: str, choices: Sequence[str]) -> None:
    """Raise ValueError naming the flag of this field if its value is not among the choices."""
    value = getattr(settings, name)
    require(value in choices, f"{flag(name)} must be one of {', '.join(choices)}, not {value!r}")
