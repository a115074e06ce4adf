"""A remembered answer hides the value, but not that the value has changed.

Memoised protocols randomise a value once, with loss eps_inf, and report noisy copies (loss eps_1 for the first). That
they lose eps_inf for each distinct value in all, as is often said of them, holds for two users who change in the same
rounds. (The IBU paper has one round, and says nothing of more.)
Between one who never changes and one who changes once, reports that stop agreeing with each other tell: the loss, the
largest ``ln P(reports | history) / P(reports | other history)``, grows with every round.

Ours is the package's exact loss of L-GRR after 20 rounds (k = 3, eps_1 = 1, eps_inf = 2); the reference goes through
all reports of all pairs of such histories. For two distinct values 4 is said.

From: Arcolezi et al. 2022 (L-GRR) and 2023 (LOLOHA), after Erlingsson, Pihur and Korolova 2014; erratum 17.
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats

CHAPTER = "Many rounds"
TOLERANCE = near(1e-9)
SAID = 4.0
K, FIRST, LIMIT, ROUNDS = 3, 1.0, 2.0, 20


def response(gap: float) -> Floats:
    return np.asarray((1 - gap) / K + gap * np.eye(K))


def gap(epsilon: float) -> float:
    return float(np.expm1(epsilon) / (np.exp(epsilon) + K - 1))


def cell(rounds: int) -> Floats:
    """The chance of one sequence with given counts of reports, for each value held: a column for all counts."""
    remembered, told = response(gap(LIMIT)), response(gap(FIRST) / gap(LIMIT))
    counts = [(a, b, rounds - a - b) for a in range(rounds + 1) for b in range(rounds + 1 - a)]
    return np.asarray(remembered @ np.exp(np.array(counts) @ np.log(told)).T)


def by_enumeration(rounds: int) -> float:
    most = 0.0
    for before in range(1, rounds):
        early, late = cell(before), cell(rounds - before)
        # who never changes has one memory for all rounds: sum over it of early and late reports together
        together = constant(before, rounds - before)
        for v, w in itertools.permutations(range(K), 2):
            changed = early[v][:, None] * late[w][None, :]
            most = max(most, *(float(np.abs(np.log(changed / one)).max()) for one in together))
    return most


def constant(before: int, after: int) -> list[Floats]:
    remembered, logs = response(gap(LIMIT)), np.log(response(gap(FIRST) / gap(LIMIT)))
    a, b = (np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) for n in (before, after))
    given = np.exp((a @ logs.T)[:, None, :] + (b @ logs.T)[None, :, :])
    return [np.asarray(given @ remembered[u]) for u in range(K)]


def answer() -> tuple[float, float]:
    law = md.frequencies.protocol("l-grr", FIRST, K, limit=LIMIT)
    return law.losses(ROUNDS).one_change, by_enumeration(ROUNDS)  # type: ignore[attr-defined]


def picture(axes: Axes) -> None:
    law, rounds = md.frequencies.protocol("l-grr", FIRST, K, limit=LIMIT), np.arange(2, 41)
    losses = [law.losses(int(n)) for n in rounds]  # type: ignore[attr-defined]
    axes.plot(rounds, [loss.one_change for loss in losses], label="one change against none")
    axes.plot(rounds, [loss.same_value for loss in losses], "--", label="the same value throughout")
    axes.axhline(SAID, color="black", linestyle=":", label="eps_inf for each of two distinct values")
    axes.set(title="What L-GRR loses over many rounds", xlabel="rounds", ylabel="privacy loss of all reports")
    axes.set_ylim(bottom=0)
    axes.legend()
