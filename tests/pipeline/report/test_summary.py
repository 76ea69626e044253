import io

from tests.pipeline.report.test_report import COUNTS
from wikisum.pipeline.report.summary import summary_lines, write_summary

MANIFEST = {
    "counts": COUNTS,
    "files": {
        "examples/train-0.parquet": {"rows": 1_000},
        "examples/train-1.parquet": {"rows": 500},
        "examples/test-0.parquet": {"rows": 2},
        "dropped/train-0.parquet": {"rows": 9},
    },
    "seconds": {"articles": 3_600.0, "examples": 65.0},
}


def test_each_funnel_lists_its_losses_most_frequent_first():
    lines = summary_lines(MANIFEST, "out")
    start = lines.index("articles: 10 articles, 6 in examples")
    assert lines[start + 1 : start + 3] == ["           3  no documents", "           1  duplicate"]


def test_rows_of_each_split_time_and_what_comes_next():
    assert summary_lines(MANIFEST, "out")[-3:] == [
        "examples: 1,500 train, 0 validation, 2 test",
        "time: 1:01:05",
        "next: see out/README.md, out/report/index.html, wikisum validate out",
    ]


def test_it_is_written_as_lines():
    to = io.StringIO()
    write_summary(MANIFEST, "out", to)
    assert to.getvalue().splitlines() == summary_lines(MANIFEST, "out")
    assert to.getvalue().endswith("\n")
