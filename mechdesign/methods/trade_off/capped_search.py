"""The search for the least average under a cap on the worst case, on [0, 1].

Cutting planes on mu over finitely many outputs: F is a maximum of linear functions, one for each level,
and the sum over the prior is cut in groups of its atoms. One more column is the whole base measure of a mechanism of
least worst case. Every iterate is mixed with it until the cap holds: F is convex in mu, so the mixture is a mechanism
that can be returned. The multipliers of the cap's cuts are prices on inputs; the best bins for prior plus prices
(`mechdesign.methods.trade_off.proof`) give the lower bound, and their outputs are new outputs for the program.
"""

from __future__ import annotations

import numpy as np
from mechdesign_solvers import SolverError
from numpy.typing import NDArray

from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.exact.partition import best_partition, bin_costs, bin_outputs
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.line import Line
from mechdesign.methods.trade_off.capped_program import BaseMeasure, CappedProgram, Cut
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.cells import Cells
from mechdesign.words.domains import UNIT
from mechdesign.words.losses import Power

Floats = NDArray[np.float64]

_GROUPS = 16
_FIRST_OUTPUTS = 65
_MOST_ROUNDS = 400
_NEGLIGIBLE = 1e-12
_TOLERANCE = 1e-10
_PRICED = 2048  # equispaced inputs that prices are gathered on
_SHARES = (0.0, 0.1, 0.3, 0.6)
_SAFETY = 1e-13  # of the cap, left for rounding


@frozen
class Ends:
    """The mechanisms of least worst case and of least average, with their exact worst cases."""

    atoms: Cells
    steady: Window
    steady_worst: float
    steady_inputs: Floats
    steady_weights: Floats
    least_cap: float
    least: LevelledPrior
    prior_best: Window
    prior_worst: float


def _gathered(inputs: Floats, prices: Floats) -> Floats:
    """Prices of inputs in [0, 1] split between the two nearest of equispaced inputs, which keeps their mean."""
    places = inputs * _PRICED
    below = np.minimum(np.floor(places), _PRICED - 1).astype(np.intp)
    above = places - below
    split = np.bincount(below, prices * (1 - above), _PRICED + 1) + np.bincount(below + 1, prices * above, _PRICED + 1)
    # crumbs cost time, not much of the bound
    return np.asarray(np.where(split > 1e-7 * split.sum(), split, 0.0))


def _united(places: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """The places in increasing order, equal ones with their masses added."""
    points, where = np.unique(places, return_inverse=True)
    return points, np.asarray(np.bincount(where, weights=masses), dtype=np.float64)


class CappedSearch:
    """Cuts within a set of outputs, then more outputs where the best bins ask for them."""

    def __init__(self, line: Line, gap: float, ends: Ends, cap: float, clock: Clock) -> None:
        self.line, self.gap, self.ends, self.clock = line, gap, ends, clock
        self.exponent = int(line.exponent)
        self.loss = Power(float(self.exponent))
        self.origin, self.length = line.inputs.lower, line.inputs.length
        self.scale = self.length**self.exponent
        self.exact_cap, self.cap = cap, cap / self.scale * (1 - _SAFETY)
        self.ratio = ends.steady.ratio
        self.weights = ends.atoms.weights / ends.atoms.weights.sum()
        self.atoms = self._inside(ends.atoms.means)
        self.groups = np.array_split(np.arange(self.atoms.size), min(_GROUPS, self.atoms.size))
        self.steady_points, self.steady_base = _united(self._inside(ends.steady.points), ends.steady.base)
        self.outputs = np.unique(
            np.concatenate([self._inside(ends.prior_best.points), np.linspace(0, 1, _FIRST_OUTPUTS)])
        )
        self.cuts: list[Cut] = []
        self.best, self.upper = ends.steady, self._average(self._window(self.steady_points, self.steady_base))
        self.lower, self.prices = 0.0, np.zeros(_PRICED + 1)

    def _inside(self, places: Floats) -> Floats:
        return np.asarray(np.clip((places - self.origin) / self.length, 0.0, 1.0))

    def _average(self, window: Window) -> float:
        return float(np.dot(self.weights, window.expected_loss(self.atoms, self.loss)))

    def priced(self) -> tuple[Floats, Floats]:
        """Inputs and their prices: those found on [0, 1], at their places among the problem's inputs."""
        ends = self.line.inputs
        kept = np.flatnonzero(self.prices)
        places = np.clip(self.origin + kept / _PRICED * self.length, ends.lower, ends.upper)
        return _united(places, self.prices[kept] * self.ends.atoms.weights.sum())

    def run(self) -> tuple[int, str]:
        """The number of master programs it took and why it ended; leaves the best mechanism and prices behind."""
        master = self._master()
        for rounds in range(1, _MOST_ROUNDS + 1):
            try:
                value, base, session_prices = master.solve(self.clock.deadline)
            except SolverError as stopped:
                return rounds, "the time limit was reached" if self.clock.is_over else f"a program failed: {stopped}"
            window = self._mechanism(base[:-1], float(base[-1]))
            self._keep_best(window)
            new = self._violated(window, master.averages)
            settled = self.upper - value <= 0.25 * self.gap * self.upper or not new
            if settled or rounds % 4 == 0:
                wanted = self._price(*session_prices)
                if self.upper - self.lower <= 0.9 * self.gap * self.upper:
                    return rounds, "the search ended"
                if settled:
                    fresh = self._fresh(wanted, base[:-1])
                    if fresh.size == 0:
                        return rounds, "no more outputs help"
                    self.outputs = np.union1d(self.outputs, fresh)
                    self.cuts = master.binding() + new
                    master = self._master()
                    continue
            master.add(new)
            self.cuts += new
        return _MOST_ROUNDS, "the search ended"

    def _master(self) -> CappedProgram:
        steady = BaseMeasure(self.steady_points, self.steady_base)
        return CappedProgram(self.ratio, self.exponent, self.outputs, steady, len(self.groups), self.cap, self.cuts)

    # -- mechanisms ---------------------------------------------------------------------------------------------------

    def _mechanism(self, base: Floats, share: float) -> Window:
        kept = base > _NEGLIGIBLE * base.sum()
        places = np.concatenate([self.outputs[kept], self.steady_points])
        return self._merged(places, np.concatenate([base[kept], share * self.steady_base]))

    def _merged(self, places: Floats, masses: Floats) -> Window:
        points, total = _united(places, masses)
        kept = total > _NEGLIGIBLE * total.sum()
        return self._window(points[kept], total[kept])

    def _window(self, points: Floats, base: Floats, *, moved: bool = False) -> Window:
        total = float(base.sum())
        # a relative 1e-12 inside the range: the check in Window is exact
        target = min(max(total, (1 + 1e-12) / self.ratio), 1 - 1e-12)
        inputs, places = UNIT, points
        if moved:
            inputs = self.line.inputs
            # neighbours may round to one double there, and an end to a double outside
            places, base = _united(np.clip(self.origin + points * self.length, inputs.lower, inputs.upper), base)
        return Window(self.line.epsilon, inputs, places, base * (target / total), self.ratio, "capped average")

    def _worst(self, window: Window) -> float:
        return window.worst_case(self.loss)[0]

    def _keep_best(self, window: Window) -> None:
        """Mix with the mechanism of least worst case until the cap holds, exactly, and keep it if its average is least.

        The worst case is convex in the base measure: the chord to the cap gives a share that is certainly enough.
        """
        low = self.ends.steady_worst / self.scale
        share = 1.0
        for _ in range(8):
            mixed = self._mixed(window, share)
            worst = self._worst(mixed)
            if worst <= self.cap:
                break
            share *= max(0.0, (self.cap - low) / (worst - low)) * (1 - 1e-9) if worst > low else 0.0
            if share <= 0:
                return
        else:
            return
        average = self._average(mixed)
        if average < self.upper:
            moved = self._window(mixed.points, mixed.base, moved=True)
            if exact_worst_error(moved, self.exponent) <= self.exact_cap:
                self.best, self.upper = moved, average

    def _mixed(self, window: Window, share: float) -> Window:
        if share == 1:
            return window
        places = np.concatenate([window.points, self.steady_points])
        return self._merged(places, np.concatenate([share * window.base, (1 - share) * self.steady_base]))

    # -- cuts and prices ----------------------------------------------------------------------------------------------

    def _violated(self, window: Window, averages: Floats) -> list[Cut]:
        """Cuts at the window's levels, one for each group whose average the master underrates and each bad input."""
        errors = window.expected_loss(self.atoms, self.loss)
        levels = window.reach(self.atoms) ** self.exponent
        cuts = []
        slack = 0.02 * self.gap * self.upper / len(self.groups)
        for k, group in enumerate(self.groups):
            if float(np.dot(self.weights[group], errors[group])) > averages[k] + slack:
                cuts.append(Cut(k, self.atoms[group], levels[group], self.weights[group]))
        places = np.concatenate([[0.0], window.turns, [1.0]])
        values = window.expected_loss(places, self.loss)
        top = float(values.max())
        if top > self.cap * (1 + 1e-12) + _TOLERANCE:
            peaks = (values >= np.append(values[1:], -1.0)) & (values >= np.append(-1.0, values[:-1]))
            bad = np.flatnonzero(peaks & (values > self.cap + 0.05 * (top - self.cap)))
            reach = window.reach(places[bad]) ** self.exponent
            cuts += [Cut(-1, places[[b]], reach[[i]], np.ones(1)) for i, b in enumerate(bad.tolist())]
        return cuts

    def _price(self, inputs: Floats, prices: Floats) -> Floats:
        """Bound the optimum with these prices; the outputs that the best bins for prior plus prices have.

        A program's own multipliers are extreme and jump about: shares of them on top of the best prices so far, or of
        the certificate of the least worst case, bound better.
        """
        new = _gathered(inputs, prices)
        wanted = self._bound(new)
        for known in (self.prices, _gathered(self.ends.steady_inputs, self.ends.steady_weights)):
            if known.sum() > 0:
                scaled = known * (new.sum() / known.sum())
                for share in _SHARES:
                    self._bound((1 - share) * scaled + share * new)
        return wanted

    def _bound(self, prices: Floats) -> Floats:
        """Keep prices if none so far prove as much; the outputs of the best bins."""
        inputs = np.flatnonzero(prices) / _PRICED
        points, weights = _united(
            np.concatenate([self.atoms, inputs]), np.concatenate([self.weights, prices[prices > 0]])
        )
        total = float(weights.sum())
        points, weights = points[weights > 0], weights[weights > 0] / total
        costs = bin_costs(points, weights, self.ratio, self.exponent)
        best = best_partition(costs, np.zeros(points.size + 1), self.ratio)
        value = total * best.value - self.cap * float(prices.sum())
        if value > self.lower:
            self.lower, self.prices = value, prices
        return bin_outputs(points, weights, best.edges, self.ratio, self.exponent)

    def _fresh(self, wanted: Floats, base: Floats) -> Floats:
        """The outputs of the best bins, and the middles of the stretches next to outputs with mass."""
        used = np.flatnonzero(base > 1e-9)
        beside = np.unique(np.clip(np.concatenate([used - 1, used]), 0, self.outputs.size - 2))
        middles = (self.outputs[beside] + self.outputs[beside + 1]) / 2
        wide = self.outputs[beside + 1] - self.outputs[beside] > 1e-5
        fresh = np.concatenate([wanted, middles[wide]])
        nearest = np.abs(fresh[:, None] - self.outputs[None, :]).min(axis=1)
        return np.asarray(fresh[nearest > 1e-7])
