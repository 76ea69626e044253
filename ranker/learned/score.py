"""The trained ranker at work: titles and paragraphs in, scores out."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import sentencepiece
import torch

from wikisum.ranker.data.errors import BadFile
from wikisum.ranker.data.ragged import cut, ragged
from wikisum.ranker.learned.batches import Floats, Pool, collate
from wikisum.ranker.learned.lstm import Ranker
from wikisum.ranker.learned.settings import RankerSettings, TokenLimits
from wikisum.ranker.runs.checkpoints import check_weights, device_of, load_checkpoint, load_vocab
from wikisum.ranker.runs.files import BEST, VOCAB
from wikisum.ranker.training.plan import length_batches

KIND = "ranker"

Article = tuple[str, Sequence[str]]
ArticleIds = tuple[Sequence[int], Sequence[Sequence[int]]]


@torch.inference_mode()
def pool_logits(model: Ranker, pool: Pool, batch_tokens: int, device: torch.device) -> Floats:
    """[N] the logit of each paragraph of a pool, in full precision, without dropout."""
    was_training = model.training
    model.eval()
    batches = length_batches(pool.paragraphs.lengths, batch_tokens)
    # TF32 would let a score depend on the rest of its batch
    with torch.backends.cudnn.flags(enabled=True, allow_tf32=False):
        found = [model(*collate(pool, rows).to(device)[:-1]) for rows in batches]
    logits = np.zeros(len(pool.labels), dtype=np.float32)
    for rows, some in zip(batches, found, strict=True):
        logits[rows] = some.cpu().numpy()
    model.train(was_training)
    return logits


class Scorer:
    """A trained ranker, loaded once: the better a paragraph suits its title, the higher its score.

    A score, in 0..1, is that of paragraph and title alone: what else is scored with them changes
    it by rounding only, under 1e-5.
    """

    def __init__(
        self,
        model: Ranker,
        processor: sentencepiece.SentencePieceProcessor,
        lengths: TokenLimits,
        device: torch.device,
    ) -> None:
        self.model = model.to(device).eval()
        self._processor = processor
        self._lengths = lengths
        self._device = device

    @classmethod
    def load(cls, run: Path, device: str = "auto", threads: int | None = None) -> "Scorer":
        """Return the best model of a run (its `best.safetensors` and `vocab.model`).

        `threads` of this process work on a processor from now on, if that is said.
        Raises FileNotFoundError or ValueError if the folder holds no such run.
        """
        used = device_of(device)
        if threads is not None:
            torch.set_num_threads(threads)
        state = load_checkpoint(run / BEST, KIND, used)
        try:
            settings, fit = RankerSettings(**state["settings"]["model"]), state["settings"]["fit"]
            lengths = TokenLimits(
                fit["max_title_tokens"], fit["max_paragraph_tokens"], fit["batch_tokens"]
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadFile(f"{run / BEST}: its settings are not a ranker's: {error}") from error
        model = Ranker(settings)
        check_weights(run / BEST, model, state["model"])
        model.load_state_dict(state["model"])
        return cls(model, load_vocab(run / VOCAB), lengths, used)

    def score_articles(self, articles: Sequence[Article]) -> list[list[float]]:
        """For each (title, paragraphs) the score of each paragraph, in the order given."""
        titles = self._processor.encode([title for title, _ in articles])
        texts = list(chain.from_iterable(paragraphs for _, paragraphs in articles))
        counts = [len(paragraphs) for _, paragraphs in articles]
        return self._score(titles, self._processor.encode(texts), counts)

    def score_ids(self, articles: Sequence[ArticleIds]) -> list[list[float]]:
        """As `score_articles`, for texts given as the run's own subword ids."""
        paragraphs = [ids for _, some in articles for ids in some]
        counts = [len(some) for _, some in articles]
        return self._score([title for title, _ in articles], paragraphs, counts)

    def _score(
        self,
        titles: Sequence[Sequence[int]],
        paragraphs: Sequence[Sequence[int]],
        counts: Sequence[int],
    ) -> list[list[float]]:
        pool = Pool(
            cut(ragged(titles), self._lengths.title),
            cut(ragged(paragraphs), self._lengths.paragraph),
            np.repeat(np.arange(len(counts)), counts),
            np.zeros(len(paragraphs), dtype=np.float32),
        )
        logits = pool_logits(self.model, pool, self._lengths.batch, self._device)
        scores = torch.from_numpy(logits).sigmoid().tolist()
        ends = np.cumsum(counts).tolist()
        return [scores[end - count : end] for end, count in zip(ends, counts, strict=True)]
