import jinja2
import pytest

from wikisum.ranker.runs.html import render_page


def page(tmp_path, template, *args, **values):
    path = tmp_path / "page.html"
    path.write_text(template)
    return render_page(path, *args, **values)


def test_values_are_escaped_filtered_and_finished(tmp_path):
    shown = page(tmp_path, "{{ a }} {{ b | twice }}", lambda v: v + "!", {"twice": lambda v: v * 2},
                 a="<b>", b="x")  # fmt: skip
    assert shown == "&lt;b&gt;! xx!"


def test_a_value_that_is_missing_is_an_error(tmp_path):
    with pytest.raises(jinja2.UndefinedError):
        page(tmp_path, "{{ absent }}")
