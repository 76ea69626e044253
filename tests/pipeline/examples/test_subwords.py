import pytest

from tests.pipeline.test_records import EXAMPLE
from wikisum.pipeline.examples.subwords import encode, is_sampled
from wikisum.ranker.data.vocab import load_model, train_vocab

TEXTS = [f"the bridge number {i} was built over the river in {1800 + i}" for i in range(300)]


@pytest.fixture(scope="module")
def processor():
    return load_model(train_vocab(iter(TEXTS), 200), "a.model")


def test_ids_are_those_of_the_text_alone(processor):
    example = encode(EXAMPLE, processor)
    assert processor.decode(example.lead_ids) == "lead".replace("lead", processor.decode(
        processor.encode("lead")))  # fmt: skip
    assert len(example.paragraph_ids) == len(example.paragraphs)
    assert not {2, 3} & set(example.lead_ids)


def test_the_sample_is_a_share_of_the_texts():
    assert sum(is_sampled(t, 0.3) for t in TEXTS) == pytest.approx(90, abs=25)
    assert all(is_sampled(t, 1.0) for t in TEXTS)
