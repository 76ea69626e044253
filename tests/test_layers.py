import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "crawl": set(),
    "ranker": {"crawl"},
    "graphs": {"crawl", "ranker"},
    "pipeline": {"crawl", "ranker", "graphs"},
    "models": {"ranker", "graphs", "wikisum.pipeline.records"},
}
# the command line names both halves
DOOR = {"cli_summarize.py", "cli_summarizer.py", "cli_train.py"}


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return found


def test_packages_import_in_one_direction():
    for package, allowed in MAY_IMPORT.items():
        for path in (ROOT / package).glob("*.py"):
            for name in imports_of(path):
                top = name.split(".")[0]
                if top in MAY_IMPORT and top != package:
                    inside = {top, ".".join(name.split(".")[:2])}
                    may = allowed | ({"models"} if path.name in DOOR else set())
                    assert inside & may, f"{path.name} imports {name}"


def test_only_the_pipeline_knows_beam_and_torch_stays_out_of_it():
    for path in ROOT.glob("*/*.py"):
        package = path.parent.name
        names = {name.split(".")[0] for name in imports_of(path)}
        if package in ("crawl", "ranker", "graphs", "models"):
            assert "apache_beam" not in names, path
        if package in ("crawl", "graphs", "pipeline"):
            assert "torch" not in names, path


def test_package_files_are_empty():
    for package in MAY_IMPORT:
        assert (ROOT / package / "__init__.py").read_text() == ""


def test_the_command_line_alone_loads_neither_beam_nor_torch():
    loads = "import sys; from wikisum.pipeline import cli; cli._parser(); print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", loads], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"apache_beam", "torch"} & set(out.stdout.split())
