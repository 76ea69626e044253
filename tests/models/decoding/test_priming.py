import torch

from wikisum.models.decoding.priming import Primer, titles_of
from wikisum.models.decoding.sampling import sample
from wikisum.models.network.packing import pack
from wikisum.models.settings.decoding import DecodingSettings
from wikisum.ranker.data.vocab import END_OF_TITLE

INF = float("inf")


def titled(*titles):
    """Sources of two paragraphs, of which the first begins with a title."""
    return pack([[torch.tensor([*t, END_OF_TITLE, 9, 8]).numpy()] * 2 for t in titles])


def test_the_title_ends_before_its_separator():
    assert titles_of(titled([7, 6], [], [5])) == [[7, 6], [], [5]]


def test_a_source_without_the_separator_has_no_title():
    assert titles_of(pack([[torch.tensor([7, 8]).numpy()]])) == [[]]


def test_a_forced_subword_is_certain_and_all_else_impossible():
    primer = Primer([[4, 2], [3], []], torch.device("cpu"))
    log = torch.full((3, 2, 5), -1.0)
    first = primer.primed(log, 0)
    assert first[0].tolist() == [[-INF, -INF, -INF, -INF, 0.0]] * 2
    assert first[1].tolist() == [[-INF, -INF, -INF, 0.0, -INF]] * 2
    assert torch.equal(first[2], log[2])
    second = primer.primed(log, 1)
    assert second[0, 0].tolist() == [-INF, -INF, 0.0, -INF, -INF]
    assert torch.equal(second[1:], log[1:])
    assert primer.primed(log, 2) is log


def test_examples_that_are_done_leave():
    primer = Primer([[4], [3], [2]], torch.device("cpu"))
    left = torch.tensor([0, 2])
    assert primer.primed(torch.zeros(2, 1, 5), 0, left).argmax(-1).tolist() == [[4], [2]]


def test_nothing_is_forced_unless_asked_for():
    log = torch.zeros(2, 1, 5)
    assert Primer.of(titled([7], [6]), DecodingSettings()).primed(log, 0) is log


def test_a_title_longer_than_a_summary_is_cut():
    primer = Primer.of(titled([7, 6, 5]), DecodingSettings(max_tokens=2, prime_title=True))
    assert primer.token_BX.tolist() == [[7, 6]]


def test_drawn_summaries_begin_with_the_title_too(peaked):
    settings = DecodingSettings(sample=True, prime_title=True, max_tokens=9)
    plain, other = (sample(peaked, titled(t, [30]), settings) for t in ([20, 21], [22]))
    assert plain[0].tokens[:2] == [20, 21]
    assert other[0].tokens[:1] == [22]
    assert plain[1].tokens[:1] == other[1].tokens[:1] == [30]
    assert plain[0].log_probability < 0
