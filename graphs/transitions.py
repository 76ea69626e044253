"""The names in texts, by the decisions of a transition-based recognizer, taken greedily.

Outside names the action at a token is to begin a name of a type, to take the token as a whole name
(unit), or to leave it out; inside a name of a type it is to go on or to end it. Of the actions that
are allowed the one with the largest score is taken, as spaCy does. Outside names the scores depend
on one token alone, so they are computed for all tokens together; then all texts advance together
through the tokens of their names.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from wikisum.graphs.encoder import Floats, Mask, Rows, maxout, product


class Names(NamedTuple):
    """Names in the order of the tokens: the first token, the one behind, and the label."""

    start: Rows
    end: Rows
    label: Rows


class Moves(NamedTuple):
    """The columns of the scores: of four actions by label, and of leaving a token out."""

    begin: Rows
    inside: Rows
    last: Rows
    unit: Rows
    out: int


def moves_of(names: Sequence[str]) -> tuple[Moves, list[str]]:
    """Return the columns and the labels, from the names of the columns such as `B-ORG` and `O`.

    `U-`, which spaCy has for tokens that are marked beforehand, is not used. Raises ValueError if
    a label lacks one of its four actions, or if there are other columns.
    """
    labels = [name[2:] for name in names if name.startswith("B-")]
    of_labels = [[f"{action}-{label}" for label in labels] for action in "BILU"]
    if {"O", "U-"}.union(*of_labels) != {"U-", *names}:
        raise ValueError(f"the actions are not those of names: {', '.join(names)}")
    columns = (np.array([names.index(name) for name in row], np.intp) for row in of_labels)
    begin, inside, last, unit = columns
    return Moves(begin, inside, last, unit, names.index("O")), labels


class Decisions(NamedTuple):
    """The part of the network that decides, for W values per token, H hidden ones, M actions.

    A state is read from three tokens: the current one, the first of the open name, and the one
    before. `reduce` [V, W] and `reduce_bias` [W] are applied to the vector of each token,
    `features` [3, W, 2 H] to the result for each of the three roles; `absent` [3, 2 H] stands
    for a missing token. The sum with `bias` [2 H] gives H hidden values, the larger ones of two
    pieces. `scores` [M, H] and `scores_bias` [M] turn these into the scores of the actions.
    """

    reduce: Floats
    reduce_bias: Floats
    features: Floats
    absent: Floats
    bias: Floats
    scores: Floats
    scores_bias: Floats
    moves: Moves

    def hidden(self, state: Floats) -> Floats:
        """Return the hidden values, [n, H], of the sums of what the three tokens contribute."""
        return maxout(state + self.bias, self.scores.shape[1])

    def outside(self, current: Floats, blank: Mask, final: Mask) -> Rows:
        """Return the action at each token, [n], if no name is open.

        `current` [n, 2 H] is what the tokens contribute as the current ones. No name begins at
        white space (`blank`), and none of two tokens at the end of a text (`final`). Of equal
        scores the first column wins, here and in `ends`.
        """
        state = current + self.absent[1] + self.absent[2]
        columns = np.sort(np.concatenate([self.moves.begin, self.moves.unit, [self.moves.out]]))
        weights = np.ascontiguousarray(self.scores[columns].T)
        scores = product(self.hidden(state), weights) + self.scores_bias[columns]
        begin = np.searchsorted(columns, self.moves.begin)
        unit = np.searchsorted(columns, self.moves.unit)
        scores[np.ix_(np.flatnonzero(blank | final), begin)] = -np.inf
        scores[np.ix_(np.flatnonzero(blank), unit)] = -np.inf
        best: Rows = columns[scores.argmax(axis=1)]
        return best

    def ends(self, state: Floats, label: Rows) -> Mask:
        """Whether a name of `label` [n] ends at the current token, [n], if it may also go on."""
        hidden = self.hidden(state)
        inside, last = self.moves.inside[label], self.moves.last[label]
        on, end = (
            np.einsum("ij,ij->i", hidden, self.scores[column]) + self.scores_bias[column]
            for column in (inside, last)
        )
        better: Mask = np.where(last < inside, end >= on, end > on)
        return better

    def names(self, vectors: Floats, text: Mask, blank: Mask) -> Names:
        """Return the names in texts: the runs of `text` in the rows of `vectors`, [n, V].

        `blank` [n] marks tokens of white space.
        """
        values = product(vectors, self.reduce) + self.reduce_bias
        current, before = (product(values, self.features[role]) for role in (0, 2))
        action = self.outside(current, blank, text & ~np.append(text[1:], False))
        begins, begin_label = _labeled(action, self.moves.begin, text)
        units, unit_label = _labeled(action, self.moves.unit, text)
        first = product(values[begins], self.features[1])
        longer = self._longer(current, before, first, Names(begins, begins + 1, begin_label), text)
        alone = ~_covered(longer, len(text))[units]
        unit = Names(units[alone], units[alone] + 1, unit_label[alone])
        order = np.argsort(np.concatenate([longer.start, unit.start]))
        return Names(*(np.concatenate(pair)[order] for pair in zip(longer, unit, strict=True)))

    def _longer(
        self, current: Floats, before: Floats, first: Floats, begun: Names, text: Mask
    ) -> Names:
        """Return the names of two or more tokens.

        `begun` are the tokens at which a name begins if none is open then, and `first` [b, 2 H] is
        what these tokens contribute. In each step every text with an open name takes its next
        token; a text whose name ends there jumps to its next token at which one begins.
        """
        final = text & ~np.append(text[1:], False)
        begins = np.append(begun.start, len(text))
        stop = np.flatnonzero(final)
        name = np.searchsorted(begins, np.flatnonzero(text & ~np.append(False, text[:-1])))
        here = begins[name] + 1
        found = [Names(*(np.zeros(0, np.intp) for _ in range(3)))]
        while (active := begins[name] < stop).any():
            name, here, stop = name[active], here[active], stop[active]
            label = begun.label[name]
            ends = final[here] | self.ends(current[here] + first[name] + before[here - 1], label)
            here = here + 1
            found.append(Names(begins[name[ends]], here[ends], label[ends]))
            name = np.where(ends, np.searchsorted(begins, here), name)
            here = np.where(ends, begins[name] + 1, here)
        return Names(*(np.concatenate(parts) for parts in zip(*found, strict=True)))


def _labeled(action: Rows, columns: Rows, text: Mask) -> tuple[Rows, Rows]:
    """Return the tokens of texts whose action is one of `columns`, and which of them it is."""
    label = np.full(max(action.max(initial=0), columns.max(initial=0)) + 1, -1, np.intp)
    label[columns] = np.arange(len(columns))
    tokens = np.flatnonzero(text & (label[action] >= 0))
    return tokens, label[action[tokens]]


def _covered(names: Names, count: int) -> Mask:
    """Return which of `count` tokens lie in names."""
    change = np.zeros(count + 1, np.intp)
    change[names.start] += 1
    change[names.end] -= 1
    covered: Mask = change.cumsum()[:-1] > 0
    return covered
