import pytest

from wikisum.pipeline.engine.shards import ShardFile
from wikisum.pipeline.engine.workspace import StageResult
from wikisum.pipeline.report.report import funnel, graph_statistics, in_groups, split_rows

COUNTS = {
    "articles": {"articles_out": 10, "dropped_article_no_lead": 99},
    "wanted": {"references_out": 20, "dropped_article_no_documents": 1},
    "scan": {
        "documents_out": 7,
        "dropped_no_text": 2,
        "records_not_wanted": 50,
        "paragraphs_kept": 30,
        "paragraphs_too_short": 12,
    },
    "examples": {
        "examples_out": 6,
        "documents_out": 8,
        "dropped_article_no_documents": 2,
        "dropped_article_duplicate": 1,
        "dropped_reference_not_in_crawl": 12,
        "paragraphs_pooled": 25,
        "paragraphs_clone": 5,
        "paragraphs_out": 15,
        "paragraphs_cut": 9,
        "paragraphs_article_dropped": 1,
    },
    "graphs": {"paragraphs_linked": 15, "similarity_edges_out": 4, "discourse_paragraphs_alone": 3},
}  # fmt: skip


def test_the_funnel_by_hand():
    assert funnel(COUNTS) == {
        "articles": {"articles": 10, "in_examples": 6, "no_documents": 3, "duplicate": 1},
        "references": {"wanted": 20, "in_examples": 8, "not_in_crawl": 12},
        "records_read": {"read": 59, "wanted_or_broken": 9, "not_wanted": 50},
        "records_taken": {"wanted_or_broken": 9, "documents": 7, "no_text": 2},
        "paragraphs_of_pages": {"extracted": 42, "kept": 30, "too_short": 12},
        "paragraphs_of_articles": {
            "joined": 30, "in_examples": 15, "clone": 5, "cut": 9, "article_dropped": 1,
        },
    }  # fmt: skip


def test_parts_add_up_to_the_whole():
    for parts in funnel(COUNTS).values():
        whole, *rest = parts.values()
        assert whole == sum(rest)


def test_pages_of_several_stages_are_added():
    both = {**COUNTS, "fetch": {"documents_out": 3, "dropped_no_text": 1, "dropped_timeout": 4}}
    assert funnel(both)["records_taken"] == {
        "wanted_or_broken": 17, "documents": 10, "no_text": 3, "timeout": 4,
    }  # fmt: skip


def test_the_web_is_listed_only_if_it_was_asked():
    live = {**COUNTS, "live": {"fetched": 4, "dropped_dns_failed": 2}, "live-scan": {}}
    found = funnel(live)
    assert found.pop("pages_from_the_web") == {"asked": 6, "fetched": 4, "dns_failed": 2}
    assert found == funnel(COUNTS)


def test_nothing_counted_is_zero():
    found = funnel({"articles": {}, "wanted": {}, "examples": {}})
    assert all(set(parts.values()) == {0} for parts in found.values())


def test_graph_statistics():
    assert graph_statistics(COUNTS["graphs"]) == {
        "similarity": {"paragraphs": 15, "paragraphs_alone": 0, "edges": 4},
        "discourse": {"paragraphs": 15, "paragraphs_alone": 3, "edges": 0},
    }


@pytest.mark.parametrize("other", ["dropped/train-0", "examples/trainer-0"])
def test_rows_of_each_split(other):
    files = [ShardFile(p, n, 1, "") for p, n in (("examples/train-0", 5), ("examples/train-1", 6),
                                                 ("examples/test-0", 1), (other, 100))]  # fmt: skip
    encoded = StageResult("tokenize", "f", files, {}, {}, 0.0)
    assert split_rows(encoded) == {"train": 11, "validation": 0, "test": 1}


def test_small_files_share_a_part_and_empty_ones_have_none():
    sizes = {"train-0": 20, "train-1": 20, "train-2": 1, "validation-0": 1, "test-0": 40}
    shards = [ShardFile(path, 1, size << 20, "") for path, size in sizes.items()]
    assert in_groups(shards) == [["train-0"], ["train-1", "train-2", "validation-0"], ["test-0"]]
    assert list(map(len, in_groups(shards[2:3] * 70))) == [32, 32, 6]
    assert in_groups([shards[0]._replace(rows=0), shards[2]]) == [["train-2"]]
    assert in_groups([]) == []
