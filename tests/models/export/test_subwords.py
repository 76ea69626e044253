import pytest
import sentencepiece

from wikisum.models.export.source import Source
from wikisum.models.export.subwords import renamed_vocab, source_ids, target_ids
from wikisum.ranker.data.vocab import BEGIN, END, END_OF_TITLE


def symbols_of(path) -> tuple[sentencepiece.SentencePieceProcessor, dict[str, int]]:
    """The special ids, by the names that hiersumm and GraphSum look up."""
    spm = sentencepiece.SentencePieceProcessor()
    spm.Load(str(path))
    pieces = {"BOS": "<S>", "EOS": "</S>", "PAD": "<PAD>", "EOT": "<T>", "EOP": "<P>", "EOQ": "<Q>"}
    return spm, {name: spm.PieceToId(piece) for name, piece in pieces.items()}


def test_the_vocabulary_has_the_names_that_the_readers_look_up(data, tmp_path):
    model, ours = Source(str(data)).vocab()
    (tmp_path / "spm.model").write_bytes(renamed_vocab(model))
    spm, symbols = symbols_of(tmp_path / "spm.model")
    assert symbols == {"PAD": 0, "BOS": 2, "EOS": 3, "EOT": 4, "EOP": 5, "EOQ": len(ours)}
    assert (spm.pad_id(), spm.unk_id(), spm.bos_id(), spm.eos_id()) == (0, 1, 2, 3)
    assert len(spm) == len(ours) + 1
    text = "an iron bridge over the river"
    assert spm.EncodeAsIds(text) == ours.encode(text)
    assert spm.DecodeIds([*ours.encode("one"), symbols["EOQ"], *ours.encode("two")]) == "one<Q> two"


def test_the_title_begins_the_first_paragraph():
    row = {"title_ids": [6], "paragraph_ids": [[7, 8], [9]]}
    assert source_ids(row) == [[6, END_OF_TITLE, 7, 8], [9]]
    assert source_ids({**row, "title_ids": []}) == [[7, 8], [9]]
    with pytest.raises(ValueError, match="run `wikisum tokenize` first"):
        source_ids({**row, "paragraph_ids": None})


def test_a_mark_stands_between_the_sentences_of_a_target(data):
    _, processor = Source(str(data)).vocab()
    first, second = "It was built of iron.", "It carries trains."
    ids = [processor.encode(text) for text in (first, second)]
    found = target_ids({"lead": f"{first} {second}"}, processor)
    assert found == [BEGIN, *ids[0], len(processor), *ids[1], END]
    assert target_ids({"lead": first}, processor) == [BEGIN, *ids[0], END]
