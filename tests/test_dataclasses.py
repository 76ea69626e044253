"""Settings, results and the work that is sent to workers are values that nothing changes later."""

import ast

import pytest

from tests.test_layers import PACKAGES, ROOT, modules

CHANGED_IN_PLACE = {
    "pipeline/store/objects.py": "_Listing",  # what is known of a folder, read when first needed
    "pipeline/remote/roots.py": "_Root",  # counts the failures of a server
    "pipeline/live/hosts.py": "_Host",  # counts the failures of a host
    "models/network/spec.py": "TensorState",  # holds the tensors of a decoding step
    "models/pointer/pointer_generator.py": "PointerState",
    "models/pretrained/network.py": "CacheState",
}


def is_frozen(decorator: ast.expr) -> bool:
    """Return whether a dataclass decorator says `frozen=True`."""
    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
    return any(k.arg == "frozen" and ast.literal_eval(k.value) for k in keywords)


@pytest.mark.parametrize("package", PACKAGES)
def test_dataclasses_are_frozen(package):
    found = [
        (str(path.relative_to(ROOT)), node.name)
        for path in modules(package)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if "dataclass" in ast.unparse(decorator) and not is_frozen(decorator)
    ]
    assert dict(found) == {
        path: name for path, name in CHANGED_IN_PLACE.items() if path.startswith(f"{package}/")
    }
