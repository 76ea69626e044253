"""Packages, and the folders inside them, import in one direction; no folder is crowded."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {
    "crawl": set(),
    "ranker": {"crawl"},
    "graphs": {"crawl", "ranker"},
    "pipeline": {"crawl", "ranker", "graphs"},
    "models": {"crawl.tokens", "ranker", "graphs", "pipeline.records"},
}
# The folders and modules of each package by floor, the lowest floor first. Each may import what
# stands on the floors below its own.
FLOORS = {
    "crawl": [
        {
            "blocked",
            "boilerplate",
            "errors",
            "menus",
            "sentence_ends",
            "titles",
            "tokens",
            "url_filter",
            "whitespace",
            "zstd_frame",
        },
        {"language", "paragraphs"},
        {"clones", "extract", "http", "original", "urls", "web"},
        {"html", "index", "warc", "wikipedia"},
    ],
    "ranker": [
        {
            "bm25",
            "categories",
            "cosines",
            "data",
            "pagerank",
            "rouge",
            "search",
            "sentences",
            "setting",
            "tfidf",
        },
        {"lexrank", "oracle", "recall", "runs", "select", "sumbasic", "textrank"},
        {"rank", "training"},
        {"learned"},
        {"evaluate"},
    ],
    "graphs": [
        {"edges", "encoder"},
        {"transitions"},
        {"fast_entities"},
        {"entities"},
        {"adjacency", "discourse", "similarity"},
    ],
    "pipeline": [
        {"errors", "machine", "reasons", "records", "setting", "workers"},
        {"store"},
        {"engine"},
        {"joins", "remote"},
        {"articles", "recurring"},
        {"corpora", "wanted", "examples"},
        {"pages"},
        {"live", "locate", "search"},
        {"stages"},
        {"report"},
        {"rerank", "estimate"},
        {"validate"},
        {"build"},
        {"commands"},
        {"cli"},
    ],
    "models": [
        {"settings"},
        {"sources", "targets"},
        {"vocabulary"},
        {"network", "export"},
        {"decoder_only", "hierarchical_decoder", "pointer", "pretrained", "recurrent"},
        {"table"},
        {"data"},
        {"training"},
        {"decoding"},
        {"convert", "evaluation", "bench"},
        {"judging"},
    ],
}
COMMANDS = "commands"  # of the pipeline: flags in, one call out; it names both halves
MOST_FILES = 16


def modules(package: str) -> list[Path]:
    found = sorted(p for p in (ROOT / package).rglob("*.py") if p.name != "__init__.py")
    assert len(found) > 3, f"{package}: only {found} was found"
    return found


def imports_of(path: Path) -> set[str]:
    """The names that a file imports, those of this distribution without their first part."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{name.name}" for name in node.names}
    return {name.removeprefix("wikisum.") for name in found}


def floor_of(package: str, name: str) -> int:
    for floor, names in enumerate(FLOORS[package]):
        if name in names:
            return floor
    raise AssertionError(f"{package}/{name} has no floor in this test's table")


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_in_one_direction(package):
    for path in modules(package):
        parts = path.relative_to(ROOT / package).parts
        may = PACKAGES[package] | ({"models"} if parts[0] == COMMANDS else set())
        for name in imports_of(path):
            top = name.split(".")[0]
            if top in PACKAGES and top != package:
                inside = {top, ".".join(name.split(".")[:2])}
                assert inside & may, f"{path} imports {name}"


@pytest.mark.parametrize("package", PACKAGES)
def test_folders_import_from_lower_floors_only(package):
    for path in modules(package):
        room = path.relative_to(ROOT / package).with_suffix("").parts[0]
        for name in imports_of(path):
            parts = name.split(".")
            if parts[0] == package and parts[1] != room:
                assert floor_of(package, parts[1]) < floor_of(package, room), (
                    f"{path} imports {name}"
                )


@pytest.mark.parametrize("package", PACKAGES)
def test_no_files_import_each_other_in_a_circle(package):
    by_name = {".".join(p.relative_to(ROOT).with_suffix("").parts): p for p in modules(package)}
    arrows = {}
    for module, path in by_name.items():
        names = imports_of(path)
        arrows[module] = {m for n in names for m in (n, n.rpartition(".")[0]) if m in by_name}
    left = dict(arrows)
    while left:
        free = [module for module, others in left.items() if not others & left.keys()]
        assert free, f"a circle among {sorted(left)}"
        for module in free:
            del left[module]


def test_every_folder_and_module_has_a_floor():
    for package, floors in FLOORS.items():
        inside = {path.relative_to(ROOT / package).parts[0] for path in modules(package)}
        names = [name for floor in floors for name in floor]
        assert sorted(names) == sorted(name.removesuffix(".py") for name in inside)


def test_no_folder_is_crowded():
    for package in PACKAGES:
        for folder in {path.parent for path in modules(package)}:
            files = [p for p in folder.iterdir() if p.is_file() and p.name != "__init__.py"]
            assert len(files) <= MOST_FILES, folder


def test_only_the_pipeline_imports_beam_and_torch_stays_out_of_it():
    for package in PACKAGES:
        for path in modules(package):
            names = {name.split(".")[0] for name in imports_of(path)}
            if package != "pipeline":
                assert "apache_beam" not in names, path
            if package in ("crawl", "graphs", "pipeline"):
                assert "torch" not in names, path


def test_package_files_are_empty():
    for package in PACKAGES:
        for folder in {path.parent for path in modules(package)}:
            assert (folder / "__init__.py").read_text() == "", folder


def test_the_command_line_alone_loads_neither_beam_nor_torch():
    loads = "import sys; from wikisum.pipeline import cli; cli._parser(); print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", loads], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"apache_beam", "torch"} & set(out.stdout.split())
