"""HTML pages from templates of jinja2, which escape all values."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render_page(
    template: Path,
    finalize: Callable[..., Any] | None = None,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:
    """Return the page of a template; `finalize` is applied to each value that it shows.

    Raises jinja2.UndefinedError for a value that the template needs and does not get.
    """
    environment = Environment(
        loader=FileSystemLoader(template.parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    environment.filters.update(filters or {})
    return environment.get_template(template.name).render(**values)
