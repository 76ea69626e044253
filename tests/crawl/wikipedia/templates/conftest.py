from collections.abc import Callable

import pytest

from wikisum.crawl.wikipedia.reader import parse_plain


@pytest.fixture(scope="session")
def show() -> Callable[[str], str]:
    """(markup) -> what an article shows of it inside a sentence."""

    def shown(markup: str) -> str:
        text = parse_plain(f"x {markup} y").sections[0][2]
        return text.removeprefix("x ").removesuffix("y").removesuffix(" ")

    return shown
