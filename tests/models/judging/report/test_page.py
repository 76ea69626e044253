import re
from dataclasses import replace

import pytest
from lxml import html

from wikisum.models.judging.report.judgments import Measure
from wikisum.models.judging.report.page import (
    distribution_plots,
    html_page,
    interval_plots,
    preference_plots,
)
from wikisum.models.judging.report.results import results_of


def test_places_of_means(make_study, answer):
    study = make_study()
    answer(study, lambda judge, screen, field: 1 + 2 * screen.systems[0])
    plot = interval_plots(results_of(study, 100, 0))[0]
    assert plot.title == "Grammaticality"
    assert [(row.label, row.x, row.low) for row in plot.rows] == [
        ("1.00", 0, 0), ("3.00", 50, 50), ("5.00", 100, 100)
    ]  # fmt: skip
    assert plot.ticks == ((0, "1"), (25, "2"), (50, "3"), (75, "4"), (100, "5"))


def test_shares_of_values(make_study, answer):
    study = make_study(judges=2)
    answer(study, lambda judge, screen, field: 5 if judge == 1 or screen.example else 1)
    plot = distribution_plots(results_of(study, 100, 0))[0]
    bars = plot.rows[0].bars
    shown = [(b.name, b.times, b.x, b.width) for b in bars]
    assert shown == [("1", 1, 0, 12.5), ("5", 7, 12.5, 87.5)]
    assert bars[0].shade < bars[1].shade == 1


def test_shares_of_preferences(make_study, answer):
    study = make_study("preference", systems=2, judges=2)
    answer(study, lambda judge, screen, field: screen.systems.index(judge - 1))
    (plot,) = preference_plots(results_of(study, 100, 0))
    assert plot.rows[0].name == "alphanet : betanet"
    assert [(b.name, b.times) for b in plot.rows[0].bars] == [("alphanet", 4), ("betanet", 4)]


@pytest.mark.parametrize("protocol", ["duc", "preference", "best-worst"])
def test_the_page_asks_for_nothing_and_has_all_tables(make_study, answer, protocol):
    study = make_study(protocol)

    def value(judge, screen, field):
        return 1 if field != "worst" else 0

    answer(study, value)
    page = html_page(results_of(study, 100, 0))
    tree = html.fromstring(page)
    assert not tree.xpath("//script|//*[@src]|//img|//iframe|//base")
    assert "default-src 'none'" in tree.xpath("//meta/@content")[2]
    assert not re.search(r"@import|url\(", tree.xpath("//style")[0].text)
    headings = [h.text for h in tree.xpath("//h2")]
    assert headings[0] == "Means and 95 % intervals"
    assert headings[-1] == "Published results"
    assert {"Means", "Comparisons of two systems", "Agreement of judges", "Notes"} <= {*headings}
    assert tree.xpath("//figure")


def test_names_are_escaped_and_an_empty_study_says_so(make_study):
    study = make_study()
    results = results_of(study, 100, 0)
    named = results._replace(study=replace(study, systems=("<script>\x1b", "b", "c")))
    page = html_page(named)
    assert "No screen is complete yet." in page
    assert "<script>" not in page
    assert "\x1b" not in page


def test_a_measure_of_shares_has_ticks_in_percent(make_study, answer):
    study = make_study("preference", systems=2, judges=2)
    answer(study, lambda judge, screen, field: 0)
    (plot,) = interval_plots(results_of(study, 100, 0))
    assert [label for _, label in plot.ticks] == ["0", "25", "50", "75", "100"]
    assert isinstance(results_of(study, 10, 0).measures[0], Measure)
