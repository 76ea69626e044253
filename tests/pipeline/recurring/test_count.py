import json

import pytest

from tests.builders import document, stage_writer
from tests.flows import run_local
from wikisum.pipeline.engine.shards import open_shard, read_rows
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.records import DOCUMENT, WANTED, WantedUrl
from wikisum.pipeline.recurring.count import CountLines, load_lines
from wikisum.pipeline.recurring.lines import text_key
from wikisum.pipeline.recurring.stage import RECURRING

NOTICE = "Your request has been blocked due to a network policy."


def count(tmp_path, part_count: int) -> tuple[str, ...]:
    """The shards of recurring lines of four pages: three with the notice, one wanted by nobody."""
    out = str(tmp_path / str(part_count))
    urls = [f"http://a.example/{i}" for i in range(4)]
    rows = [document(url, NOTICE, f"Own text {i}.") for i, url in enumerate(urls)]
    wanted = [WantedUrl(url, f"{i:016x}", "citation", 0) for i, url in enumerate(urls[:3])]

    def shard(name, schema, records) -> list[str]:
        with open_shard(out, name, schema, {}) as writer:
            for row in records:
                writer.write(row)
        return [f"{out}/{name}"]

    construct = CountLines(
        writer=stage_writer(out, RECURRING, part_count),
        document_paths=shard("d.parquet", DOCUMENT, rows),
        wanted_paths=shard("w.parquet", WANTED, wanted),
        minimum=3,
    )
    parts = Parts(out, f"{out}/parts")
    run_local(construct.flow(part_count), parts, tmp_path / f"{part_count} ranges")
    found = [f for r in parts.load(part_count).values() for f in r.files]
    return tuple(f"{out}/{file.path}" for file in sorted(found))


@pytest.mark.slow
def test_what_wanted_pages_share_is_counted_in_any_number_of_parts(tmp_path):
    for part_count in (1, 3):
        paths = count(tmp_path, part_count)
        assert load_lines(paths) == {text_key(NOTICE)}
        (row,) = [row for path in paths for row in read_rows(path)]
        assert json.dumps(row) == json.dumps({"line": text_key(NOTICE), "pages": 3, "articles": 3})
