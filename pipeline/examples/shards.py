"""The example shards of a dataset: their names, and which one an article belongs to."""

from dataclasses import dataclass

from wikisum.pipeline.records import SPLITS


@dataclass(frozen=True)
class ExampleShards:
    """The shards of all splits, numbered through in the order of `SPLITS`."""

    by_split: dict[str, int]

    @property
    def part_count(self) -> int:
        """The number of all shards."""
        return sum(self.by_split.values())

    def name(self, index: int) -> str:
        """Return `train-00000-of-00008` or the like. Raises IndexError beyond the last shard."""
        for split in SPLITS:
            total = self.by_split[split]
            if index < total:
                return f"{split}-{index:05d}-of-{total:05d}"
            index -= total
        raise IndexError(index)

    def part(self, article: str, split: str) -> int:
        """Return the index of an article's shard; that of no article ("") is the first."""
        if not article:
            return 0
        before = sum(self.by_split[s] for s in SPLITS[: SPLITS.index(split)])
        return before + int(article, 16) % self.by_split[split]
