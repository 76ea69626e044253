"""Lead-3 on a split of a dataset, by our ROUGE and by `rouge-score`.

python -m benchmarks.lead3 --data data/cnndm --split test
"""

import argparse
import time

from rouge_score.rouge_scorer import RougeScorer

import wikisum
from wikisum.models.decoding.summary_files import Summary
from wikisum.models.evaluation.metrics import summary_parts
from wikisum.pipeline.records import Example
from wikisum.ranker.select import lead_sentences
from wikisum.ranker.sentences import sentences

NAMES = ("rouge1", "rouge2", "rougeL", "rougeLsum")


def scores(example: Example, scorer: RougeScorer) -> tuple[list[float], list[float]]:
    """F1 of the first three sentences by our metrics and by `rouge-score`."""
    lead3 = lead_sentences(p.text for p in example.paragraphs)
    ours = summary_parts(Summary(example.id, "", example.lead, lead3), stem=True)
    gold, summary = ("\n".join(sentences(text)) for text in (example.lead, lead3))
    theirs = scorer.score(gold, summary)
    return [ours[n][0] for n in NAMES], [theirs[n].fmeasure for n in NAMES]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True)
    parser.add_argument("--split", default="test")
    args = parser.parse_args()
    split = wikisum.open_dataset(args.data)[args.split]
    scorer = RougeScorer(list(NAMES), use_stemmer=True)
    start = time.process_time()
    pairs = [scores(example, scorer) for example in split]
    print(f"{len(pairs):,} examples, {time.process_time() - start:.0f} s of CPU")
    differing = sum(ours != theirs for ours, theirs in pairs)
    print("|  | " + " | ".join(NAMES) + " |\n| --- |" + " --- |" * len(NAMES))
    for side, name in enumerate(("wikisum", "rouge-score")):
        means = [
            100 * sum(column) / len(pairs) for column in zip(*(p[side] for p in pairs), strict=True)
        ]
        print(f"| {name} | " + " | ".join(f"{mean:.4f}" for mean in means) + " |")
    print(f"{differing} examples differ in any digit")


if __name__ == "__main__":
    main()
