"""A learnable dataset: invented things, of which only the right paragraphs tell the facts.

    python -m benchmarks.topics --articles 4000 --out out/topics

An article is about an invented thing, "Tavin Orrel Bridge" say. Its lead states some facts of it.
Each fact stands in one relevant paragraph, which names the thing by one word of its title or by
another word for its kind ("the crossing"). Of the other paragraphs a third repeat the title's words
and tell nothing; the rest tell such facts, with other values, of things of another kind, half of
them namesakes in part. So neither the title's words nor those of the facts tell what is relevant,
but a model that has learned which words go with which kind can tell it for titles never seen.

Article i of a seed is the same whatever the number of articles; of ten, one is for validation and
one for test. `--place late` puts the relevant paragraphs behind all others, `early` before them.
`start` puts them first and `spread` at even distances, both in the order of the lead's facts.
"""

import argparse
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import sentencepiece

from benchmarks.topic_words import ALIASES_OF_KIND, FACTS, FILLERS, NAMES, REPEATS
from wikisum.crawl.titles import article_id
from wikisum.graphs.discourse import discourse_graph
from wikisum.graphs.similarity import similarity_graph
from wikisum.pipeline.records import EXAMPLE, SPLITS, Example, Paragraph, SourceDocument, to_table
from wikisum.ranker.data.vocab import load_model, train_vocab
from wikisum.ranker.rouge import rouge2_recall

PLACES = ("early", "late", "anywhere", "start", "spread")
MOST_ARTICLES = len(NAMES) * (len(NAMES) - 1)
ROW_GROUP_ROWS = 256
PAGE_PARAGRAPHS = 5


@dataclass(frozen=True)
class TopicSettings:
    """The number of facts in a lead and of paragraphs beside the point; where the facts stand.

    With `filler`, the latter hold nothing but phrases that occur anywhere.
    """

    facts: int = 4
    distractors: int = 16
    place: str = "anywhere"
    seed: int = 0
    filler: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.facts <= len(FACTS):
            raise ValueError(f"--facts must lie in 1..{len(FACTS)}, not {self.facts}")
        if self.distractors < 0:
            raise ValueError(f"--distractors must not be under 0, but is {self.distractors}")
        if self.place not in PLACES:
            raise ValueError(f"--place must be one of {', '.join(PLACES)}, not {self.place}")


class Thing(NamedTuple):
    """What an article or a paragraph is about: two names and a kind, its title together."""

    first: str
    second: str
    kind: str


class Text(NamedTuple):
    """A paragraph and the names that it holds."""

    text: str
    names: frozenset[str] = frozenset()


def split_of(index: int) -> str:
    """Of ten articles one is for validation, one for test."""
    return {8: "validation", 9: "test"}.get(index % 10, "train")


def make_example(index: int, settings: TopicSettings) -> Example:
    """Article `index` of a seed, without ids; the paragraphs in the order of their pages."""
    source = random.Random(f"{settings.seed} {index}")
    thing = _thing(index, settings.seed, source)
    chosen = sorted(source.sample(range(len(FACTS)), settings.facts))
    value_of = {fact: source.choice(FACTS[fact][1]) for fact in chosen}
    result = [FACTS[fact][0].format(value) for fact, value in value_of.items()]
    lead = " ".join(f"{'It' if i else ' '.join(thing)} {fact}." for i, fact in enumerate(result))
    relevant = [_relevant(thing, fact, source) for fact in result]
    others: dict[str, Text] = {}
    while len(others) < settings.distractors:
        text = (
            Text(" ".join(source.sample(FILLERS, 4)))
            if settings.filler
            else _distractor(thing, value_of, source)
        )
        others[text.text] = text
    if settings.place not in ("start", "spread"):
        source.shuffle(relevant)
    texts = [*relevant, *others.values()]
    if settings.place == "spread":
        texts = _spread(relevant, [*others.values()])
    elif settings.place == "late":
        texts = [*others.values(), *relevant]
    elif settings.place == "anywhere":
        source.shuffle(texts)
    return _example(" ".join(thing), lead, texts)


def _spread(relevant: Sequence[Text], others: Sequence[Text]) -> list[Text]:
    """Return all texts, the relevant ones in their order at the ends of equal parts."""
    texts = []
    for number, text in enumerate(relevant):
        first, last = (len(others) * n // len(relevant) for n in (number, number + 1))
        texts += [*others[first:last], text]
    return texts


def _thing(index: int, seed: int, source: random.Random) -> Thing:
    """The thing of an article: two names that no other article of the seed has in this order."""
    step = 7919  # a prime, so that every pair comes once
    first, second = divmod((index * step + seed) % MOST_ARTICLES, len(NAMES) - 1)
    second += second >= first
    return Thing(NAMES[first], NAMES[second], source.choice(list(ALIASES_OF_KIND)))


def _relevant(thing: Thing, fact: str, source: random.Random) -> Text:
    """A fact of the thing, which is named by one of its names or by a word for its kind."""
    if source.random() < 1 / 3:
        name = source.choice([thing.first, thing.second])
        return Text(_said(name, fact, source), frozenset({name}))
    return Text(_said(source.choice(ALIASES_OF_KIND[thing.kind]), fact, source))


def _said(subject: str, fact: str, source: random.Random) -> str:
    before, after, end = source.sample(FILLERS, 3)
    return f"{before} {subject[0].upper()}{subject[1:]} {fact}. {after} {end}"


def _distractor(thing: Thing, value_of: dict[int, str], source: random.Random) -> Text:
    if source.random() < 1 / 3:
        one, other = source.sample(REPEATS, 2)
        words = [text.format(*source.sample(thing, 3)) for text in (one, other)]
        return Text(" ".join(words), frozenset(thing[:2]))
    return _about_another(thing, value_of, source)


def _about_another(thing: Thing, value_of: dict[int, str], source: random.Random) -> Text:
    """A fact of a thing of another kind, with another value where the lead has that fact too.

    It is named by its whole title, half of which have a name of the article's, or by its kind.
    """
    kind = source.choice([k for k in ALIASES_OF_KIND if k != thing.kind])
    first, second = source.sample([n for n in NAMES if n not in thing], 2)
    if source.random() < 1 / 2:
        second = source.choice([thing.first, thing.second])
    fact = source.randrange(len(FACTS))
    value = source.choice([v for v in FACTS[fact][1] if v != value_of.get(fact)])
    result = FACTS[fact][0].format(value)
    if source.random() < 1 / 2:
        return Text(_said(source.choice(ALIASES_OF_KIND[kind]), result, source))
    return Text(_said(f"{first} {second} {kind}", result, source), frozenset({first, second}))


def _example(title: str, lead: str, texts: list[Text]) -> Example:
    plain = [text.text for text in texts]
    documents, positions = zip(
        *(divmod(i, PAGE_PARAGRAPHS) for i in range(len(plain))), strict=True
    )
    labels = rouge2_recall(plain, lead)
    scores = [-float(i) for i in range(len(plain))]
    discourse = discourse_graph(plain, documents, positions, [text.names for text in texts])
    number = article_id(title)
    return Example(
        number,
        title,
        f"https://topics.example/{number}",
        lead,
        [],
        [_page(number, rank) for rank in range(1, documents[-1] + 2)],
        list(map(Paragraph, plain, documents, positions, scores, labels)),
        similarity_graph(plain)._asdict(),
        discourse._asdict(),
    )


def _page(number: str, rank: int) -> SourceDocument:
    url = f"https://pages.example/{number}/{rank}"
    return SourceDocument(url, "search", rank, "topics.warc.gz", 0, "", "2024-01-01T00:00:00Z", 0.0)


def texts_of(example: Example) -> list[str]:
    """Title, lead and paragraphs."""
    return [example.title, example.lead, *(p.text for p in example.paragraphs)]


def encoded(example: Example, processor: sentencepiece.SentencePieceProcessor) -> Example:
    """The example with its subword ids."""
    title, lead, *paragraphs = processor.encode(texts_of(example))
    return example._replace(title_ids=title, lead_ids=lead, paragraph_ids=paragraphs)


def write_topics(
    out: Path,
    articles: int,
    settings: TopicSettings,
    vocab_size: int = 1500,
    tell: Callable[[str], object] = lambda line: None,
) -> None:
    """Write `examples/` and `vocab/` into `out`, a new folder that is whole when it is there.

    Raises ValueError for more articles than there are titles, FileExistsError for an old folder.
    """
    if not 10 <= articles <= MOST_ARTICLES:
        raise ValueError(f"--articles must lie in 10..{MOST_ARTICLES}, not {articles}")
    if out.exists():
        raise FileExistsError(f"is there already: {out}")
    by_split: dict[str, list[Example]] = {split: [] for split in SPLITS}
    for index in range(articles):
        by_split[split_of(index)].append(make_example(index, settings))
        if index % 1000 == 999:
            tell(f"topics  {index + 1:,} of {articles:,} articles\n")
    # whole words: the unigram model would keep too few pieces of so few words
    model = train_vocab(_training_texts(by_split["train"]), vocab_size, "bpe")
    processor = load_model(model, "the vocabulary")
    beside = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    for folder in ("examples", "vocab"):
        (beside / folder).mkdir(parents=True)
    (beside / "vocab" / "wikisum.model").write_bytes(model)
    for split, examples in by_split.items():
        rows = (encoded(example, processor) for example in examples)
        _write_shard(beside / "examples" / f"{split}-00000-of-00001.parquet", rows, settings)
    beside.rename(out)


def _training_texts(examples: Iterable[Example]) -> Iterator[str]:
    for example in examples:
        yield from texts_of(example)


def _write_shard(path: Path, examples: Iterable[Example], settings: TopicSettings) -> None:
    schema = EXAMPLE.with_metadata({"topics": str(asdict(settings))})
    table = to_table(examples, EXAMPLE).cast(schema)
    pq.write_table(table, path, row_group_size=ROW_GROUP_ROWS, compression="zstd")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--articles", type=int, default=4000, metavar="N")
    parser.add_argument("--facts", type=int, default=TopicSettings.facts, metavar="K")
    parser.add_argument("--distractors", type=int, default=TopicSettings.distractors, metavar="M")
    parser.add_argument("--place", default=TopicSettings.place, help=", ".join(PLACES))
    parser.add_argument("--seed", type=int, default=TopicSettings.seed, metavar="N")
    parser.add_argument("--vocab-size", type=int, default=1500, metavar="N")
    args = parser.parse_args()
    try:
        settings = TopicSettings(args.facts, args.distractors, args.place, args.seed)
        write_topics(args.out, args.articles, settings, args.vocab_size, sys.stderr.write)
    except (ValueError, OSError) as error:
        sys.stderr.write(f"topics: {error}\n")
        return 1 if isinstance(error, OSError) else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
