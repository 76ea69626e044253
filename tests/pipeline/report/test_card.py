import pytest

from wikisum.pipeline.engine.workspace import Workspace
from wikisum.pipeline.report.card import card, corpus_card, write_card

ROWS = {"train": 1_200, "validation": 30, "test": 4}


@pytest.mark.parametrize(
    ("total", "size"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1_000, "1K<n<10K"),
        (9_999, "1K<n<10K"),
        (10_000, "10K<n<100K"),
        (100_000, "100K<n<1M"),
        (1_000_000, "1M<n<10M"),
        (9_999_999, "1M<n<10M"),
    ],
)
def test_the_size_category_counts_all_splits(total, size):
    rows = {"train": total - total // 2, "validation": total // 2, "test": 0}
    assert f"size_categories:\n  - {size}\n" in card("en", rows, {})


def test_the_header_names_language_and_files():
    header = card("fr", ROWS, {}).split("---\n")[1]
    assert header.startswith("language:\n  - fr\n")
    for split in ROWS:
        assert f"      - split: {split}\n        path: examples/{split}-*.parquet\n" in header


def test_rows_and_counts_are_in_the_text():
    text = card("en", ROWS, {"documents_out": 12_345, "paragraphs_out": 6})
    assert "| train | 1,200 |\n| validation | 30 |\n| test | 4 |\n" in text
    assert "12,345 documents and 6 paragraphs" in text
    assert 'data_files={s: f"examples/{s}-*.parquet"' in text
    assert "0 documents and 0 paragraphs" in card("en", ROWS, {})


def test_the_card_stands_beside_the_shards(tmp_path):
    write_card(Workspace(str(tmp_path)), card("en", ROWS, {"documents_out": 7}))
    assert (tmp_path / "README.md").read_text() == card("en", ROWS, {"documents_out": 7})


def test_the_card_of_a_corpus_names_the_corpus_and_claims_no_license():
    settings = {"title": "CNN/DailyMail", "about": "News.", "corpus": "cnndm", "language": "en"}
    text = corpus_card(settings, ROWS)
    assert "\n# CNN/DailyMail\n\nNews. Imported by `wikisum import cnndm`" in text
    assert "license: other\n" in text
    assert "cc-by-sa" not in text
    assert "| train | 1,200 |\n| validation | 30 |\n| test | 4 |\n" in text
