"""The results that the papers published, to stand beside those of a study as a reference."""

from typing import NamedTuple

_W = "Liu et al. 2018"
_H = "Liu and Lapata 2019"


class Published(NamedTuple):
    """A table of a paper; the first row is its head."""

    source: str
    rows: tuple[tuple[str, ...], ...]
    note: str


PUBLISHED: dict[str, Published] = {
    "duc": Published(
        f"{_W}, table 5",
        (
            ("system", "Grammaticality", "Non-redundancy", "Referential clarity", "Focus",
             "Structure and coherence"),
            ("T-DMCA (best)", "4.6", "4.2", "4.5", "4.5", "4.2"),
            ("tf-idf only", "3.6*", "3.9", "3.2*", "3.0*", "2.7*"),
            ("seq2seq with attention", "3.4*", "2.1*", "3.4*", "3.0*", "2.3*"),
        ),
        "25 examples per model, 3 raters each out of 7. * differs from T-DMCA by Welch's t-test "
        "with p = 0.001.",
    ),
    "preference": Published(
        f"{_W}, table 6",
        (
            ("system A", "system B", "ROUGE-L A", "ROUGE-L B", "prefer B / prefer A"),
            ("T-ED, L = 100", "T-ED, L = 500", "30.9", "34.2", "4.25"),
            ("T-ED, L = 500", "T-DMCA, 256 experts, L = 7,500", "34.2", "38.8", "1.5"),
        ),
        "25 examples, 3 raters, sides random. In the paper of PHT and VHT, with 30 pairs, "
        "hierarchical models were preferred about three times as often as flat ones.",
    ),
    "best-worst": Published(
        f"{_H}, table 4",
        (
            ("system", "best less worst"),
            ("Lead", "-0.383"),
            ("FT", "0.000"),
            ("T-DMCA", "0.147"),
            ("HT", "0.237"),
        ),
        "20 examples, 3 of the 4 systems at once, 5 judges. All pairs differ by ANOVA with "
        "Tukey's HSD, p < 0.01.",
    ),
    "questions": Published(
        f"{_H}, table 4",
        (
            ("system", "answered, %"),
            ("Lead", "31.59"),
            ("FT", "35.69"),
            ("T-DMCA", "43.14"),
            ("HT", "54.11"),
        ),
        "20 examples with 57 questions, 5 judges. All pairs differ by ANOVA with Tukey's HSD, "
        "p < 0.01.",
    ),
    "pht": Published(
        "Neural Abstractive Multi-Document Summarization: Hierarchical or Flat Structure?",
        (),
        "20 examples of T-DMCA, Transformer-XL, PHT and VHT; the means are in table 3 of the "
        "paper. In its side-by-side test with 30 pairs, hierarchical models were preferred about "
        "three times as often as flat ones.",
    ),
}  # fmt: skip
