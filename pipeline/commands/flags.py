"""Flags out of the fields of settings, for the commands of summarizers."""

import argparse
import dataclasses
from typing import Any

SOURCE_FLAGS = {
    "max_paragraphs": "best paragraphs to read",
    "paragraph_tokens": "subwords to read of each (hierarchical models)",
    "source_tokens": "subwords to read in all",
    "lead_tokens": "subwords of a lead to learn from",
}


def given(args: argparse.Namespace, flags: dict[str, str]) -> dict[str, Any]:
    """The values of these flags that stand in the call."""
    found = {name: getattr(args, name, None) for name in flags}
    return {name: value for name, value in found.items() if value is not None}


def add_fields(group: Any, kind: Any, flags: dict[str, str]) -> None:
    """A flag for each setting that `flags` explains, of the type of its field."""
    types = {"int": int, "float": float, "str": str}
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, text in flags.items():
        flag, kind_name = "--" + name.replace("_", "-"), str(fields[name].type)
        kind_name = getattr(fields[name].type, "__name__", kind_name).partition(" | ")[0]
        if kind_name == "bool":
            group.add_argument(flag, dest=name, default=None, help=text,
                               action=argparse.BooleanOptionalAction)  # fmt: skip
        else:
            shown = {"str": "NAME", "int": "N", "float": "X"}[kind_name]
            group.add_argument(flag, dest=name, type=types[kind_name], metavar=shown, help=text)
