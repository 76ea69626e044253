"""The papers' own figures of the dataset, to stand beside those of a build.

Liu et al. 2018 ("Generating Wikipedia by Summarizing Long Sequences"), table 2 and section 3; Liu &
Lapata 2019 ("Hierarchical Transformers for Multi-Document Summarization"), section 4.
"""

LIU_2018 = "Liu et al. 2018, table 2"
LIU_LAPATA_2019 = "Liu & Lapata 2019, section 4"

# words, or numbers of documents, at each percentile
PERCENTILES = {
    "lead_words": {20: 37, 40: 62, 50: 78, 60: 98, 80: 166, 100: 10_034},
    "citation_documents": {20: 1, 40: 2, 50: 2, 60: 3, 80: 5, 100: 1_029},
    "citation_words": {20: 562, 40: 1_467, 50: 2_296, 60: 3_592, 80: 10_320, 100: 6_159_463},
    "search_documents": {20: 10, 40: 20, 50: 26, 60: 31, 80: 46, 100: 2_095},
    "search_words": {20: 11_691, 40: 33_989, 50: 49_222, 60: 68_681, 80: 135_533, 100: 5_355_671},
}
# means; subwords where it says tokens
MEANS = {
    "lead_words": "139.4 tokens",
    "paragraphs": "525",
    "words_per_paragraph": "70.1 tokens",
    "rouge1_recall": "0.592",
}
SPLITS = {
    "wikisum": {"train": 1_865_750, "validation": 233_252, "test": 232_998},
    "hierarchical": {"train": 1_579_360, "validation": 38_144, "test": 38_205},
}
SHARE_CRAWLED = 0.789
