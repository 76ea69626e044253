"""The documentation agrees with the code: tables, reasons, links, commands and snippets."""

import importlib
import pkgutil
import re

import pyarrow as pa
import pytest

import wikisum.pipeline
from benchmarks.topics import TopicSettings, write_topics
from tests.test_readme import ROOT, commands_of
from wikisum.pipeline import reasons, records
from wikisum.pipeline.cli import _parser, main
from wikisum.pipeline.engine.stage import Stage

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [*DOCS, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "benchmarks" / "README.md"]
ARROW_NAMES = {"element: ": "", "float": "float32"}
SCHEMAS = {
    "articles": records.ARTICLE,
    "wanted": records.WANTED,
    "captures": records.CAPTURE,
    "documents": records.DOCUMENT,
    "examples": records.EXAMPLE,
    "dropped": records.DROPPED,
}


def columns_of(fields, prefix=""):
    """Return (name, type) of each column and sub-field, as the page shows them."""
    for field in fields:
        name, kind = prefix + field.name, field.type
        if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
            yield name, "list<struct>"
            yield from columns_of(kind.value_type, f"{name}.")
        elif pa.types.is_struct(kind):
            yield name, "struct"
            yield from columns_of(kind, f"{name}.")
        else:
            yield name, re.sub(r"element: |\bfloat\b", lambda m: ARROW_NAMES[m[0]], str(kind))


def section(page: str, title: str) -> str:
    """Return the text below a heading of the second level."""
    return re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)[1]


@pytest.mark.parametrize("table", SCHEMAS)
def test_every_column_is_described(table):
    text = section((ROOT / "docs" / "dataset.md").read_text(), table)
    rows = re.findall(r"^\| `([\w.]+)` \| (\S+) \| (.+?) \| .*\|$", text, re.MULTILINE)
    assert [(name, kind) for name, kind, _ in rows] == list(columns_of(SCHEMAS[table]))


def declared_reasons() -> dict[str, str]:
    """Return the sentence of each reason that any stage declares."""
    found = {**reasons.URLS, **reasons.RECORDS, **reasons.SERVERS}
    for module in pkgutil.walk_packages(wikisum.pipeline.__path__, "wikisum.pipeline."):
        if module.name.endswith(".stage"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Stage):
                    found.update(value.reasons)
    return found


def code_of(package: str):
    return (ROOT / package).rglob("*.py")


def test_every_reason_is_explained():
    text = section((ROOT / "docs" / "faq.md").read_text(), r"Why was it dropped\?")
    rows = dict(re.findall(r"^\| `([\w<>]+)` \| (.+?) \|$", text, re.MULTILINE))
    assert declared_reasons().keys() - rows.keys() == set()
    code = "".join(path.read_text() for p in ("crawl", "pipeline") for path in code_of(p))
    assert [reason for reason in rows if f'"{reason}"' not in code and "<" not in reason] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if target.startswith(("https://", "http://")):
            continue
        name, _, heading = target.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            slugs = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles]
            assert heading in slugs, target


def test_every_page_is_in_the_table_of_contents():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in DOCS if f"(docs/{page.name})" not in readme] == []


COMMANDS = [(page.name, words) for page in PAGES for words in commands_of(page.read_text())]


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=lambda v: v if isinstance(v, str) else "")
def test_a_command_is_one_that_the_program_takes(page, words):
    cut = words.index("--") if "--" in words else len(words)
    assert _parser().parse_args(words[:cut]).run


SNIPPETS = [
    pytest.param(code, id=f"{page.stem}-{number}")
    for page in DOCS
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL))
]


@pytest.fixture(scope="module")
def in_folder_of_a_dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    write_topics(folder / "out", 60, TopicSettings(facts=2, distractors=4), 400)
    flags = ["--preset", "tiny-ft", "--steps", "1", "--validate-every", "1"]
    data = ["--data", str(folder / "out"), "--out", str(folder / "runs" / "ft")]
    assert main(["train", "summarizer", *flags, *data]) == 0
    return folder


@pytest.mark.parametrize("code", SNIPPETS)
def test_a_snippet_runs(code, in_folder_of_a_dataset, monkeypatch, capsys):
    monkeypatch.chdir(in_folder_of_a_dataset)
    exec(compile(code, "snippet", "exec"), {"__name__": "snippet"})
    assert capsys.readouterr().out.strip()
