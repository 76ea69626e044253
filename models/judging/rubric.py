"""Rubrics: scales that the user defines in a TOML file."""

from pathlib import Path
from typing import Annotated

import msgspec

from wikisum.models.judging.protocols import Protocol, Scale, scale

_MAX_OPTIONS = 10  # one digit each


class _Scale(msgspec.Struct, forbid_unknown_fields=True):
    key: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9_]*$")]
    label: str
    text: str
    options: Annotated[list[str], msgspec.Meta(min_length=2, max_length=_MAX_OPTIONS)]
    low: Annotated[int, msgspec.Meta(ge=0)] = 1


class _Rubric(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    instruction: str
    scale: Annotated[list[_Scale], msgspec.Meta(min_length=1)]
    shows_lead: bool = Protocol.shows_lead
    shows_sources: bool = Protocol.shows_sources


def read_rubric(path: Path) -> Protocol:
    """Return the rating protocol that a TOML file describes.

    The file has `title`, `instruction`, optionally `shows_lead` and `shows_sources`, and a table
    `[[scale]]` for each question with `key`, `label`, `text`, `low` and `options`, the labels of
    the values from `low` on. Raises ValueError that names the file and the fault.
    """
    try:
        rubric = msgspec.toml.decode(path.read_bytes(), type=_Rubric)
        scales = tuple(map(_checked_scale, rubric.scale))
        if len({s.key for s in scales}) < len(scales):
            raise ValueError("two scales have the same key")
    except ValueError as error:  # also of TOML, of UTF-8 and of types
        raise ValueError(f"{path}: {error}") from error
    title, text = rubric.title, rubric.instruction
    shows = rubric.shows_lead, rubric.shows_sources
    return Protocol("rubric", "rating", title, text, scales, *shows)


def _checked_scale(plain: _Scale) -> Scale:
    if plain.low + len(plain.options) > _MAX_OPTIONS:
        raise ValueError(f"scale {plain.key}: the values do not all have one digit")
    return scale(plain.key, plain.label, plain.text, plain.low, tuple(plain.options))
