import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from torch.nn import functional as F

from wikisum.ranker.data.shards import RowGroup, Shard, row_groups, split_shards
from wikisum.ranker.learned import validation
from wikisum.ranker.learned.settings import TokenLimits
from wikisum.ranker.learned.validation import RECALLS, Validation, mean_loss, some_groups

CPU = torch.device("cpu")
LIMITS = TokenLimits(64, 256, 99)
SCHEMA = pa.schema(
    {
        "title": pa.string(),
        "lead": pa.string(),
        "title_ids": pa.list_(pa.uint16()),
        "paragraph_ids": pa.list_(pa.list_(pa.uint16())),
        "paragraphs": pa.list_(
            pa.struct({
                "text": pa.string(), "document": pa.int32(), "position": pa.int32(),
                "rouge2_recall": pa.float32(),
            })
        ),
    }
)  # fmt: skip


def row(lead, *paragraphs):
    """An article; each paragraph is (text, label)."""
    return {
        "title": "t",
        "lead": lead,
        "title_ids": [6],
        "paragraph_ids": [[7 + n] for n in range(len(paragraphs))],
        "paragraphs": [
            {"text": text, "document": 0, "position": n, "rouge2_recall": label}
            for n, (text, label) in enumerate(paragraphs)
        ],
    }


def groups_of(folder, *rows, row_group_size=1):
    table = pa.Table.from_pylist(list(rows), schema=SCHEMA)
    pq.write_table(table, folder / "validation-0.parquet", row_group_size=row_group_size)
    return row_groups(split_shards(str(folder), "validation"))


def fixed(monkeypatch, logits):
    """Let the model be one that gives these logits."""
    array = np.array(logits, np.float32)
    monkeypatch.setattr(validation, "pool_logits", lambda *arguments: array)


def test_the_loss_is_torchs():
    x, y = torch.tensor([-3.0, 0.0, 2.5, 30.0]), torch.tensor([0.1, 0.5, 1.0, 0.0])
    expected = F.binary_cross_entropy_with_logits(x.double(), y.double()).item()
    assert mean_loss(x.numpy(), y.numpy()) == pytest.approx(expected, rel=1e-12)
    assert mean_loss(np.zeros(3, np.float32), y.numpy()[:3]) == pytest.approx(math.log(2))


def test_a_large_logit_does_not_overflow():
    extreme = np.array([-1e4, 1e4], np.float32)
    assert mean_loss(extreme, np.array([1, 0], np.float32)) == 1e4


def test_figures_by_hand(tmp_path, monkeypatch):
    """Five paragraphs are read at the first cut, so that the sixth counts at the next one alone."""
    nothing = [("x", 0.0)] * 4
    rows = [
        row("a b c d", ("a b", 0.5), *nothing, ("c d", 0.5)),
        row("a b", ("a", 0.25), ("b", 0.75)),
    ]
    groups = groups_of(tmp_path, *rows)
    logits = [0.0, 5.0, 5.0, 5.0, 5.0, -1.0, -2.0, 2.0]
    fixed(monkeypatch, logits)
    found = Validation(groups, LIMITS).measure(None, CPU)
    assert list(found) == ["validation_loss", "mean_score", "mean_label", *RECALLS]
    assert found["mean_label"] == pytest.approx(2 / 8)
    scores = [1 / (1 + math.exp(-x)) for x in logits]
    assert found["mean_score"] == pytest.approx(sum(scores) / 8, rel=1e-6)
    labels = [0.5, 0, 0, 0, 0, 0.5, 0.25, 0.75]
    expected = F.binary_cross_entropy_with_logits(torch.tensor(logits), torch.tensor(labels))
    assert found["validation_loss"] == pytest.approx(expected.item(), rel=1e-6)
    # "b a" holds one word of "a b" in order; the first article gives 2 of 4 words, then all
    assert found["rougeL_recall_5"] == pytest.approx((2 / 4 + 1 / 2) / 2)
    for cut in (10, 20, 40):
        assert found[f"rougeL_recall_{cut}"] == pytest.approx((4 / 4 + 1 / 2) / 2)


def test_recall_is_cut_at_each_number_of_paragraphs(tmp_path, monkeypatch):
    lead = " ".join(f"w{n}" for n in range(50))
    groups = groups_of(tmp_path, row(lead, *((f"w{n}", 0.0) for n in range(50))))
    fixed(monkeypatch, [-n for n in range(50)])
    found = Validation(groups, LIMITS).measure(None, CPU)
    assert [found[name] for name in RECALLS] == [0.1, 0.2, 0.4, 0.8]


def test_an_article_without_paragraphs_recalls_nothing(tmp_path, monkeypatch):
    groups = groups_of(tmp_path, row("a b"), row("a b", ("a b", 1.0)), row("c"))
    fixed(monkeypatch, [0.0])
    assert Validation(groups, LIMITS).measure(None, CPU)["rougeL_recall_5"] == pytest.approx(1 / 3)


def test_without_a_paragraph_there_is_nothing_to_measure(tmp_path):
    with pytest.raises(ValueError, match="the validation shards hold no paragraph"):
        Validation(groups_of(tmp_path, row("a"), row("b")), LIMITS)


def test_the_model_sees_the_limits(tmp_path, monkeypatch):
    seen = []

    def look(model, pool, batch_tokens, device):
        seen.append((model, pool.paragraphs.lengths.tolist(), batch_tokens, device))
        return np.zeros(2, np.float32)

    monkeypatch.setattr(validation, "pool_logits", look)
    long = row("a", ("a", 0.0), ("b", 0.0))
    long["paragraph_ids"] = [[7, 8, 9], [7]]
    Validation(groups_of(tmp_path, long), TokenLimits(1, 2, 33)).measure("model", CPU)
    assert seen == [("model", [2, 1], 33, CPU)]


@pytest.mark.parametrize(
    ("articles", "count"), [(1, 1), (3, 1), (4, 2), (5, 2), (6, 3), (10, 3), (99, 3)]
)
def test_as_many_groups_as_hold_the_articles(articles, count):
    groups = [RowGroup(Shard(None, "a"), n, rows) for n, rows in enumerate((3, 2, 5))]
    assert some_groups(groups, articles) == groups[:count]


def test_no_groups_are_wanted_for_no_articles():
    assert some_groups([RowGroup(Shard(None, "a"), 0, 3)], 0) == []
    assert some_groups([], 5) == []
