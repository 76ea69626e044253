import json
from collections import defaultdict

import numpy as np

from tests.builders import stage_writer
from wikisum.crawl.urls import url_key
from wikisum.pipeline.engine.workspace import Parts
from wikisum.pipeline.wanted.stage import WANT
from wikisum.pipeline.wanted.url_filter import read_keys
from wikisum.pipeline.wanted.want import WantPages


def test_the_keys_of_all_shards_are_sorted_from_one_to_the_next(tmp_path):
    urls = [f"http://{i}.example/" for i in range(300)]
    out, parts = str(tmp_path), Parts(str(tmp_path), str(tmp_path / "parts"))
    want = WantPages(stage_writer(out, WANT, 7), [], [], "citation", "combined", False)
    packed = defaultdict(list)
    cited = json.dumps([*urls, "http://en.wikipedia.org/wiki/A"])
    for article in ("aa", "bb"):
        groups = {"articles": [("file", 0, cited)], "results": []}
        for shard, row in want._want((article, groups)):
            packed[shard].append(row)
    assert sorted(packed) == list(range(7))
    for element in packed.items():
        want._write(element, parts)
    paths = sorted((tmp_path / ".work" / "wanted").iterdir())
    keys = np.concatenate([block for path in paths for block in read_keys(str(path))])
    assert keys.tolist() == sorted(map(url_key, urls))
    results = list(parts.load(7).values())
    assert sum(r.counts["urls_out"] for r in results) == 300
    assert sum(r.counts["references_out"] for r in results) == 602
