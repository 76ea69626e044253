import hashlib
import json

from tests.builders import stage_writer
from wikisum.pipeline.commands.exchange.imports import _stories
from wikisum.pipeline.corpora.corpus import CORPORA
from wikisum.pipeline.corpora.read import plan, split_lists
from wikisum.pipeline.corpora.settings import CorpusSettings
from wikisum.pipeline.corpora.stage import IMPORT, ReadCorpus
from wikisum.pipeline.engine.files import expand
from wikisum.pipeline.engine.shards import read_rows


def run(tmp_path, corpus, inputs, lists=(), **changes):
    """The counts, articles and dropped rows of an import without Beam, one part after the other."""
    settings = CorpusSettings(**{"units": corpus.unit, **changes})
    tasks = plan(corpus, inputs)
    do = ReadCorpus(
        stage_writer(tmp_path / "out", IMPORT, len(tasks)), corpus, settings,
        split_lists(corpus, list(lists)),
    )  # fmt: skip
    results = [do(index, task) for index, task in enumerate(tasks)]

    def rows(prefix):
        paths = sorted((tmp_path / "out").glob(f"{prefix}*.parquet"))
        return [row for path in paths for row in read_rows(str(path))]

    counts = {}
    for result in results:
        for name, number in result.counts.items():
            counts[name] = counts.get(name, 0) + number
    return counts, rows("articles/import-"), rows("dropped/dropped-import-")


def test_a_folder_of_stories_is_split_by_lists_of_urls(tmp_path):
    folder = tmp_path / "cnn" / "stories"
    folder.mkdir(parents=True)
    urls = {name: f"http://a.example/{name}" for name in ("one", "two", "three")}
    for name, url in urls.items():
        story = folder / f"{hashlib.sha1(url.encode()).hexdigest()}.story"
        story.write_text(f"Text of {name}. More.\n\n@highlight\n\nShort {name}\n")
    (tmp_path / "all_train.txt").write_text(urls["one"] + "\n")
    (tmp_path / "all_test.txt").write_text(urls["two"] + "\n")
    inputs = expand(_stories([str(tmp_path / "cnn")]))
    lists = expand([str(tmp_path / "all_*.txt")])
    counts, articles, dropped = run(tmp_path, CORPORA["cnndm"], inputs, lists)
    assert {a["url"]: (a["split"], a["lead"]) for a in articles} == {
        urls["one"]: ("train", "Short one"),
        urls["two"]: ("test", "Short two"),
    }
    assert [row["reason"] for row in dropped] == ["not_listed"]
    assert counts["entries_in"] == 3
    assert counts["articles_out"] == counts["documents_out"] == counts["references_out"] == 2
    assert counts["paragraphs_kept"] == 4


def test_a_limit_is_of_each_file_and_bad_rows_name_their_place(tmp_path):
    for name in ("train", "test"):
        rows = [{"document": "One.", "summary": f"{n}"} for n in range(5)]
        lines = [json.dumps({"summary": 1}), "[", *map(json.dumps, rows)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    inputs = expand([str(tmp_path / "*.jsonl")])
    counts, articles, dropped = run(tmp_path, CORPORA["wcep"], inputs, limit=2)
    assert [a["split"] for a in articles] == ["test", "test", "train", "train"]
    assert counts == {
        "entries_in": 8, "articles_out": 4, "documents_out": 4, "references_out": 4,
        "paragraphs_kept": 4, "dropped_missing_column": 2, "dropped_bad_line": 2,
    }  # fmt: skip
    assert [(row["file"], row["offset"], row["detail"]) for row in dropped[:2]] == [
        ("test.jsonl", 0, "test.jsonl, entry 0: 'document' is missing, not text"),
        ("test.jsonl", 15,
         "test.jsonl, entry 1: line 2 is not JSON: Expecting value (character 3)"),
    ]  # fmt: skip
