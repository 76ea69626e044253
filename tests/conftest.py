"""Shared fixtures."""

import fcntl
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the command does, before torch is loaded
os.cpu_count = lambda: 1  # no worker processes for a command that names no number of workers
os.fsync = lambda number: None  # no test cuts the power
# a busy machine is slow, which is no fault of what is tested
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
GOLDEN = Path(__file__).parent / "golden"
SAMPLE = [
    "--articles", str(GOLDEN / "sample.xml.bz2"), "--warcs", str(GOLDEN / "sample-*.gz"),
    "--search-results", str(GOLDEN / "search.jsonl"), "--vocab-size", "500",
]  # fmt: skip


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Let one process compile the modules of a new checkout while the others wait for it."""
    with Path(__file__).open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        compiled = any(Path(__file__).parent.glob("__pycache__/test_sample.*"))
        if not compiled and not sys.dont_write_bytecode:
            return (yield)
    return (yield)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    """Let each process of pytest-xdist start with its share of the longest tests.

    Each process gets an equal number of consecutive tests, and one that has finished takes half of
    what another has left. A long test that starts last would leave the other processes idle. The
    tests of a module stay together, since they share its fixtures.
    """
    processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))
    if processes == 1:
        return
    modules = defaultdict(list)
    others = []
    for item in items:
        is_longest = item.get_closest_marker("longest") is not None
        (modules[item.path] if is_longest else others).append(item)
    shares = [[] for _ in range(processes)]
    for number, module in enumerate(modules.values()):
        shares[number % processes] += module
    ordered = []
    for number, share in enumerate(shares):
        size = (len(items) - len(ordered)) // (processes - number)
        count = max(0, size - len(share))
        ordered += [*share, *others[:count]]
        del others[:count]
    items[:] = ordered


def pytest_runtest_setup():
    """Make Beam quicker as soon as a test has loaded it; no test loads it for that."""
    if "apache_beam.transforms.userstate" in sys.modules:
        from tests.beam_memory import remember

        remember()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with real pages and dumps, or a skip with the reason."""
    default = Path(__file__).parent.parent.parent / "shared" / "data"
    folder = Path(os.environ.get("WIKISUM_REAL_DATA", default))
    if not folder.is_dir():
        pytest.skip(f"no real data: {folder} is absent (set WIKISUM_REAL_DATA)")
    return folder


@pytest.fixture(scope="session")
def once(tmp_path_factory) -> Callable[[str, Callable[[Path], object]], Path]:
    """(name, make) -> a folder that `make` has filled, once for all processes of a test run.

    Tests read the folder; a test that changes something works on a copy.
    """

    def shared(name: str, make: Callable[[Path], object]) -> Path:
        base = tmp_path_factory.getbasetemp()
        root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
        folder, done = root / f"once-{name}", root / f"once-{name}.done"
        with (root / f"once-{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return shared


@pytest.fixture(scope="session")
def sample_build(once) -> Path:
    """The finished dataset of the bundled sample (`SAMPLE`), built with one worker. Read only."""
    from wikisum.pipeline.cli import main

    def build(folder: Path) -> None:
        assert main(["build", *SAMPLE, "--out", str(folder / "out"), "--workers", "1"]) == 0

    return once("sample", build) / "out"


@pytest.fixture(scope="session")
def browse(tmp_path_factory) -> Callable[[Path, str], str]:
    """(page, script to run at its end) -> the page as a browser has it then, or a skip."""
    names = ("chromium", "chromium-browser", "google-chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if browser is None:
        pytest.skip(f"no browser: none of {', '.join(names)} is on the path")

    def run(page: Path, script: str = "") -> str:
        folder = tmp_path_factory.mktemp("browser")
        copy = folder / "page.html"
        copy.write_text(page.read_text() + f"<script>{script}</script>")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        flags += ["--disable-dev-shm-usage", f"--user-data-dir={folder / 'profile'}"]
        command = [browser, *flags, "--dump-dom", copy.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    return run


def pytest_make_parametrize_id(val):
    """Bytes are named by their number: gzip holds the time, and workers must agree on names."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.fixture(scope="session")
def topics(once) -> Path:
    """A small learnable dataset. Read only."""
    from benchmarks.topics import TopicSettings, write_topics

    settings = TopicSettings(facts=2, distractors=4)
    return once("topics", lambda folder: write_topics(folder / "data", 600, settings, 600)) / "data"
