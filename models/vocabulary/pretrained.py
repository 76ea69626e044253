"""The tokenizer of a pretrained model, read with transformers from a local folder.

Tokens have the ids of the tokenizer plus `OFFSET`. The ids below are the special subwords of
`ranker/data/vocab.py`, which batches and searches are made of; the model translates them. A run
keeps the configuration and the tokenizer in its folder `pretrained`, so that it can be moved.

Importing this module does not import transformers.
"""

import dataclasses
import functools
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wikisum.models.sources import Ids
from wikisum.models.vocabulary.words import first_words
from wikisum.ranker.data.vocab import PIECES

OFFSET = len(PIECES)
FOLDER, CONFIG = "pretrained", "config.json"
_OFFLINE = {
    "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "TOKENIZERS_PARALLELISM": "false",
}  # fmt: skip


def load_transformers() -> Any:
    """Return the module transformers, which then never uses the network.

    Raises ModuleNotFoundError if it is not installed.
    """
    os.environ.update(_OFFLINE)
    import transformers

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    return transformers


def check_folder(folder: str) -> None:
    """Raise ValueError or FileNotFoundError unless this is the folder of a pretrained model."""
    if not folder:
        raise ValueError("--model hf needs --pretrained DIR, the folder of a pretrained model")
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"--pretrained: there is no folder {folder}")
    if not (Path(folder) / CONFIG).is_file():
        raise FileNotFoundError(f"--pretrained: {folder} holds no pretrained model: no {CONFIG}")


def load_config(folder: str) -> Any:
    """Return the configuration of the model in a folder. Raises ValueError naming the folder."""
    check_folder(folder)
    return _loaded(load_transformers().AutoConfig, folder)


@functools.lru_cache(maxsize=4)
def load_tokenizer(folder: str) -> Any:
    """Return the tokenizer in a folder. Raises ValueError naming the folder."""
    check_folder(folder)
    return _loaded(load_transformers().AutoTokenizer, folder)


def _loaded(kind: Any, folder: str) -> Any:
    try:
        return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        what = str(error).strip().splitlines()[0]
        raise ValueError(f"--pretrained {folder}: {what}") from error


class PretrainedVocabulary:
    """The tokens of a pretrained model; `size` counts the special subwords too."""

    vectors = None

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.tokenizer = load_tokenizer(folder)
        rows = load_config(folder).get_text_config().vocab_size
        if len(self.tokenizer) > rows:
            raise ValueError(
                f"--pretrained {folder}: the tokenizer has {len(self.tokenizer):,} tokens, "
                f"the model only {rows:,}"
            )
        self.size = OFFSET + rows
        self.sentence_ends = self.ids([".", "!", "?"])

    def fingerprint(self) -> str:
        """Return a hash of the tokenizer and its settings."""
        serialized = self.tokenizer.backend_tokenizer.to_str()
        return hashlib.sha256(serialized.encode()).hexdigest()

    def ids(self, tokens: Sequence[str]) -> frozenset[int]:
        """Return the ids of those tokens that the tokenizer has, at the start of a word or not."""
        known = self.tokenizer.get_vocab()
        forms = (form for token in tokens for form in (token, f"▁{token}", f"Ġ{token}"))
        return frozenset(known[form] + OFFSET for form in forms if form in known)

    def encode(self, title: str, paragraphs: Sequence[str]) -> tuple[Ids, list[Ids]]:
        """Return the ids of a title and of paragraphs."""
        encoded = self.encode_texts([title, *paragraphs])
        found: list[Ids] = [np.array(ids, np.int32) for ids in encoded]
        return found[0], found[1:]

    def encode_example(
        self, title: str, paragraphs: Sequence[str], lead: str, max_tokens: int | None = None
    ) -> tuple[Ids, list[Ids], Ids]:
        """Return the ids of title, paragraphs and lead.

        Paragraphs after the first `max_tokens` words are left out.
        """
        read = paragraphs if max_tokens is None else list(first_words(paragraphs, max_tokens))
        title_ids, (lead_ids, *found) = self.encode(title, [lead, *read])
        return title_ids, found, lead_ids

    def encode_texts(self, texts: list[str]) -> list[list[int]]:
        """Return the ids of each text, without special tokens."""
        found = self.tokenizer(texts, add_special_tokens=False, verbose=False)["input_ids"]
        return [[token + OFFSET for token in ids] for ids in found]

    def decode(self, tokens: Sequence[int], title: str, paragraphs: Sequence[str]) -> str:
        """Return the text of a summary; special tokens are left out."""
        ids = [token - OFFSET for token in tokens if token >= OFFSET]
        text = self.tokenizer.decode(
            ids, skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(text).strip()


def keep_pretrained(folder: str, run: Path) -> None:
    """Write the configuration and the tokenizer to the folder of a run."""
    tokenizer, config = load_tokenizer(folder), load_config(folder)
    kept = run / FOLDER
    kept.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(kept)
    config.save_pretrained(kept)


def in_run(model: Any, run: Path | None) -> Any:
    """Return a model's settings with the folder that its run keeps, if it keeps one."""
    if run is None or not (run / FOLDER / CONFIG).is_file():
        return model
    return dataclasses.replace(model, pretrained=str(run / FOLDER))
