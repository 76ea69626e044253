from hypothesis import given
from hypothesis import strategies as st

from ranker.best_pages import Hit, best_pages

HITS = st.lists(
    st.builds(
        lambda score, host, page, scheme: Hit(
            score, f"http://{host}.example/{page}", f"{scheme}://{host}.example/{page}"
        ),
        st.integers(0, 4).map(float),
        st.sampled_from("abc"),
        st.integers(0, 3),
        st.sampled_from(["http", "https"]),
    ),
    max_size=40,
)


def hit(score: float, url: str) -> Hit:
    return Hit(score, f"http://{url}", f"https://{url}")


def test_by_hand():
    hits = [hit(1, "a/1"), hit(3, "a/2"), hit(2, "a/3"), hit(2, "b/1"), hit(3, "a/2"), hit(0, "c/")]
    best = best_pages(hits, most=3, per_host=2)
    assert [h.url for h in best] == ["http://a/2", "http://a/3", "http://b/1"]


@given(HITS, st.integers(0, 40))
def test_the_best_of_parts_are_the_best_of_all(hits, cut):
    whole = best_pages(hits, 4, 2)
    parts = best_pages(hits[:cut], 4, 2) + best_pages(hits[cut:], 4, 2)
    assert best_pages(parts, 4, 2) == whole
    assert best_pages(hits[::-1], 4, 2) == whole


@given(HITS)
def test_pages_once_hosts_bounded_best_first(hits):
    best = best_pages(hits, 5, 2)
    assert len({h.url for h in best}) == len(best) <= 5
    assert all(sum(h.url.startswith(f"http://{x}.") for h in best) <= 2 for x in "abc")
    assert [h.score for h in best] == sorted((h.score for h in best), reverse=True)
