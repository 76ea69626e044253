"""Judges at work in a browser, from the assignment to the report."""

import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.models.judging.conftest import SYSTEMS
from wikisum.pipeline.cli import main

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is on the path")
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
SMALLEST_OPTION = """Math.min(...[...document.querySelectorAll(".option")].flatMap(
    option => [option.offsetWidth, option.offsetHeight]))"""
SCALES = ["grammaticality", "non_redundancy", "referential_clarity", "focus", "structure"]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield chromium
        chromium.close()


@pytest.fixture
def open_page(browser):
    """(window) -> a new page, as on a device of its own; complaints of pages fail the test."""
    pages, complaints = [], []

    def new(window=DESKTOP):
        page = browser.new_context(**window).new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        pages.append(page)
        return page

    yield new
    for page in pages:
        page.context.close()
    assert [text for text in complaints if not text.startswith("Failed to load")] == []


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def served(study, port):
    """A server as a process of its own, killed at the end."""
    command = [sys.executable, "-m", "wikisum", "judge", "serve", str(study), "--port", str(port)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            next(line for line in process.stdout if line.startswith("serving"))
            yield
        finally:
            process.kill()


@pytest.fixture
def prepared(files, tmp_path, port, capsys):
    """(protocol, flags) -> a study and the links to it."""

    def prepare(protocol, *flags, systems=2):
        words = [*map(str, files(4, systems)), "--protocol", protocol, *flags]
        address = f"http://127.0.0.1:{port}"
        study = tmp_path / "study"
        assert main(["judge", "prepare", *words, "--out", str(study), "--url", address]) == 0
        return study, re.findall(r"(http://\S+)", capsys.readouterr().out)

    return prepare


def press(page, *keys):
    """Press keys once the page's script listens: its text is visible before the script ran."""
    page.wait_for_load_state("load")
    for key in keys:
        page.keyboard.press(key)


def expect_path(page, end):
    page.wait_for_url(re.compile(rf".*/{end}$"))


def expect_text(page, selector, text):
    page.locator(selector, has_text=text).first.wait_for()


def rate_by_key(page, position, ratings="12345"):
    expect_path(page, position)
    press(page, *ratings, "Enter")


def rate_by_touch(page, position, rating):
    expect_path(page, position)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    smallest = page.evaluate(SMALLEST_OPTION)
    assert smallest >= 44
    for scale in SCALES:
        page.locator(f"label:has(input[name={scale}][value='{rating}'])").tap()
    page.get_by_role("button", name="Continue").tap()


@pytest.mark.longest
@pytest.mark.slow
def test_two_judges_a_reload_and_a_killed_server(prepared, port, open_page, capsys):
    study, links = prepared("duc", "--examples", "1", "--judges", "2", systems=3)
    with served(study, port):
        one, two = open_page(), open_page(PHONE)
        one.goto(links[0])
        two.goto(links[1])
        press(one, "Enter")
        two.get_by_role("link", name="Start").tap()
        rate_by_key(one, 1)
        rate_by_touch(two, 1, 5)
        expect_path(one, 2)
        press(one, "s")
        expect_text(one, "#sources li", "Source 1 of example")
        press(one, "4", "4", "ArrowLeft", "ArrowRight", "ArrowRight")
        expect_text(one, "#status", "Saved")
        one.wait_for_timeout(200)
        one.reload()
        checked = one.locator("input:checked")
        assert [c.get_attribute("name") for c in checked.all()] == SCALES[:3]
        assert [c.get_attribute("value") for c in checked.all()] == ["4", "4", "3"]
        assert one.evaluate("document.activeElement.name") == "focus"
        rate_by_touch(two, 2, 4)
        expect_path(two, 3)
    press(one, "3")
    two.locator("label:has(input[name=focus][value='1'])").tap()
    for page in (one, two):
        expect_text(page, "#status", "Not saved yet")
    with served(study, port):
        for page in (one, two):
            expect_text(page, "#status:not(.bad)", "Saved")
        press(one, "3", "Enter")
        rate_by_key(one, 3)
        expect_text(one, ".notice", "Thank you. All screens are answered.")
        other = open_page(PHONE)
        other.goto(links[1])
        expect_text(other, "h2", "2 of 3 screens answered")
        other.get_by_role("link", name="Continue with screen 3").tap()
        assert other.locator("input:checked").get_attribute("name") == "focus"
        rate_by_touch(other, 3, 2)
        expect_text(other, ".notice", "Everything is saved.")
        answer = other.request.get(links[0][:-5] + "/")
        assert (answer.status, answer.text()) == (404, "Not found")
    check_report(study, open_page)


def check_report(study, open_page):
    assert main(["judge", "report", str(study), "--samples", "100"]) == 0
    with (study / "report" / "judgments.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 3 * 5
    given = {judge: [float(r["value"]) for r in rows if r["judge"] == judge] for judge in "12"}
    expected = [1, 2, 3, 4, 5, 4, 4, 3, 3, 3, 1, 2, 3, 4, 5]
    assert given["1"] == expected
    assert given["2"] == [float(v) for v in (5, 4, 2) for _ in SCALES]
    page = open_page(PHONE)
    page.goto((study / "report" / "index.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("figure svg").count() > 20
    assert SYSTEMS[0] in page.locator("figure").first.inner_text()


@pytest.mark.slow
def test_questions_are_answered_and_marked_with_the_keyboard(
    prepared, port, open_page, tmp_path, capsys
):
    asked = tmp_path / "questions.jsonl"
    rows = [("e1", "Who?", "The A"), ("e1", "Why?", "C")]
    keys = ("id", "question", "answer")
    asked.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows))
    study, links = prepared("questions", "--questions", str(asked), "--judges", "2")
    with served(study, port):
        for link in links[:2]:
            page = open_page()
            page.goto(link)
            press(page, "Enter")
            expect_path(page, 1)
            assert "lead of example" not in page.inner_text("body")
            page.keyboard.type("a!")
            press(page, "Enter")
            page.keyboard.type("because 0 of s and p")
            press(page, "Enter")
            expect_text(page, ".notice", "Thank you.")
        marker = open_page()
        marker.goto(links[2])
        press(marker, "Enter")
        for position, keys in ((1, ["Enter"]), (2, ["5", "Enter"])):  # the first is suggested
            expect_path(marker, position)
            press(marker, *keys)
        expect_text(marker, ".notice", "All answers that were given so far are marked.")
    assert main(["judge", "report", str(study), "--samples", "100"]) == 0
    with (study / "report" / "judgments.csv").open() as file:
        found = {(row["id"], row["item"], row["value"]) for row in csv.DictReader(file)}
    assert found == {("e1", "q1", "1.0"), ("e1", "q2", "0.5")}


@pytest.mark.slow
def test_the_best_is_not_the_worst(prepared, port, open_page):
    study, links = prepared("best-worst", "--examples", "1", "--judges", "1", systems=3)
    with served(study, port):
        page = open_page(PHONE)
        page.goto(links[0] + "1")
        press(page, "2", "2", "Enter")
        expect_text(page, "[role=alert]", "cannot be the same")
        press(page, "ArrowDown", "3", "Enter")
        expect_text(page, ".notice", "Thank you.")
