"""The support files of the original WikiSum: articles, the URLs of each, the pages of crawl files.

- `wiki_content.tfrecords-00000-of-01000`: TFRecords of articles, by a hash of the title;
- `wiki_urls.json-00000-of-01000`: article URL -> `{"refs": [URLs]}`, for the same articles;
- `NAME.metadata.json` for a WET file NAME: URL in it -> the shards whose articles refer to it.
"""

import json
from typing import Any

from crawl.errors import BadLine


def metadata_urls(data: bytes) -> list[str]:
    """The URLs of a crawl file's metadata. Raises BadLine if it is none."""
    plain: Any = None
    try:
        plain = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadLine("bad_line", f"no JSON: {error}") from error
    if not isinstance(plain, dict):
        raise BadLine("bad_line", "no JSON object")
    return list(plain)
