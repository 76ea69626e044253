"""Let Beam inspect each class and parse each set of flags once.

Beam inspects all methods of a DoFn eight times per pipeline, and parses its flags at every
transform. That is half the time of a build of a few articles, and the tests run hundreds.
argparse measures the terminal for each flag that a parser gets.
"""

import argparse
import weakref
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions, _BeamArgumentParser
from apache_beam.transforms import userstate

_inspect = userstate.get_dofn_specs
_parse = PipelineOptions.view_as
_specs: dict[type, Any] = {}
_views: weakref.WeakKeyDictionary[PipelineOptions, Any] = weakref.WeakKeyDictionary()


def remember() -> None:
    """Replace functions of Beam by ones that remember their results."""
    userstate.get_dofn_specs = _specs_of
    PipelineOptions.view_as = _view_as
    formatter = argparse.HelpFormatter("")
    _BeamArgumentParser._get_formatter = lambda self: formatter


def _specs_of(dofn: Any) -> Any:
    """The state and timers of a DoFn, which its class declares."""
    if type(dofn) not in _specs:
        _specs[type(dofn)] = _inspect(dofn)
    return _specs[type(dofn)]


def _view_as(options: PipelineOptions, kind: type[PipelineOptions]) -> PipelineOptions:
    """The same options under another class; all views share one dictionary of values."""
    views = _views.setdefault(options, {})
    if kind not in views or views[kind]._all_options is not options._all_options:
        views[kind] = _parse(options, kind)
    return views[kind]
