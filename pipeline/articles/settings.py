"""Settings of the articles: which are taken, and how they are split."""

from dataclasses import dataclass

from wikisum.pipeline.setting import language_code
from wikisum.ranker.categories import category_pattern
from wikisum.ranker.setting import Checked, setting

SPLIT_FRACTIONS = {
    "wikisum": (0.8, 0.1, 0.1),  # Liu et al. 2018, section 3
    "hierarchical": (0.9539, 0.0230, 0.0231),  # Liu & Lapata 2019, section 4
}
# Splits by the shards of the original files, tenth by tenth. The original job pairs the tenths, in
# order, with its outputs sorted by name (dev, test, train); the script that checks the outputs
# assumes the order train, dev, test.
SPLIT_TENTHS = {
    "t2t": ("validation", "test", *["train"] * 8),
    "t2t-nominal": (*["train"] * 8, "validation", "test"),
}


@dataclass(frozen=True)
class ArticleSettings(Checked):
    """Which articles are taken, and how they are split.

    Without a `split`, articles of a dump are split by `wikisum`, those of original files by `t2t`.
    """

    split: str | None = setting(
        None,
        "how articles are split: by a hash of the title, 80/10/10 (wikisum) or 95/2.3/2.3 "
        "(hierarchical), or by the shard of the original files (t2t, t2t-nominal)",
        choices=[*SPLIT_FRACTIONS, *SPLIT_TENTHS],
        default_text="wikisum for a dump, t2t for original files",
    )
    limit: int | None = setting(
        None, "use only the first N articles of the dump", at_least=1, default_text="all"
    )
    titles: str | None = setting(
        None,
        "use only the articles with these titles, one per line",
        metavar="FILE",
        is_recorded=False,
    )

    category: str | None = setting(
        None,
        "use only the articles with a category that contains this regular expression",
        metavar="REGEX",
        parse=category_pattern,
    )
    dump_templates: bool = setting(
        True,
        "expand the templates that the dump holds; finding them takes one more pass over the dump",
        default_text="yes, but not with --limit",
    )
    dump_language: str | None = setting(
        None,
        "language of the dump, if it declares none or a wrong one",
        metavar="CODE",
        parse=language_code,
        default_text="the language that the dump declares",
    )

    @property
    def fractions(self) -> tuple[float, float, float]:
        """The fractions of train, validation and test; splits by shards have them too."""
        return SPLIT_FRACTIONS.get(self.split or "wikisum", SPLIT_FRACTIONS["wikisum"])
