import json
import re

import pytest
from lxml import html
from starlette.testclient import TestClient

from tests.models.judging.conftest import SYSTEMS, summary_row
from wikisum.models.evaluation.systems import file_systems
from wikisum.models.judging.preparation import prepare
from wikisum.models.judging.protocols import PROTOCOLS
from wikisum.models.judging.questions import Question
from wikisum.models.judging.study import StudySettings
from wikisum.models.judging.web.app import MAX_BODY_BYTES, judging_app

ASKED = {f"e{n}": [Question("Who?", "A"), Question("Why?", "C")] for n in range(4)}
ALL = ("duc", "pht", "preference", "best-worst", "questions")
AUTOSAVE = {"X-Autosave": "1"}


def client_of(study):
    return TestClient(judging_app(study), follow_redirects=False)


def address(study, number=1):
    return f"/{study.store.judges()[number - 1].token}/"


def form_of(page):
    """The values that a browser would send: for radios the first of each name."""
    tree = html.fromstring(page.text)
    values = {i.get("name"): i.get("value") for i in tree.xpath("//input[@type='radio']")[::-1]}
    return values | {i.get("name"): "an answer" for i in tree.xpath("//input[@type='text']")}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ALL)
def test_all_screens_are_answered_without_a_script(make_study, protocol):
    study = make_study(protocol, judges=6, questions=ASKED if protocol == "questions" else None)
    client, home = client_of(study), address(study)
    count = len(study.store.screens(1))
    assert f"0 of {count} screen" in client.get(home).text
    where = "1"
    for _ in range(count):
        page = client.get(home + where)
        form = form_of(page)
        if protocol == "best-worst":
            form["worst"] = "2"
        answer = client.post(home + where, data=form)
        assert answer.status_code == 303
        where = answer.headers["location"]
    assert where == "./"
    assert "Thank you. All screens are answered." in client.get(home).text


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ALL)
def test_no_page_names_a_system(make_study, protocol):
    study = make_study(protocol, judges=6, questions=ASKED if protocol == "questions" else None)
    client = client_of(study)
    served = ""
    for judge in study.store.judges():
        home = f"/{judge.token}/"
        names = ["", "page.css", "page.js", *range(1, len(study.store.screens(judge.number)) + 1)]
        for name in names:
            page = client.get(f"{home}{name}")
            assert page.status_code == 200
            served += page.text + str(page.headers)
    hidden = [*SYSTEMS, "runs/", "jsonl", str(study.folder), "beam"]
    assert [name for name in hidden if name in served] == []
    assert "Text 0 of example" in served


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "HEAD"])
@pytest.mark.parametrize(
    "path",
    ["/", "/wrong/", "/wrong", "/wrong/1", "/wrong/page.css", "/favicon.ico", "/TOKEN", "/TOKEN/0",
     "/TOKEN/9", "/TOKEN/-1", "/TOKEN/page.html", "/TOKEN/app.py", "/TOKEN/../app.py",
     "/TOKEN/1/2"],
)  # fmt: skip
def test_everything_else_is_the_same_empty_404(make_study, method, path):
    study = make_study()
    token = study.store.judges()[0].token
    answer = client_of(study).request(method, path.replace("TOKEN", token))
    expected = client_of(study).request(method, "/nothing")
    assert (answer.status_code, answer.text) == (404, "" if method == "HEAD" else "Not found")
    assert answer.headers == expected.headers


def test_a_part_of_a_token_or_another_role_opens_nothing(make_study):
    study = make_study()
    token = study.store.judges()[0].token
    client = client_of(study)
    for wrong in (token[:-1], token + "A", token.swapcase(), "%27%20OR%201=1--"):
        assert client.get(f"/{wrong}/").status_code == 404


def test_headers_forbid_what_a_page_does_not_need(make_study):
    study = make_study()
    client, home = client_of(study), address(study)
    for name in ("", "1", "page.js", "none"):
        headers = client.get(home + name).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; ")
        assert "unsafe" not in policy
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
    for name in ("", "1"):
        text = client.get(home + name).text
        tree = html.fromstring(text)
        assert not re.search(r"https?://|style=|<style|\son\w+=", text)
        assert [s.get("src") for s in tree.xpath("//script")] == ["page.js"]
        assert tree.xpath("//link/@href") == ["data:,", "page.css"]


def test_texts_are_escaped(tmp_path):
    bad = "</p><script>alert(1)</script>\x1b[2J{{ 7 * 7 }}"
    path = tmp_path / "x.jsonl"
    row = {**summary_row("alphanet", 0), "title": bad, "summary": bad, "lead": bad}
    path.write_text(json.dumps({**row, "paragraphs": [{"text": bad}]}))
    settings = StudySettings(judges=1)
    study = prepare(tmp_path / "s", PROTOCOLS["pht"], file_systems([path]), settings)
    page = client_of(study).get(address(study) + "1").text
    tree = html.fromstring(page)
    assert len(tree.xpath("//script")) == 1
    assert len(tree.xpath("//article/p[contains(text(), '<script>alert(1)')]")) == 2
    assert "\x1b" not in page
    assert "{{ 7 * 7 }}" in page


def test_each_answer_is_saved_alone(make_study):
    study = make_study()
    client, home = client_of(study), address(study)
    saved = client.post(home + "2", data={"focus": "4"}, headers=AUTOSAVE)
    assert (saved.status_code, saved.content) == (204, b"")
    client.post(home + "2", data={"focus": "9", "else": "1"}, headers=AUTOSAVE)
    assert [tuple(answer) for answer in study.store.answers()] == [(1, 2, "focus", "4")]
    again = client_of(study).get(home + "2")  # another device
    (chosen,) = html.fromstring(again.text).xpath("//input[@checked]")
    assert (chosen.get("name"), chosen.get("value")) == ("focus", "4")


def test_an_emptied_text_is_an_answer_only_when_it_is_sent(make_study):
    study = make_study("questions", questions=ASKED, judges=6)
    client, home = client_of(study), address(study)
    for text in ("Ma", ""):
        client.post(home + "1", data={"q1": text}, headers=AUTOSAVE)
    assert study.store.answers() == []
    client.post(home + "1", data={"q1": "", "q2": "x\x00y\u202e "})
    assert [answer.value for answer in study.store.answers()] == ["", "xy"]


def test_what_is_missing_is_said_and_the_rest_saved(make_study):
    study = make_study("best-worst", judges=6)
    client, home = client_of(study), address(study)
    page = client.post(home + "1", data={"best": "1"})
    assert page.status_code == 422
    assert "Please answer: Which summary is the worst?" in page.text
    assert len(study.store.answers()) == 1
    page = client.post(home + "1", data={"worst": "1"})
    assert "cannot be the same" in page.text


def test_a_large_form_is_refused(make_study):
    study = make_study()
    body = "focus=" + "1" * MAX_BODY_BYTES
    assert client_of(study).post(address(study) + "1", content=body).status_code == 404
    assert study.store.answers() == []


def test_a_marker_marks_the_answers(make_study):
    study = make_study("questions", questions=ASKED, judges=3, judges_per_item=1)
    client, judge, marker = client_of(study), address(study), address(study, 4)
    assert "All answers that were given so far are marked." in client.get(marker).text
    client.post(judge + "1", data={"q1": "a.", "q2": ""})
    screens = study.store.screens(4)
    example = study.store.screens(1)[0].example
    position = 1 + next(n for n, s in enumerate(screens) if s == (example, (), 0))
    page = client.get(f"{marker}{position}")
    assert "Suggested: it equals the correct answer." in page.text
    (chosen,) = html.fromstring(page.text).xpath("//input[@checked]")
    assert chosen.get("value") == "1"
    client.post(f"{marker}{position}", data={chosen.get("name"): "0.5"})
    assert study.store.answers(4)[0].value == "0.5"
    empty = client.get(f"{marker}{position + 1}").text
    assert "No judge has answered this question yet." in empty
