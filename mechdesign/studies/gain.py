"""What IBU gains over inversion: the experiment of Arcolezi, Cerna and Palamidessi (DBSec 2023), table and figures.

Each cell of the experiment is a law, a number of users, a number of bins, an epsilon and a protocol. In every run the
data are drawn anew and collected once; the inverted estimate, clipped and scaled (their MI, here norm-mul), and IBU
work on the same reports. The gain of a cell is by how many per cent the mean error over the runs is lower with IBU, 0
where it is higher (equation (1)). Tables are averages of the gains of cells.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.texts import epsilons, names, wholes
from mechdesign.errors import InvalidInput, require_name, require_one_of, require_whole
from mechdesign.studies.frequencies.laws import LAWS, MOST_USERS, made_of_law
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import named
from mechdesign.values.declare import Floats, asked, field, frozen, option, whole
from mechdesign.values.tables import Grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE_TIME = ("grr", "sue", "oue", "ss", "the", "blh", "olh")
"""The seven protocols of table 2."""

LONGITUDINAL = ("l-grr", "l-sue", "l-oue", "l-soue", "l-osue", "l-blh", "l-olh")
"""The seven of table 3, at a limit of twice epsilon."""

STEPPED, LIMIT = "ibu-10000", "ibu"
METHODS = (STEPPED, LIMIT)
"""IBU as published, stopped after 10,000 steps, and its limit."""

ERRORS = ("mse", "mae")
_MOST_CELLS = 100_000


def _protocols(said: Any) -> tuple[str, ...]:
    from mechdesign.studies.frequencies.protocols.catalogue import entry

    keys = {"all": ONE_TIME, "longitudinal": LONGITUDINAL}.get(said) if isinstance(said, str) else None
    return keys or tuple(entry(name).key for name in names("protocol")(said))


def _laws(said: Any) -> tuple[str, ...]:
    return tuple(LAWS) if said == "all" else tuple(require_one_of(one, "law", LAWS) for one in names("law")(said))


def _wholes(field: str, most: int) -> Callable[[Any], tuple[int, ...]]:
    read = wholes(field)
    return lambda said: tuple(require_whole(one, field, 2, most) for one in read(said))


@frozen
class GainStudy:
    """The cells of the experiment; left alone, those of table 2 with 4 runs in place of 20."""

    protocols: tuple[str, ...] = asked(
        "--protocols",
        "Names, all (seven one-time) or longitudinal (limit 2 eps).",
        "-p",
        read=_protocols,
        default=ONE_TIME,
        words=lambda: ("all", "longitudinal", *ONE_TIME, *LONGITUDINAL),
    )
    laws: tuple[str, ...] = asked(
        "--laws",
        f"{', '.join(LAWS)}, or all.",
        read=_laws,
        default=tuple(LAWS),
        words=lambda: ("all", *LAWS),
    )
    epsilons: tuple[float, ...] = asked(
        "--eps", "One, a list A,B,C or FROM:TO:COUNT.", "-e", read=epsilons(), default=(1.0, 2.0, 4.0)
    )
    bins: tuple[int, ...] = asked(
        "--bins", "Numbers of bins, K,K,...", read=_wholes("bins", 10**5), default=(2, 50, 100, 200)
    )
    users: tuple[int, ...] = asked(
        "--users", "Numbers of users, N,N,...", read=_wholes("users", MOST_USERS), default=(20_000, 100_000)
    )
    runs: int = whole("runs", 1, 10_000, default=4, metadata=option("--repeat", "Runs of every cell.", "-r"))
    method: str = asked(
        "--method",
        f"{' or '.join(METHODS)}: 10,000 steps, or their limit.",
        "-m",
        default=STEPPED,
        read=lambda said: require_name(said, "method", METHODS),
        words=lambda: METHODS,
    )
    seed: int = whole("seed", 0, default=0, metadata=option("--seed", "The same seed gives the same numbers."))

    doing: ClassVar[str] = "drawing data"
    reads: ClassVar[tuple[Path, ...]] = ()
    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        if "she" in self.protocols:
            raise InvalidInput("protocol", "she", "have support that is a count: IBU has no likelihood for its sums")
        if self.cells > _MOST_CELLS:
            raise InvalidInput("cells", self.cells, f"be at most {_MOST_CELLS}", "ask for less at once")

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> Gains:
        """The gains of all cells.

        >>> asked = GainStudy("grr", "poisson", 1, 20, 1000, runs=2, method="ibu")
        >>> [(gain.law, gain.protocol, gain.bins) for gain in asked.answer().cells]
        [('poisson', 'grr', 20)]
        """
        found: list[Gain] = []
        steps = len(self.settings) * len(self.protocols)
        for done, ((users, bins, epsilon), name) in enumerate(itertools.product(self.settings, self.protocols)):
            say(f"{done} of {steps} settings and protocols")
            found += _of_setting(self, users, bins, epsilon, name)
        return Gains(self, tuple(found))

    @property
    def settings(self) -> list[tuple[int, int, float]]:
        """Users, bins and epsilon of each block of cells that share data."""
        return list(itertools.product(self.users, self.bins, self.epsilons))

    @property
    def cells(self) -> int:
        return len(self.users) * len(self.bins) * len(self.epsilons) * len(self.laws) * len(self.protocols)


@frozen
class Gain:
    """By how many per cent IBU lowers the mean squared and the mean absolute error in a cell."""

    law: str
    protocol: str
    users: int
    bins: int
    epsilon: float = field(metadata=named("eps"))
    mse: float
    mae: float


@frozen
class Averages:
    """Average gains in per cent: of one error, over all cells in which the field has this value."""

    field: str
    value: str | float
    mse: float
    mae: float


@frozen
class Averaged:
    """The averages beside the cells."""

    averages: tuple[Averages, ...]


@frozen
class Gains(Answer):
    """The gains of all cells, and their averages as tables 2 and 3 and figures 3 and 4 have them."""

    plan: GainStudy
    cells: tuple[Gain, ...]

    def average(self, error: str, **where: object) -> float:
        """The average gain in ``mse`` or ``mae`` over the cells where these fields have these values.

        >>> Gains(GainStudy(), (Gain("poisson", "grr", 10, 2, 1.0, 8.0, 4.0),)).average("mse", law="poisson")
        8.0
        """
        require_one_of(error, "error", ERRORS)
        found = [
            getattr(cell, error)
            for cell in self.cells
            if all(getattr(cell, name) == value for name, value in where.items())
        ]
        if not found:
            raise InvalidInput("cells", where, "be among those of the plan")
        return math.fsum(found) / len(found)

    @property
    def said(self) -> tuple[Any, ...]:
        return self, Averaged(self.averaged())

    @property
    def rows(self) -> Sequence[Gain]:
        return self.cells

    def averaged(self) -> tuple[Averages, ...]:
        """Averages by law, protocol, eps, bins and users."""
        plan = self.plan
        fields: tuple[tuple[str, tuple[str | float, ...]], ...] = (
            *(("law", plan.laws), ("protocol", plan.protocols), ("epsilon", plan.epsilons)),
            *(("bins", plan.bins), ("users", plan.users)),
        )
        return tuple(
            Averages(name, value, *(self.average(error, **{name: value}) for error in ERRORS))
            for name, values in fields
            for value in values
        )

    def plot(self) -> Figure:
        """Figures 3 and 4: the gain in mse over eps, bins and users, a line a law, over all protocols."""
        from mechdesign import plot

        axes = {"epsilon": "privacy parameter ε", "bins": "number of bins", "users": "number of users"}
        panels = {
            axes[name]: {
                law: (values, [self.average("mse", law=law, **{name: one}) for one in values]) for law in self.plan.laws
            }
            for name, _, values in self.settings()
        }
        title = f"What {self.plan.method} gains over norm-mul, averaged over {len(self.plan.protocols)} protocols"
        return plot.gains(panels, "gain in mean squared error (%)", title)

    def shown(self) -> Iterator[Grid | str]:
        """A table of laws and protocols for each error, and one of what epsilon, bins and users change."""
        for one in self.grids():
            yield one
            yield ""

    def grids(self) -> Iterator[Grid]:
        plan = self.plan
        for error in ERRORS:
            rows = [self._line(error, law, law=law) for law in plan.laws] + [self._line(error, "average")]
            title = f"gain of {plan.method} over norm-mul in {error} (%), {self._about}"
            yield Grid(title, ("law", *plan.protocols, "average"), tuple(rows), 1)
        rows = [
            self._over_protocols(f"{shown} = {value:g}", **{name: value})
            for name, shown, values in self.settings()
            for value in values
        ]
        title = "the same in mse, over all protocols, by eps, bins and users"
        yield Grid(title, ("where", *plan.laws, "average"), tuple(rows), 1)

    def settings(self) -> tuple[tuple[str, str, tuple[float, ...]], ...]:
        """What the figures vary: the field, its name for the eyes, and its values."""
        plan = self.plan
        return ("epsilon", "eps", plan.epsilons), ("bins", "bins", plan.bins), ("users", "users", plan.users)

    @property
    def _about(self) -> str:
        plan = self.plan
        count = len(plan.settings)
        return f"averaged over {count} setting{'s' * (count > 1)} of eps, bins and users, {plan.runs} runs each"

    def _over_protocols(self, title: str, **where: object) -> tuple[str, ...]:
        each = [self.average("mse", law=law, **where) for law in self.plan.laws]
        return (title, *(f"{gain:.1f}" for gain in [*each, self.average("mse", **where)]))

    def _line(self, error: str, title: str, **where: object) -> tuple[str, ...]:
        each = [self.average(error, protocol=protocol, **where) for protocol in self.plan.protocols]
        return (title, *(f"{gain:.1f}" for gain in [*each, self.average(error, **where)]))


def _of_setting(plan: GainStudy, users: int, bins: int, epsilon: float, name: str) -> Iterator[Gain]:
    """The gains of one protocol with all laws. Data are the same for all protocols and epsilons."""
    from mechdesign.studies.frequencies import estimators, postprocess, protocols
    from mechdesign.studies.frequencies.ranking import utility_gain

    law = protocols.protocol(name, epsilon, bins)
    data = _data(plan, users, bins)
    rng = _generator(plan, name, epsilon.hex(), users, bins)
    seen = np.array([law.simulate(row, rng) for row in data])
    truth = data / users
    inverted = np.array([postprocess.norm_mul(law.estimate(row, users)) for row in seen])
    if plan.method == STEPPED:
        updated = estimators.ibu_published(seen, law.p, law.q)
    else:
        updated = np.array([estimators.ibu(row, law.p, law.q).frequencies for row in seen])
    for place, one in enumerate(plan.laws):
        mine = slice(place * plan.runs, (place + 1) * plan.runs)
        errors = [_errors(estimate[mine], truth[mine]) for estimate in (inverted, updated)]
        each = [utility_gain(base, error) if base > 0 else 0.0 for base, error in zip(*errors, strict=True)]
        yield Gain(one, name, users, bins, epsilon, *each)


@lru_cache(maxsize=1)
def _data(plan: GainStudy, users: int, bins: int) -> NDArray[np.int64]:
    """The counts of each law and run, a row each."""
    rows = [
        made_of_law(law, users, bins, _generator(plan, law, users, bins, run)).counts
        for law in plan.laws
        for run in range(plan.runs)
    ]
    return np.array(rows)


def _generator(plan: GainStudy, *key: object) -> np.random.Generator:
    """Random numbers of these words and no others, in whatever company a cell is computed."""
    words = np.frombuffer(hashlib.sha256(" ".join(map(str, key)).encode()).digest()[:16], dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence(plan.seed, spawn_key=[int(word) for word in words]))


def _errors(estimates: Floats, truth: Floats) -> tuple[float, float]:
    """Mean squared and mean absolute error, over all items and runs."""
    missed = np.abs(estimates - truth)
    return float((missed**2).mean()), float(missed.mean())


ANSWERS = ((Gains, Averaged),)
