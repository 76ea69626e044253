"""Word vectors in fastText's text format: a line `count width`, then a word and its numbers."""

from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt


def read_vectors(
    path: Path, words: list[str], width: int, seed: int = 0
) -> tuple[npt.NDArray[np.float32], int]:
    """Return ([words, width] vectors, the number of words found); other words get random ones.

    The random vectors have the mean length of those found. Raises ValueError naming file and line
    for a line that does not fit, FileNotFoundError for a missing file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"--word-vectors: there is no file {path}")
    index = {word.encode(): i for i, word in enumerate(words)}
    vectors = np.zeros((len(words), width), np.float32)
    is_found = np.zeros(len(words), bool)
    with path.open("rb") as file:
        count = _read_head(path, file, width)
        lines = 0
        for lines, line in enumerate(file, 1):
            word, _, numbers = line.rstrip(b"\n").partition(b" ")
            row = index.get(word)
            if row is not None and not is_found[row]:
                vectors[row] = _read_numbers(numbers, width, f"{path}, line {lines + 1}")
                is_found[row] = True
    if lines != count:
        raise ValueError(f"{path}: line 1 announces {count:,} words, but {lines:,} lines follow")
    found = int(is_found.sum())
    if not found:
        raise ValueError(f"{path} has none of the words of the vocabulary")
    length = float(np.linalg.norm(vectors[is_found], axis=1).mean())
    drawn = np.random.default_rng(seed).standard_normal((len(words) - found, width))
    vectors[~is_found] = drawn * (length / width**0.5)
    return vectors, found


def _read_head(path: Path, file: BinaryIO, width: int) -> int:
    parts = file.readline().split()
    if len(parts) != 2 or not all(part.isdigit() for part in parts):
        raise ValueError(f"{path}, line 1: expected the number of words and their width")
    if int(parts[1]) != width:
        raise ValueError(
            f"{path}, line 1: vectors have {int(parts[1])} numbers, but --embedding is {width}"
        )
    return int(parts[0])


def _read_numbers(numbers: bytes, width: int, where: str) -> list[float]:
    parts = numbers.split()
    if len(parts) != width:
        raise ValueError(f"{where}: {len(parts)} numbers, not {width}")
    try:
        values = [float(part) for part in parts]
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    if not np.isfinite(values).all():
        raise ValueError(f"{where}: a number is not finite")
    return values
