"""Fresh environments that hold a wheel of this checkout and what an extra of it requires."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from runpy import run_path
from unittest.mock import patch

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent.parent
SOURCES = ("setup.py", "pyproject.toml", "README.md", "LICENSE")
PACKAGES = ("wikisum", "crawl", "ranker", "graphs", "pipeline", "models")


def setup_arguments() -> dict:
    """Return what setup.py passes to setuptools."""
    with patch("setuptools.setup") as setup:
        run_path(str(ROOT / "setup.py"))
    return setup.call_args.kwargs


def requirements(extra: str | None) -> list[str]:
    """Return the requirements of the distribution itself with those of an extra."""
    arguments = setup_arguments()
    return arguments["install_requires"] + (arguments["extras_require"][extra] if extra else [])


def copy_checkout(folder: Path) -> Path:
    """Copy what a build needs, so that no build leaves files in the checkout."""
    folder.mkdir()
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    for name in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, folder / name, symlinks=True, ignore=ignored)
    return folder


def build(checkout: Path, kind: str, to: Path) -> Path:
    """Build a wheel, sdist or editable wheel of a checkout without a network."""
    to.mkdir(exist_ok=True)
    code = f"from setuptools.build_meta import build_{kind} as f; import sys; print(f(sys.argv[1]))"
    printed = run(sys.executable, "-c", code, to, cwd=checkout)
    return to / printed.splitlines()[-1]


def unpack(sdist: Path, to: Path) -> Path:
    """Unpack an sdist and return its only folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(to, filter="data")
    (folder,) = to.iterdir()
    return folder


def names_in(wheel: Path) -> list[str]:
    """Return the names of the files in a wheel."""
    return sorted(zipfile.ZipFile(wheel).namelist())


def make_environment(folder: Path, wheel: Path, extra: str) -> Path:
    """Make an environment and return its folder of programs.

    The packages that the wheel requires, and no others, are links to those of the running
    environment.
    """
    python = install(wheel, folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    for required in _closure(requirements(extra)):
        for entry in _entries(required):
            target = packages / entry.name
            if not target.exists():
                target.symlink_to(entry)
    return python.parent


def install(wheel: Path, folder: Path) -> Path:
    """Install a wheel alone into a new environment and return its Python."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    flags = ["--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    run(sys.executable, "-m", "pip", "--python", python, "install", *flags, wheel)
    return python


def _closure(wanted: Sequence[str]) -> list[Distribution]:
    """Return the installed distributions that requirements name, and what those require."""
    found: dict[tuple[str, frozenset[str]], Distribution] = {}
    todo = [Requirement(line) for line in wanted]
    while todo:
        requirement = todo.pop()
        key = (re.sub(r"[-_.]+", "-", requirement.name).lower(), frozenset(requirement.extras))
        if key in found:
            continue
        try:
            found[key] = distribution(requirement.name)
        except PackageNotFoundError:  # a part of another distribution on this platform
            continue
        for line in found[key].requires or ():
            child = Requirement(line)
            extras = requirement.extras or {""}
            if not child.marker or any(child.marker.evaluate({"extra": e}) for e in extras):
                todo.append(child)
    return list(found.values())


def _entries(installed: Distribution) -> list[Path]:
    """Return the files and folders of a distribution at the top of site-packages."""
    names = {path.parts[0] for path in installed.files or ()} - {"..", "__pycache__"}
    return [Path(str(installed.locate_file(name))) for name in sorted(names)]


def run(*words: object, cwd: Path | None = None) -> str:
    """Run a program outside the checkout's paths and return its output. Fails with its errors."""
    done = subprocess.run(
        [str(word) for word in words],
        cwd=cwd, env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "HOME": str(cwd or "/tmp")},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout
