"""HTML pages from templates of jinja2, which escape all values."""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@functools.lru_cache(maxsize=8)
def environment(folder: Path, finalize: Callable[..., Any] | None = None) -> Environment:
    """Return the environment of the templates in a folder; `finalize` is applied to each value.

    It is kept with its compiled templates, since compiling one takes longer than filling it.
    """
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )


def render_page(
    template: Path,
    finalize: Callable[..., Any] | None = None,
    filters: Mapping[str, Callable[..., Any]] | None = None,
    **values: Any,
) -> str:
    """Return the page of a template; `finalize` is applied to each value that it shows.

    Raises jinja2.UndefinedError for a value that the template needs and does not get.
    """
    found = environment(template.parent, finalize)
    found.filters.update(filters or {})
    return found.get_template(template.name).render(**values)
