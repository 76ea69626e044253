"""How settings describe themselves: fields that carry the help, choices and bounds of their flags.

`setting` makes such a field, `Checked` compares values with it, and the functions at the end turn
the word of a flag into its value.
"""

import dataclasses
import math
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

# Why a page could not be fetched, besides http_NNN and http_status_NNN.
RETRY_REASONS = (
    "bad_index", "bad_url", "broken_answer", "connect_failed", "connection_lost", "dns_failed",
    "no_connection", "no_such_file", "not_http", "not_reached", "page_too_large", "past_end",
    "port_refused", "private_address", "range_ignored", "reset", "robots_delay",
    "robots_disallowed", "robots_unreachable", "short_body", "size_limit", "time_limit", "timeout",
    "tls_failed", "too_large", "too_many_redirects", "unreadable", "url_too_long", "wrong_range",
)  # fmt: skip


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
    is_later: bool = False,
) -> Any:
    """Return a dataclass field with a flag: `text` is its help, the rest restricts its values.

    `flag` is the flag's name where it is not the field's; `parse` makes the value of a word and
    raises ValueError; `append` lets the flag be repeated; `default_text` replaces the default in
    the help. `is_later` marks a field that was added after datasets had been built without it: see
    `recorded`. A field made without this function has no flag.
    """
    told = {k: v for k, v in locals().items() if k not in ("default", "text") and v is not None}
    return dataclasses.field(default=default, metadata={"help": text, **told})


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


def recorded(settings: Any) -> dict[str, Any]:
    """Return the values of settings as fingerprints, shards and the manifest record them.

    A later field is left out at its default, so that datasets built without it keep their bytes.
    """
    later = {f.name: f.default for f in dataclasses.fields(settings) if f.metadata.get("is_later")}
    values = dataclasses.asdict(settings)
    return {k: v for k, v in values.items() if k not in later or v != later[k]}


class Checked:
    """Settings whose values are compared with the choices and bounds of their fields."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            fault = fault_of(field, getattr(self, field.name))
            if fault is not None:
                raise ValueError(f"--{flag_of(field)} {fault}")


def crawl_name(text: str) -> str:
    """Return the name of a crawl. Raises ValueError."""
    if re.fullmatch(r"\w[\w.-]*", text) is None:
        raise ValueError(f"must be a name like CC-MAIN-2024-10, not {text!r}")
    return text


def crawl_date(text: str) -> str:
    """Return a date as captures have it, with or without month and day. Raises ValueError."""
    from wikisum.crawl.index.cdx import parse_date

    try:
        parse_date(text)
    except ValueError as error:
        raise ValueError(
            f"must be a date like 2024, 2024-02 or 2024-02-24, not {text!r}"
        ) from error
    return text


def extractor(name: str) -> str:
    """Return the name of an extractor. Raises ValueError if its package is not installed."""
    if name == "trafilatura" and find_spec("trafilatura") is None:
        raise ValueError("trafilatura is not installed: pip install 'wikisum[trafilatura]'")
    return name


def retry_reasons(text: str) -> frozenset[str]:
    """Return the reasons in a list with commas. Raises ValueError naming those that there are."""
    reasons = frozenset(text.split(","))
    for reason in sorted(reasons):
        if reason not in RETRY_REASONS and not re.fullmatch(r"http_(status_)?\d{3}", reason):
            known = ", ".join((*RETRY_REASONS, "http_503 (any status)"))
            raise ValueError(f"has an unknown reason {reason!r}; known reasons: {known}")
    return reasons


def http_url(text: str) -> str:
    """Return the URL of a server. Raises ValueError for another scheme than http and https."""
    if not re.match(r"https?://[^/]", text):
        raise ValueError(f"must be an http or https URL, not {text!r}")
    return text


def regular_expression(text: str) -> str:
    """Return a regular expression. Raises ValueError naming what is wrong with it."""
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"must be a regular expression, but {text!r} is none: {error}") from error
    return text


def contact_address(text: str) -> str:
    """Return what can stand in parentheses in a User-Agent header. Raises ValueError."""
    if not (text.isascii() and text.isprintable() and text.strip()) or set(text) & set("()"):
        raise ValueError("must be a mail or web address in ASCII, without parentheses")
    return text
