from pathlib import Path

import pytest

from wikisum.pipeline.articles.titles import missing_titles
from wikisum.pipeline.cli import main
from wikisum.pipeline.engine.workspace import Workspace

SAMPLE = Path("tests/golden/sample.xml.bz2")


@pytest.mark.slow
def test_titles_that_the_dump_lacks_are_reported(tmp_path, capfd):
    listed, out = tmp_path / "titles.txt", tmp_path / "out"
    sample = ["--articles", str(SAMPLE), "--workers", "1", "--out", str(out)]
    assert main(["articles", *sample, "--limit", "2"]) == 0
    import pyarrow.dataset as ds

    titles = ds.dataset(out / "articles").to_table(columns=["title"])["title"].to_pylist()
    missing = [f"No article {i}" for i in range(6)]
    listed.write_text("\n".join([titles[0].lower().replace(" ", "_"), "", *missing, titles[1]]))
    capfd.readouterr()
    assert main(["articles", *sample, "--titles", str(listed)]) == 0
    error = capfd.readouterr().err
    assert "titles of --titles are not in the dump: " in error
    assert ", ".join(missing[:4]) in error
    assert ", ..." in error
    articles = Workspace(str(out)).finished("articles")
    listed.write_text(titles[1])
    assert missing_titles(Workspace(str(out)), articles, str(listed)) is None
