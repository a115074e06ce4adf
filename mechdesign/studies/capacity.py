"""Capacity planning (CAPRI): the smallest epsilon that keeps alarms right, or the chances of all events at one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mechdesign.data.texts import floats, names
from mechdesign.errors import InvalidInput, require_epsilon, require_finite
from mechdesign.studies.budgets.capacity import EVENTS, LEAST, MOST, PRECISION, Capacity, Requirement
from mechdesign.studies.budgets.ledger import Memory
from mechdesign.studies.budgets.populations import POPULATIONS
from mechdesign.studies.budgets.runner import PARAMETERS, Settings, Store
from mechdesign.studies.users import read_users
from mechdesign.values.answers import Answer, Say, silent
from mechdesign.values.codec import encoded, if_any, left_out
from mechdesign.values.declare import asked, field, frozen, needed
from mechdesign.values.rules import comes_with, exactly_one, left_out_with, require_rules
from mechdesign.values.schema import shaped
from mechdesign.values.tables import Column, Grid, number, table_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mechdesign.studies.budgets.capri import SimulatedBudget
    from mechdesign.studies.budgets.choice import Option

EXACT, SIMULATED, RELAXED = "exact", "simulated", "relaxed"
SEARCHES = ("rbs", "dbs", "mpass", "bayes")
HALVING = (SIMULATED, RELAXED, "rbs", "dbs")
"""Methods that stop when an interval is shorter than phi."""
_PARAMETERS: dict[str, Collection[str]] = {
    EXACT: (),
    **dict.fromkeys((SIMULATED, RELAXED), ("runs",)),
    **{name: PARAMETERS[name] for name in SEARCHES},
}
METHODS = tuple(_PARAMETERS)
_WATER = tuple(name for name in POPULATIONS if name.partition("-")[0] == "water")
_SHARE = 0.4  # of phi, which CAPRI-R moves less far unless told otherwise
_GUESSED = "guessed: true values a Bayesian adversary gets right"
_RULES = (
    comes_with("delta", method=(RELAXED,)),
    comes_with("seed", "results", method=METHODS[1:], why="simulates", step="the exact route simulates nothing"),
    comes_with("phi", method=HALVING, why="stops by it", step="add --method"),
    comes_with("column", "domain", data=()),
    exactly_one("data", "population", step="for example --population water-like"),
    left_out_with("at_eps", "method", "min_eps", "max_eps", why="there is no search"),
)


def protocol_names() -> Iterable[str]:
    """Every protocol and mechanism that can be asked about."""
    from mechdesign.studies.budgets.mean_route import NAMES
    from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS

    return (*(line.key for line in PROTOCOLS), *NAMES)


@frozen
class CapacityStudy:
    """Frequency protocols and unbiased numeric mechanisms, by the epsilon at which a requirement on alarms is met.

    >>> asked = CapacityStudy("grr", 18000, population="water-sample", metric="fp", tau=0.05)
    >>> round(asked.answer().cases[0].budgets[0].eps, 2)
    2.66
    """

    protocol: tuple[str, ...] = needed(
        "--protocol",
        "Names: grr, oue, ..., or numeric: pm, hm, laplace, ..., aaa, certified.",
        "-p",
        read=names("protocol"),
        words=protocol_names,
    )
    capacity: tuple[float, ...] = needed("--capacity", "The capacity all households share.", read=floats("capacity"))
    metric: str | None = asked("--metric", f"What the requirement is about: {', '.join(EVENTS)}.", words=EVENTS)
    tau: tuple[float, ...] | None = asked(
        "--tau", "Pr[FP], Pr[FN] below it; Pr[TP], Pr[TN] at least it.", read=floats("tau")
    )
    at_eps: float | None = asked(
        "--at-eps",
        "Pr[TP], Pr[TN], Pr[FP], Pr[FN] at this epsilon, no search.",
        read=lambda said: require_epsilon(said, "at eps"),
    )
    data: Path | None = asked("--data", "Consumptions, one household a row.", "-d", read=Path, metavar="FILE")
    population: str | None = asked("--population", f"Instead of data: {' or '.join(_WATER)}.", words=_WATER)
    column: str | None = asked("--column", "The column with the consumptions.")
    domain: str | None = asked("--domain", "All consumptions, A,B,C or LO..HI (else those observed).")
    method: str | None = asked(
        "--method",
        f"exact, simulated (CAPRI), relaxed (CAPRI-R) or, of Optimus, {', '.join(SEARCHES)} [{EXACT}].",
        "-m",
        words=METHODS,
    )
    phi: float | None = asked("--phi", f"The precision in eps [{', '.join(HALVING)}: {PRECISION:g}].")
    delta: float | None = asked("--delta", "The relaxation of CAPRI-R, below phi / 2.")
    min_eps: float | None = asked("--min-eps", f"The range starts here [{LEAST:g}].")
    max_eps: float | None = asked("--max-eps", f"The range ends here [{MOST:g}].")
    eta: float | None = asked(
        "--eta",
        "Show how well an adversary tells who is at most eta.",
        read=lambda said: require_finite(said, "eta"),
    )
    seed: int | None = asked("--seed", "Of simulations: the same gives the same numbers [0].")
    results: Path | None = asked("--results", "Keep simulations here; a stopped run resumes from it.", read=Path)
    settings: Settings = Settings()

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        if (self.metric is None) != (self.tau is None) or (self.metric is None and self.at_eps is None):
            step = "for example --metric fp --tau 0.05, or --at-eps 1 for the probabilities at an epsilon"
            raise InvalidInput("options", "--metric, --tau", "be given together", step)
        self.settings.require_used([self.way], _PARAMETERS)

    @property
    def way(self) -> str:
        """The method, the exact one unless another is asked for."""
        return EXACT if self.method is None else self.method

    @property
    def span(self) -> tuple[float, float]:
        """Where an epsilon is looked for."""
        return LEAST if self.min_eps is None else self.min_eps, MOST if self.max_eps is None else self.max_eps

    @property
    def doing(self) -> str:
        return "computing" if self.at_eps is None else f"probabilities at eps = {self.at_eps:g}"

    @property
    def reads(self) -> Sequence[Path]:
        return () if self.data is None else (self.data,)

    @property
    def keeps(self) -> Sequence[Path]:
        return () if self.results is None else (self.results,)

    @property
    def requirements(self) -> list[Requirement]:
        return [Requirement(self.metric or "", value) for value in self.tau or ()]

    def households(self, warn: Say) -> list[Capacity]:
        """The population, with each capacity."""
        import numpy as np

        if self.data is None:
            counts = POPULATIONS[str(self.population)]()
            return [Capacity(range(counts.size), counts, cap) for cap in self.capacity]
        found = read_users(self.data, self.column, self.domain, warn, numeric=True)
        values = np.array(list(map(float, found.labels)))
        order = np.argsort(values, kind="stable")
        return [Capacity(values[order], found.counts[order], cap) for cap in self.capacity]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> SmallestEpsilons | EventsAtEpsilon:
        """Every requirement at every capacity; or the events at one epsilon."""
        from mechdesign.studies.budgets.mean_route import NAMES

        wanted, caps = self.requirements, self.households(warn)
        if self.eta is not None and {*self.protocol} <= {*NAMES}:
            rule = "come with a frequency protocol: what reports of numeric mechanisms tell is not computed"
            raise InvalidInput("eta", self.eta, rule, "drop --eta, or add for example grr to -p")
        if self.at_eps is not None:
            return self._at(caps, self.at_eps, wanted)
        store = Store(self.results)
        cases = store.around(
            lambda: tuple(
                Case(cap.cap, wish.tau, tuple(self._budgets(cap, wish, store, say))) for cap in caps for wish in wanted
            )
        )
        if all(row.eps is None for case in cases for row in case.budgets):
            rows = cases[0].budgets
            reached = [f"{row.protocol}: {(row.reason or '').rpartition('; ')[2]}" for row in rows]
            raise InvalidInput("requirement", wanted[0].words, "be met by some eps in the range", "; ".join(reached))
        households = caps[0].users, caps[0].total
        about = About(*households, self.capacity, self.tau or (), wanted[0].event, self.way, self.span)
        return SmallestEpsilons(about, cases, self.eta)

    def _budgets(self, capacity: Capacity, wish: Requirement, store: Store, say: Say) -> Iterator[Budget]:
        from mechdesign.studies.budgets.choice import capacity_options

        say(f"capacity {capacity.cap:,.12g}, {wish.words}")
        least, most = self.span
        if self.way == EXACT:
            found = capacity_options(capacity, wish, self.protocol, least=least, most=most)
        else:
            found = self._simulated(capacity, wish, store, say)
        return (self._budget(capacity, wish, option) for option in found)

    def _budget(self, capacity: Capacity, wish: Requirement, found: Option) -> Budget:
        from mechdesign.studies.budgets.capri_exact import chebyshev_budget
        from mechdesign.studies.budgets.choice import FREQUENCY
        from mechdesign.studies.budgets.simulation import ProtocolFamily

        is_met, bound, seen = found.epsilon is not None, None, None
        if found.epsilon is not None and found.route == FREQUENCY:
            family = ProtocolFamily(found.name)
            bound = chebyshev_budget(capacity, wish, family, least=self.span[0], most=self.span[1])
            seen = adversary_of(capacity, found.name, found.epsilon, self.eta)
        return Budget(
            found.name,
            found.route,
            found.epsilon,
            found.bracket if is_met else None,
            found.probability if is_met else None,
            found.exact,
            found.interval,
            bound,
            seen,
            found.reason or None,
        )

    def _simulated(self, capacity: Capacity, wish: Requirement, store: Store, say: Say) -> list[Option]:
        from mechdesign.studies.budgets.alarms import search_alarms
        from mechdesign.studies.budgets.capri import Totals, capri_from
        from mechdesign.studies.budgets.choice import FREQUENCY, Option
        from mechdesign.studies.budgets.mean_route import NAMES

        precision = PRECISION if self.phi is None else self.phi
        relaxed = _SHARE * precision if self.delta is None else self.delta
        search: Callable[..., SimulatedBudget] = partial(capri_from, delta=relaxed if self.way == RELAXED else 0.0)
        if self.way in SEARCHES:
            search = partial(search_alarms, method=self.way)
        told = self.settings.of(self.way if self.way in SEARCHES else "bs")
        options = []
        for name in self.protocol:
            if name in NAMES:
                rule = "be a frequency protocol for CAPRI by simulation"
                raise InvalidInput("protocol", name, rule, "use --method exact")
            asked = Totals(name, capacity, self.seed or 0)
            memory = Memory(asked, store.entries_for(asked), store.keep)
            where = f"{asked.protocol}, capacity {capacity.cap:,.12g}, {wish.words}"
            least, most = self.span

            def told_where(text: str, where: str = where) -> None:
                say(f"{where}, {text}")

            try:
                found = search(memory, wish, least=least, most=most, phi=precision, say=told_where, **told)
            except InvalidInput as error:
                if error.field != "requirement":
                    raise
                options.append(Option(asked.protocol, FREQUENCY, None, reason=str(error)))
                continue
            options.append(_seen(asked.protocol, found))
        return sorted(options, key=lambda option: (option.epsilon is None, option.epsilon or 0.0))

    def _at(self, caps: Sequence[Capacity], epsilon: float, wanted: Sequence[Requirement]) -> EventsAtEpsilon:
        from mechdesign.studies.budgets.choice import FREQUENCY
        from mechdesign.studies.budgets.outlook import outlook

        words = tuple(wish.words for wish in wanted)
        asked = AskedAt(caps[0].users, caps[0].total, self.capacity, epsilon, words)
        cases = []
        for capacity in caps:
            found = [outlook(capacity, name, epsilon) for name in self.protocol]
            rows = []
            for one in found:
                holds = {wish.words: wish.holds(one.probability[wish.event.upper()]) for wish in wanted}
                seen = adversary_of(capacity, one.name, epsilon, self.eta) if one.route == FREQUENCY else None
                rows.append(encoded(one) | encoded(Judged(holds, seen)))
            cases.append(EventsAt(capacity.cap, tuple(rows)))
        return EventsAtEpsilon(asked, tuple(cases), self.eta)


def _seen(name: str, found: SimulatedBudget) -> Option:
    """The search's answer between the last epsilon that failed and the least that held, with what was seen at both.

    CAPRI-R returns an epsilon ``delta`` above the last; nothing was seen there. At the one of Bayes it may have failed.
    """
    from mechdesign.studies.budgets.choice import FREQUENCY, Option

    failed = [test for test in found.tested if not test.holds and test.epsilon <= found.epsilon]
    last = max(failed, key=lambda test: test.epsilon, default=None)
    met = min((test for test in found.tested if test.holds), key=lambda test: test.epsilon, default=None)
    ends = [(None, None) if test is None else (test.epsilon, test.probability) for test in (last, met)]
    (low, low_chance), (high, high_chance) = ends
    return Option(name, FREQUENCY, found.epsilon, bracket=(low, high), probability=(low_chance, high_chance))


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class About:
    """Households, what is required of alarms, and the range that was searched."""

    households: int
    true_total: float
    capacities: tuple[float, ...]
    taus: tuple[float, ...]
    metric: str
    method: str
    eps_range: tuple[float, float]


@frozen
class Adversary:
    """What one report gives away; with eta, how well it tells who is at most eta."""

    success_rate: float
    mean_squared_error: float
    precision: float | None = field(default=None, metadata=if_any())
    recall: float | None = field(default=None, metadata=if_any())
    f_score: float | None = field(default=None, metadata=if_any())


def adversary_of(capacity: Capacity, protocol: str, epsilon: float, eta: float | None) -> Adversary | None:
    """What one report gives away, or None for a protocol whose reports are too many to enumerate."""
    from mechdesign.studies.budgets.adversary import detection, threat
    from mechdesign.studies.budgets.simulation import ProtocolFamily

    law = ProtocolFamily(protocol)(epsilon, capacity.v.size)
    try:
        seen = threat(law, capacity.v, capacity.x)
    except InvalidInput:
        return None
    if eta is None:
        return Adversary(seen.success, seen.squared_error)
    told = detection(law, capacity.v, capacity.x, eta)
    return Adversary(seen.success, seen.squared_error, told.precision, told.recall, told.f_score)


@frozen
class Budget:
    """What one protocol needs: the epsilon, between which ones it lies, and the chances at both."""

    protocol: str
    route: str
    eps: float | None
    epsilon: tuple[float | None, float | None] | None
    probability: tuple[float | None, float | None] | None
    exact: bool
    interval: tuple[float | None, float | None] | None
    chebyshev_eps: float | None
    adversary: Adversary | None
    reason: str | None

    def basis(self, method: str) -> str:
        """What the epsilon rests on."""
        if self.eps is None or method != EXACT:
            return "" if self.eps is None else method
        if self.interval is not None:
            low, high = ("-" if end is None else f"{end:.4g}" for end in self.interval)
            return f"in [{low}, {high}]"
        return "exact" if self.exact else "normal law"

    @property
    def certified(self) -> tuple[float, float] | None:
        """Where the epsilon surely lies, if that is known; what simulations found is not."""
        low, high = (self.epsilon if self.exact else self.interval) or (None, None)
        return None if high is None else (low or 0.0, high)


def _adversary_columns(eta: float | None, seen: Callable[[Any], Adversary | None]) -> list[Column]:
    def guessed(entry: Any) -> str:
        found = seen(entry)
        return "" if found is None else f"{100 * found.success_rate:.2f}%"

    def score(entry: Any) -> str:
        found = seen(entry)
        return "" if found is None or found.f_score is None else f"{found.f_score:.4f}"

    return [Column("guessed", guessed), *([] if eta is None else [Column("F-score", score)])]


def _notes(*notes: str, eta: float | None) -> str:
    about = [] if eta is None else [f"F-score: of telling who is at most {eta:g}"]
    return "  " + "; ".join([*notes, *about]) + "."


@frozen
class Case:
    """All protocols for one capacity and threshold."""

    capacity: float
    tau: float
    budgets: tuple[Budget, ...]


@frozen
class SmallestEpsilons(Answer):
    """All cases; the keys of the only budget stand beside them, too."""

    problem: About
    cases: tuple[Case, ...]
    eta: float | None = field(default=None, metadata=left_out())

    @property
    def said(self) -> tuple[Any, ...]:
        return (self, *(self.rows if len(self.rows) == 1 else ()))

    @property
    def rows(self) -> Sequence[Budget]:
        return [row for case in self.cases for row in case.budgets]

    def shown(self) -> Iterator[Grid | str]:
        about, searched = self.problem, "this search stops at an eps that looks right, with no error rate"
        columns = [
            Column("protocol", lambda row: row.protocol),
            Column("route", lambda row: row.route),
            Column("basis", lambda row: row.basis(about.method)),
            Column("eps", lambda row: "none in range" if row.eps is None else number(row.eps)),
            Column("Chebyshev", lambda row: number(row.chebyshev_eps)),
            *_adversary_columns(self.eta, lambda row: row.adversary),
        ]
        for case in self.cases:
            title = f"{self._wish(case).words}: {_population(about)}, capacity {case.capacity:,.12g}"
            yield table_of(title, columns, case.budgets, 3)
            yield from (f"  {row.protocol}: {row.reason}" for row in case.budgets if row.reason)
            notes = [f"{searched}: --method exact decides"] if about.method in SEARCHES else []
            yield _notes("Chebyshev: the eps his bound asks for", _GUESSED, *notes, eta=self.eta)
            yield ""

    def _wish(self, case: Case) -> Requirement:
        return Requirement(self.problem.metric, case.tau)

    def plot(self) -> Figure:
        """Epsilon over tau with a panel a capacity, or over the capacity where there are more of those."""
        from mechdesign import plot

        about, first = self.problem, self.cases[0]
        title = f"{_population(about)}: Pr[{about.metric.upper()}]"
        if len(self.cases) == 1:
            rows = [plot.Selection(row.protocol, "", row.eps, row.certified) for row in first.budgets]
            words = f"{self._wish(first).words}, capacity {first.capacity:,.12g}"
            return plot.selections(rows, f"{words}, {_population(about)}")
        over_caps = len(about.capacities) > len(about.taus)
        panels = []
        for fixed in sorted(about.taus if over_caps else about.capacities):
            lines: dict[str, list[tuple[float, float]]] = {}
            for case in self.cases:
                here, place = (case.tau, case.capacity) if over_caps else (case.capacity, case.tau)
                for row in case.budgets:
                    if here == fixed and row.eps is not None:
                        lines.setdefault(row.protocol, []).append((place, row.eps))
            named = f"tau = {fixed:g}" if over_caps else f"capacity {fixed:,.12g}"
            panels.append(plot.BudgetPanel(named, {name: sorted(line) for name, line in lines.items()}))
        return plot.budgets(panels, "capacity" if over_caps else "threshold tau", title)


def _population(about: About | AskedAt) -> str:
    return f"{about.households:,} households, total {about.true_total:,.12g}"


@frozen
class AskedAt:
    """Households, capacities, and the epsilon the events are asked for."""

    households: int
    true_total: float
    capacities: tuple[float, ...]
    epsilon: float
    requirements: tuple[str, ...]


@frozen
class Judged:
    """Which requirements the events under a protocol meet, and what one report gives away."""

    holds: Mapping[str, bool]
    adversary: Adversary | None


def _outlooks() -> dict[str, Any]:
    def shape(schemas: Any) -> dict[str, Any]:
        from mechdesign.studies.budgets.outlook import Outlook

        return {"type": "array", "items": schemas.merged(Outlook, Judged)}

    return shaped(shape)


@frozen
class EventsAt:
    """All protocols at one capacity: their outlooks, judged."""

    capacity: float
    protocols: tuple[Mapping[str, Any], ...] = field(metadata=_outlooks())


@frozen
class EventsAtEpsilon(Answer):
    """All capacities; the keys of the only row stand beside them, too."""

    problem: AskedAt
    cases: tuple[EventsAt, ...]
    eta: float | None = field(default=None, metadata=left_out())

    @property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        return [row for case in self.cases for row in case.protocols]

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | dict(self.rows[0] if len(self.rows) == 1 else {})

    def shown(self) -> Iterator[Grid | str]:
        about, events = self.problem, list(self.rows[0]["probability"])
        columns = [
            Column("protocol", lambda row: row["protocol"]),
            Column("computed by", lambda row: row["method"]),
            *map(_chance, events),
            Column("Chebyshev", lambda row: number(row["chebyshev"])),
        ]
        if self.eta is not None:
            columns += _adversary_columns(self.eta, lambda row: row["adversary"] and Adversary(**row["adversary"]))
        for case in self.cases:
            title = f"At eps = {about.epsilon:g}: {_population(about)}, capacity {case.capacity:,.12g}"
            yield table_of(title, columns, case.protocols, 2)
            for wish in about.requirements:
                met = [row["protocol"] for row in case.protocols if row["holds"][wish]]
                yield f"  {wish}: {', '.join(met) if met else 'none of them'}"
            loose = [f"{row['protocol']} {row['error']:.2g}" for row in case.protocols if row["error"] is not None]
            if loose:
                yield f"  The normal law is off by at most: {', '.join(loose)}."
            more = [] if self.eta is None else [_GUESSED]
            yield _notes("Chebyshev: his bound on the wrong alarm", *more, eta=self.eta)
            yield ""


def _chance(event: str) -> Column:
    return Column(f"Pr[{event}]", lambda row: number(row["probability"][event]))


def shapes() -> tuple[tuple[type, ...], ...]:
    """The classes whose fields are the JSON object of each answer."""
    from mechdesign.studies.budgets.outlook import Outlook

    alone: tuple[tuple[type, ...], ...] = ((SmallestEpsilons,), (EventsAtEpsilon,))
    return (*alone, (SmallestEpsilons, Budget), (EventsAtEpsilon, Outlook, Judged))
