"""A vocabulary as a tokenizer of transformers, beside SentencePiece itself."""

import pytest

from wikisum.models.convert.fast_tokenizer import fast_tokenizer
from wikisum.ranker.data.vocab import load_model, train_vocab

TEXTS = [
    "The bridge of Tavin  is old.",
    "a ½ naïve ﬁne test",
    " lead and trail ",
    "Ünknown 漢字 ok",
]


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_the_tokenizer_gives_the_same_ids(kind):
    words = [f"The bridge number {n} of Tavin was built in {1800 + n}." for n in range(60)]
    model = train_vocab(iter([*words, *TEXTS[:2]]), 200, kind)
    processor = load_model(model, "test")
    tokenizer = fast_tokenizer(model)
    for text in [*TEXTS, *words[:20]]:
        assert tokenizer(text)["input_ids"] == [*processor.encode(text), 3], text
    assert len(tokenizer) == processor.get_piece_size()
    assert tokenizer.convert_tokens_to_ids(["<pad>", "</s>", "<T>", "<P>"]) == [0, 3, 4, 5]
