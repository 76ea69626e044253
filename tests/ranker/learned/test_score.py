import numpy as np
import pytest
import sentencepiece
import torch

from wikisum.ranker.data.ragged import ragged
from wikisum.ranker.data.vocab import train_vocab
from wikisum.ranker.learned.batches import Pool, collate
from wikisum.ranker.learned.lstm import Ranker
from wikisum.ranker.learned.score import Scorer, pool_logits
from wikisum.ranker.learned.settings import RankerSettings, TokenLimits
from wikisum.ranker.runs.checkpoints import save_checkpoint

CPU = torch.device("cpu")
SMALL = RankerSettings(
    vocab_size=60, embedding_size=8, hidden_size=6, feature_size=5, dropout=0.5
)  # fmt: skip
LIMITS = TokenLimits(3, 4, 12)
TEXTS = [
    "a river runs under the green bridge", "the bridge is green", "trains run over the river",
    "nine men drew the bridge", "green trains run",
]  # fmt: skip


@pytest.fixture(scope="module")
def vocab():
    return train_vocab(iter(TEXTS * 5), 60)


@pytest.fixture
def ranker():
    torch.manual_seed(0)
    model = Ranker(SMALL)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter *= 4  # so that scores differ clearly
    return model


@pytest.fixture
def scorer(ranker, vocab):
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(vocab)
    return Scorer(ranker, processor, LIMITS, CPU)


def pool(titles, paragraphs, article):
    labels = np.zeros(len(paragraphs), np.float32)
    return Pool(ragged(titles), ragged(paragraphs), np.array(article), labels)


def alone(model, title, paragraph):
    """The logit of one paragraph in a batch without padding."""
    ids = [torch.tensor([title]), torch.tensor([len(title)]), torch.tensor([0])]
    ids += [torch.tensor([paragraph]), torch.tensor([len(paragraph)])]
    return model(*ids).item()


POOL = pool(
    [[7, 8], [9]], [[10, 11, 12, 13], [14], [15, 16], [17, 18, 19], [20]], [0, 0, 1, 1, 0]
)  # fmt: skip


def test_logits_of_a_pool_stand_in_its_order(ranker):
    ranker.eval()
    titles, paragraphs = [[7, 8], [9]], [[10, 11, 12, 13], [14], [15, 16], [17, 18, 19], [20]]
    expected = [alone(ranker, titles[a], p) for a, p in zip(POOL.article, paragraphs, strict=True)]
    for batch_tokens in (1, 4, 100):
        found = pool_logits(ranker, POOL, batch_tokens, CPU)
        assert found.dtype == np.float32
        assert found.tolist() == pytest.approx(expected, abs=1e-5)
    assert len({round(x, 3) for x in expected}) == 5


def test_an_empty_pool_has_no_logits(ranker):
    assert pool_logits(ranker, pool([], [], []), 10, CPU).tolist() == []


@pytest.mark.parametrize("is_training", [True, False])
def test_dropout_is_off_and_the_mode_is_restored(is_training, ranker):
    ranker.train(is_training)
    first = pool_logits(ranker, POOL, 4, CPU)
    assert pool_logits(ranker, POOL, 4, CPU).tolist() == first.tolist()
    assert ranker.training == is_training


def test_no_gradients_are_kept(ranker):
    assert ranker(*collate(POOL, np.arange(5))[:-1]).requires_grad
    pool_logits(ranker, POOL, 4, CPU)
    assert all(p.grad is None for p in ranker.parameters())


def test_tf32_is_off_for_the_recurrent_layers(ranker):
    allowed = []
    ranker.register_forward_hook(lambda *_: allowed.append(torch.backends.cudnn.allow_tf32))
    pool_logits(ranker, POOL, 4, CPU)
    assert allowed
    assert not any(allowed)


def test_scores_are_sigmoids_by_article(scorer):
    articles = [([7, 8], [[10, 11], [12]]), ([9], []), ([9, 7], [[13, 14, 15]])]
    found = scorer.score_ids(articles)
    assert [len(scores) for scores in found] == [2, 0, 1]
    for (title, paragraphs), scores in zip(articles, found, strict=True):
        for paragraph, score in zip(paragraphs, scores, strict=True):
            logit = torch.tensor(alone(scorer.model, title, paragraph))
            assert score == pytest.approx(torch.sigmoid(logit).item(), abs=1e-6)


def test_texts_score_as_their_ids(scorer, vocab):
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(vocab)
    articles = [("green bridge", TEXTS[:3]), ("river", TEXTS[3:])]
    ids = [(processor.encode(t), [processor.encode(p) for p in some]) for t, some in articles]
    assert scorer.score_articles(articles) == scorer.score_ids(ids)
    assert scorer.score_articles([]) == []
    assert scorer.score_articles([("nothing", [])]) == [[]]


def test_titles_and_paragraphs_are_cut_at_their_own_limits(scorer):
    title, text = [7, 8, 9, 10], [11, 12, 13, 14, 15]

    def score(title_tokens, text_tokens):
        return scorer.score_ids([(title[:title_tokens], [text[:text_tokens]])])[0][0]

    assert score(4, 5) == score(3, 4)
    assert score(2, 4) != score(3, 4) != score(3, 3)


def test_a_scorer_neither_learns_nor_drops(scorer):
    assert not scorer.model.training


def saved(run, model, vocab):
    fit = {"max_title_tokens": 3, "max_paragraph_tokens": 4, "batch_tokens": 12, "steps": 9}
    state = {"settings": {"model": vars(SMALL), "fit": fit}, "model": model.state_dict()}
    save_checkpoint(run / "best.safetensors", "ranker", state)
    (run / "vocab.model").write_bytes(vocab)


def test_a_loaded_ranker_scores_as_the_saved_one(scorer, vocab, tmp_path):
    saved(tmp_path, scorer.model, vocab)
    loaded = Scorer.load(tmp_path, "cpu")
    ids = [(list(range(6, 16)), [list(range(6 + n, 20)) for n in range(4)])]
    assert loaded.score_ids(ids) == scorer.score_ids(ids)
    assert loaded.score_articles([("bridge", TEXTS)]) == scorer.score_articles([("bridge", TEXTS)])
    assert loaded._lengths == LIMITS


def test_loading_sets_the_number_of_threads_only_if_asked(scorer, vocab, tmp_path, monkeypatch):
    saved(tmp_path, scorer.model, vocab)
    asked = []
    monkeypatch.setattr(torch, "set_num_threads", asked.append)
    Scorer.load(tmp_path, "cpu")
    assert asked == []
    Scorer.load(tmp_path, "cpu", threads=3)
    assert asked == [3]


def test_what_is_missing_is_named(scorer, vocab, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no best\.safetensors"):
        Scorer.load(tmp_path)
    saved(tmp_path, scorer.model, vocab)
    with pytest.raises(ValueError, match="device must be auto, cpu or cuda"):
        Scorer.load(tmp_path, "tpu")
    (tmp_path / "vocab.model").unlink()
    with pytest.raises(FileNotFoundError, match=r"vocab\.model"):
        Scorer.load(tmp_path)
