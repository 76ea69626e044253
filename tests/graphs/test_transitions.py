"""A recognizer with one or two labels, of which the vectors of tokens are the scores themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wikisum.graphs.transitions import Decisions, moves_of

ONE = ("B-X", "I-X", "L-X", "U-X", "O")
TWO = ("B-X", "B-Y", "I-X", "I-Y", "L-X", "L-Y", "U-X", "U-Y", "U-", "O")


def transparent(names):
    """Decisions of which the scores are the values of the current token."""
    count = len(names)
    features = np.zeros((3, count, 2 * count), np.float32)
    features[0, :, :count] = np.eye(count)
    bias = np.repeat(np.float32([0, -100]), count)  # the second piece is never the larger one
    nothing = np.zeros(count, np.float32)
    return Decisions(
        np.eye(count, dtype=np.float32),
        nothing,
        features,
        np.zeros((3, 2 * count), np.float32),
        bias,
        np.eye(count, dtype=np.float32),
        nothing,
        moves_of(names)[0],
    )


def arbitrary(names, chance, hidden=6, width=4):
    """Decisions with random weights for vectors of `width` values."""

    def floats(*shape):
        return chance.normal(size=shape).astype(np.float32)

    return Decisions(
        floats(width, 5),
        floats(5),
        floats(3, 5, 2 * hidden),
        floats(3, 2 * hidden),
        floats(2 * hidden),
        floats(len(names), hidden),
        floats(len(names)),
        moves_of(names)[0],
    )


def found(decisions, texts, blanks=()):
    """The names in texts, (text, start, end, label), a row apart; `blanks` are (text, token)."""
    width = decisions.reduce.shape[0]
    gap = np.zeros((1, width), np.float32)
    vectors = np.concatenate([gap, *(np.concatenate([text, gap]) for text in texts)])
    starts = np.cumsum([1, *(len(text) + 1 for text in texts)])
    is_text = np.zeros(len(vectors), bool)
    blank = np.zeros(len(vectors), bool)
    for start, text in zip(starts, texts, strict=False):
        is_text[start : start + len(text)] = True
    for text, token in blanks:
        blank[starts[text] + token] = True
    names = decisions.names(vectors, is_text, blank)
    owner = np.searchsorted(starts, names.start, side="right") - 1
    assert (np.diff(names.start) > 0).all()
    columns = owner, names.start - starts[owner], names.end - starts[owner], names.label
    return list(zip(*(column.tolist() for column in columns), strict=True))


def step_by_step(decisions, text, blanks=()):
    """The names in one text, by one action after another with the rules of spaCy's ner.pyx."""
    moves, names, start, label = decisions.moves, [], -1, -1
    values = text @ decisions.reduce + decisions.reduce_bias
    for i in range(len(text)):
        state = decisions.bias + values[i] @ decisions.features[0]
        if start < 0:
            state = state + decisions.absent[1] + decisions.absent[2]
        else:
            state = state + values[start] @ decisions.features[1]
            state = state + values[i - 1] @ decisions.features[2]
        half = len(state) // 2
        scores = decisions.scores @ np.maximum(state[:half], state[half:]) + decisions.scores_bias
        is_last = i == len(text) - 1
        allowed = []
        if start >= 0:
            allowed = [moves.last[label]] if is_last else [moves.last[label], moves.inside[label]]
        else:
            allowed.append(moves.out)
            if i not in blanks:
                allowed += [*moves.unit, *([] if is_last else moves.begin)]
        action = min(allowed, key=lambda column: (-scores[column], column))
        if action in moves.begin:
            start, label = i, list(moves.begin).index(action)
        elif action in moves.unit:
            names.append((i, i + 1, list(moves.unit).index(action)))
        elif start >= 0 and action == moves.last[label]:
            names.append((start, i + 1, label))
            start = -1
    return names


B, I, L, U, O = np.eye(5, dtype=np.float32)  # noqa: E741 - the usual names of the actions


@pytest.mark.parametrize(
    ("tokens", "blanks", "names"),
    [
        ([O, U, O], (), [(1, 2)]),
        ([B, I, L], (), [(0, 3)]),
        ([B, L, B, L], (), [(0, 2), (2, 4)]),
        ([O, 2 * B + U], (), [(1, 2)]),  # no two tokens are left
        ([O, 2 * B + O], (), []),
        ([2 * U + O, O], (0,), []),  # no name begins at white space
        ([2 * B + O, L + O], (0,), []),
        ([B, I, L], (1, 2), [(0, 3)]),  # but it may go on there
        ([B, I, I], (), [(0, 3)]),  # the text ends, and so does the name
        ([B, 3 * O + I, 3 * U + B + L, O], (), [(0, 3)]),  # other actions wait for its end
        ([L + O, I + O, O], (), []),  # nothing is open
        ([B + U, L], (), [(0, 2)]),  # the first of equal ones
        ([B, I + L, L], (), [(0, 3)]),
        ([B, U, L], (), [(0, 3)]),
        ([], (), []),
        ([U], (), [(0, 1)]),
    ],
)
def test_rules_of_transitions(tokens, blanks, names):
    decisions = transparent(ONE)
    text = np.array(tokens, np.float32).reshape(-1, 5)
    assert found(decisions, [text], [(0, i) for i in blanks]) == [(0, *n, 0) for n in names]
    assert step_by_step(decisions, text, blanks) == [(*n, 0) for n in names]


def test_a_name_keeps_its_label():
    score = dict(zip(TWO, np.eye(10, dtype=np.float32), strict=True))
    text = [score["B-Y"], 2 * score["L-X"] + score["I-Y"], 2 * score["I-X"] + score["L-Y"],
            2 * score["U-"] + score["U-X"]]  # fmt: skip
    assert found(transparent(TWO), [np.array(text)]) == [(0, 0, 3, 1), (0, 3, 4, 0)]


def test_names_end_with_their_text():
    text = np.array([B, I, I])
    assert found(transparent(ONE), [text, text]) == [(0, 0, 3, 0), (1, 0, 3, 0)]


@given(st.integers(0, 10**6), st.lists(st.integers(0, 12), max_size=6))
def test_all_texts_together_as_one_token_after_another(seed, lengths):
    chance = np.random.default_rng(seed)
    decisions = arbitrary(TWO, chance)
    texts = [chance.normal(size=(n, 4)).astype(np.float32) for n in lengths]
    blanks = [(i, j) for i, n in enumerate(lengths) for j in range(n) if chance.random() < 0.2]
    expected = [
        (i, *name)
        for i, text in enumerate(texts)
        for name in step_by_step(decisions, text, {j for k, j in blanks if k == i})
    ]
    assert found(decisions, texts, blanks) == expected


@pytest.mark.parametrize("names", [("B-X", "I-X", "L-X", "O"), (*ONE, "B-Y"), (*ONE, "S-X")])
def test_unknown_actions_are_refused(names):
    with pytest.raises(ValueError, match="actions"):
        moves_of(names)
