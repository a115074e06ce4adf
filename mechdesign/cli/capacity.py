"""The smallest epsilon that keeps capacity alarms right (CAPRI): exactly, without simulation, or simulated.

Frequency protocols and unbiased numeric mechanisms (pm, hm, laplace, ..., certified) compete for the smallest epsilon
that meets --metric and --tau; with --at-eps the probabilities of all four events at that epsilon are computed instead.
Data are consumptions, one household a row. Lists are separated by commas.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from mechdesign import plot
from mechdesign.budget.alarms import SEARCHES, search_alarms
from mechdesign.budget.capacity import EVENTS, LEAST, MOST, PRECISION, Capacity, Requirement
from mechdesign.budget.capri import RUNS, SimulatedBudget, Totals, capri_from
from mechdesign.budget.capri_exact import chebyshev_budget
from mechdesign.budget.choice import FREQUENCY, Option, capacity_options
from mechdesign.budget.ledger import Memory, Say
from mechdesign.budget.mean_route import NAMES
from mechdesign.budget.outlook import Outlook
from mechdesign.budget.populations import POPULATIONS
from mechdesign.budget.runner import PARAMETERS, Settings, Store
from mechdesign.budget.searches import MOST_RUNS
from mechdesign.budget.simulation import ProtocolFamily
from mechdesign.cli import output
from mechdesign.cli.budget import parse_numbers, refuse_with_population
from mechdesign.cli.capacity_at import (
    GUESSED,
    Adversary,
    AtEpsilon,
    Judged,
    adversary_of,
    at_one_epsilon,
    f_score_words,
    in_words,
)
from mechdesign.cli.given import refuse_given
from mechdesign.cli.sent import Drawn
from mechdesign.cli.signatures import Part
from mechdesign.cli.users import read_users
from mechdesign.errors import InvalidInput, require_finite
from mechdesign.values.declare import frozen

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT, SIMULATED, RELAXED = "exact", "simulated", "relaxed"
_PARAMETERS: dict[str, Collection[str]] = {
    EXACT: (),
    **dict.fromkeys((SIMULATED, RELAXED), ("runs",)),
    **{name: PARAMETERS[name] for name in SEARCHES},
}
_METHODS = tuple(_PARAMETERS)
_SEARCHED = ["this search stops at an eps that looks right, with no error rate: --method exact decides"]
_HALVING = (SIMULATED, RELAXED, "rbs", "dbs")
_SHARE = 0.4  # of phi, which CAPRI-R moves less far unless told otherwise


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


@frozen
class Case:
    """All protocols for one capacity and threshold."""

    capacity: float
    tau: float
    budgets: tuple[Budget, ...]


@frozen
class Answer:
    """All cases; the keys of the only budget stand beside them, too."""

    problem: About
    cases: tuple[Case, ...]


ANSWERS = ((Answer,), (Answer, Budget), (AtEpsilon,), (AtEpsilon, Outlook, Judged))
EXAMPLE = "capacity -p grr,oue,pm --capacity 1700000 --metric fp --tau 0.05 --population water-like"


@frozen
class _Case:
    """One capacity and threshold with the options found for them."""

    capacity: Capacity
    requirement: Requirement
    options: list[Option]


def run(
    context: typer.Context,
    protocol: Annotated[
        str, typer.Option("--protocol", "-p", help=f"Names: grr, oue, ..., or numeric: {', '.join(NAMES)}.")
    ],
    capacity: Annotated[str, typer.Option("--capacity", help="The capacity all households share.")],
    settings: Annotated[
        Settings,
        Part(
            "error",
            runs=f"N, collections at an eps [all but {EXACT} and dbs: {RUNS}].",
            most_runs=f"N_max, the most collections at an eps [dbs: {MOST_RUNS}].",
        ),
    ],
    sent: Drawn,
    metric: Annotated[
        str | None, typer.Option("--metric", help=f"What the requirement is about: {', '.join(EVENTS)}.")
    ] = None,
    tau: Annotated[
        str | None, typer.Option("--tau", help="Pr[FP], Pr[FN] below it; Pr[TP], Pr[TN] at least it.")
    ] = None,
    at_eps: Annotated[
        float | None, typer.Option("--at-eps", help="Pr[TP], Pr[TN], Pr[FP], Pr[FN] at this epsilon, no search.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", "-d", help="Consumptions, one household a row.", metavar="FILE")
    ] = None,
    population: Annotated[
        str | None, typer.Option("--population", help="Instead of data: water-like or water-sample.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column with the consumptions.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All consumptions, A,B,C or LO..HI (else those observed).")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", "-m", help="exact, simulated (CAPRI), relaxed (CAPRI-R) or, of Optimus, rbs, dbs, mpass, bayes."
        ),
    ] = EXACT,
    phi: Annotated[
        float | None, typer.Option("--phi", help=f"The precision in eps [{', '.join(_HALVING)}: {PRECISION:g}].")
    ] = None,
    delta: Annotated[float | None, typer.Option("--delta", help="The relaxation of CAPRI-R, below phi / 2.")] = None,
    least: Annotated[float, typer.Option("--min-eps", help="The range starts here.")] = LEAST,
    most: Annotated[float, typer.Option("--max-eps", help="The range ends here.")] = MOST,
    eta: Annotated[
        float | None, typer.Option("--eta", help="Show how well an adversary tells who is at most eta.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Of simulations: the same gives the same numbers [0].")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option("--results", help="Keep simulations here; a stopped run resumes from it."),
    ] = None,
) -> None:
    sent.require_writable()
    if method not in _METHODS:
        raise InvalidInput("method", method, f"be one of {', '.join(_METHODS)}")
    if delta is not None and method != RELAXED:
        raise InvalidInput("delta", delta, f"come with --method {RELAXED}", f"add --method {RELAXED}")
    settings.require_used([method], _PARAMETERS)
    if method == EXACT:
        _require_no_simulation(seed=seed, results=results)
    if phi is not None and method not in _HALVING:
        raise InvalidInput("phi", phi, f"come with a method that stops by it: {', '.join(_HALVING)}", "add --method")
    if eta is not None:
        require_finite(eta, "eta")
    requirements = _requirements(metric, tau, at_eps)
    values, counts = _households(data, population, column, domain)
    names = list(dict.fromkeys(name.strip().lower() for name in protocol.split(",")))
    if eta is not None and set(names) <= {*NAMES}:
        rule = "come with a frequency protocol: what reports of numeric mechanisms tell is not computed"
        raise InvalidInput("eta", eta, rule, "drop --eta, or add for example grr to -p")
    caps = [Capacity(values, counts, cap) for cap in dict.fromkeys(parse_numbers(capacity, "capacity"))]
    if at_eps is not None:
        searching = ("method", "plot", "least", "most")
        refuse_given(context, searching, "be left out with --at-eps", "there is no search")
        at_one_epsilon(caps, names, at_eps, requirements, eta, as_json=sent.as_json, quiet=sent.quiet)
        return
    precision = PRECISION if phi is None else phi
    relaxed = 0.0 if method != RELAXED else (_SHARE * precision if delta is None else delta)
    told = settings.of("bs" if method in (SIMULATED, RELAXED) else method) if method != EXACT else {}
    store = Store(results)

    def options(asked: Capacity, requirement: Requirement, say: Say) -> list[Option]:
        say(f"capacity {asked.cap:,.12g}, {requirement.words}")
        if method == EXACT:
            return capacity_options(asked, requirement, names, least=least, most=most)
        search = partial(search_alarms, method=method) if method in SEARCHES else partial(capri_from, delta=relaxed)
        search = partial(search, least=least, most=most, phi=precision, **told)
        memories = [_memory(name, asked, seed or 0, store) for name in names]
        return _simulated(memories, requirement, search, say)

    with output.progress("computing", quiet=sent.quiet) as say:
        cases = store.around(
            lambda: [_Case(asked, wish, options(asked, wish, say)) for asked in caps for wish in requirements]
        )
    if all(option.epsilon is None for case in cases for option in case.options):
        raise _unmet(cases)
    if sent.plot is not None:
        sent.draw(_figure(cases, names))
    if sent.as_json:
        _print_json(cases, method, eta, (least, most))
        return
    for case in cases:
        _print(case, method, eta, (least, most))
    sent.say_saved(results)


def _require_no_simulation(**given: int | float | Path | None) -> None:
    """Options of simulated searches, which the exact route would not look at."""
    for option, value in given.items():
        if value is not None:
            rule = f"come with a --method that simulates: {', '.join(name for name in _METHODS if name != EXACT)}"
            raise InvalidInput(option, str(value), rule, "the exact route simulates nothing")


def _requirements(metric: str | None, tau: str | None, at_eps: float | None) -> list[Requirement]:
    if (metric is None) != (tau is None) or (metric is None and at_eps is None):
        step = "for example --metric fp --tau 0.05, or --at-eps 1 for the probabilities at an epsilon"
        raise InvalidInput("options", "--metric, --tau", "be given together", step)
    if metric is None or tau is None:
        return []
    return [Requirement(metric, value) for value in dict.fromkeys(parse_numbers(tau, "tau"))]


def _households(
    data: Path | None, population: str | None, column: str | None, domain: str | None
) -> tuple[list[float], Any]:
    if (data is None) == (population is None):
        raise InvalidInput("data", str(data), "be given, or --population", "for example --population water-like")
    if population is not None:
        if not population.startswith("water") or population not in POPULATIONS:
            raise InvalidInput("population", population, "be water-like or water-sample")
        refuse_with_population(column, domain)
        counts = POPULATIONS[population]()
        return [float(v) for v in range(counts.size)], counts
    assert data is not None
    found = read_users(data, column, domain, numeric=True)
    values = [float(label) for label in found.labels]
    order = np.argsort(values, kind="stable")
    return [values[k] for k in order], found.counts[order]


def _memory(name: str, capacity: Capacity, seed: int, store: Store) -> Memory[Totals]:
    if name in NAMES:
        raise InvalidInput("protocol", name, "be a frequency protocol for CAPRI by simulation", "use --method exact")
    asked = Totals(name, capacity, seed)
    return Memory(asked, store.entries_for(asked), store.keep)


def _simulated(
    memories: Sequence[Memory[Totals]], requirement: Requirement, search: Callable[..., SimulatedBudget], say: Say
) -> list[Option]:
    options = []
    for memory in memories:
        name, cap = memory.question.protocol, memory.question.capacity.cap
        where = f"{name}, capacity {cap:,.12g}, {requirement.words}"
        try:
            found = search(memory, requirement, say=partial(_say, say, where))
        except InvalidInput as error:
            if error.field != "requirement":
                raise
            options.append(Option(name, FREQUENCY, None, reason=str(error)))
            continue
        options.append(_simulated_option(name, found))
    return sorted(options, key=lambda option: (option.epsilon is None, option.epsilon or 0.0))


def _simulated_option(name: str, found: SimulatedBudget) -> Option:
    """The search's answer between the last epsilon that failed and the least that held, with what was seen at both.

    CAPRI-R returns an epsilon ``delta`` above the last; nothing was seen there. At the one of Bayes it may have failed.
    """
    failed = [test for test in found.tested if not test.holds and test.epsilon <= found.epsilon]
    last = max(failed, key=lambda test: test.epsilon, default=None)
    met = min((test for test in found.tested if test.holds), key=lambda test: test.epsilon, default=None)
    ends = [(None, None) if test is None else (test.epsilon, test.probability) for test in (last, met)]
    (low, low_chance), (high, high_chance) = ends
    return Option(name, FREQUENCY, found.epsilon, bracket=(low, high), probability=(low_chance, high_chance))


def _unmet(cases: Sequence[_Case]) -> InvalidInput:
    """The error where nothing has an answer: what each reached."""
    first = cases[0]
    best = [f"{option.name}: {option.reason.rpartition('; ')[2]}" for option in first.options]
    return InvalidInput("requirement", first.requirement.words, "be met by some eps in the range", "; ".join(best))


def _say(say: Say, where: str, text: str) -> None:
    say(f"{where}, {text}")


# -- what leaves ------------------------------------------------------------------------------------------------------


def _basis(option: Option, method: str) -> str:
    if option.epsilon is None:
        return ""
    if method != EXACT:
        return method
    if option.interval is not None:
        low, high = ("-" if end is None else f"{end:.4g}" for end in option.interval)
        return f"in [{low}, {high}]"
    return "exact" if option.exact else "normal law"


def _adversary(case: _Case, option: Option, eta: float | None) -> Adversary | None:
    """What one report gives away at the selected epsilon, for frequency protocols."""
    if option.epsilon is None or option.route != FREQUENCY:
        return None
    return adversary_of(case.capacity, option.name, option.epsilon, eta)


def _chebyshev(case: _Case, option: Option, span: tuple[float, float]) -> float | None:
    if option.route != FREQUENCY or option.epsilon is None:
        return None
    return chebyshev_budget(case.capacity, case.requirement, ProtocolFamily(option.name), least=span[0], most=span[1])


def _row(case: _Case, option: Option, eta: float | None, span: tuple[float, float]) -> Budget:
    is_met = option.epsilon is not None
    return Budget(
        option.name,
        option.route,
        option.epsilon,
        option.bracket if is_met else None,
        option.probability if is_met else None,
        option.exact,
        option.interval,
        _chebyshev(case, option, span),
        _adversary(case, option, eta),
        option.reason or None,
    )


def _print_json(cases: Sequence[_Case], method: str, eta: float | None, span: tuple[float, float]) -> None:
    first = cases[0]
    capacities, taus = ({c.capacity.cap: None for c in cases}, {c.requirement.tau: None for c in cases})
    households = first.capacity.users, first.capacity.total
    about = About(*households, tuple(capacities), tuple(taus), first.requirement.event, method, span)
    found = tuple(
        Case(
            case.capacity.cap,
            case.requirement.tau,
            tuple(_row(case, option, eta, span) for option in case.options),
        )
        for case in cases
    )
    rows = [row for case in found for row in case.budgets]
    output.print_json(Answer(about, found), rows[0] if len(rows) == 1 else None)


def _print(case: _Case, method: str, eta: float | None, span: tuple[float, float]) -> None:
    headings = ["protocol", "route", "basis", "eps", "Chebyshev", "guessed"]
    if eta is not None:
        headings.append("F-score")
    rows = []
    for option in case.options:
        seen, bound = _adversary(case, option, eta), _chebyshev(case, option, span)
        row = [
            option.name,
            option.route,
            _basis(option, method),
            "none in range" if option.epsilon is None else output.number(option.epsilon),
            "" if bound is None else output.number(bound),
            *in_words(seen, eta),
        ]
        rows.append(row)
    title = (
        f"{case.requirement.words}: {case.capacity.users:,} households, total {case.capacity.total:,.12g}, "
        f"capacity {case.capacity.cap:,.12g}"
    )
    output.print_table(title, headings, rows, left=3)
    for option in case.options:
        if option.reason:
            output.console.print(f"  {option.name}: {option.reason}", soft_wrap=True)
    notes = [
        "Chebyshev: the eps his bound asks for",
        GUESSED,
        *(_SEARCHED if method in SEARCHES else []),
        *([] if eta is None else [f_score_words(eta)]),
    ]
    output.console.print("  " + "; ".join(notes) + ".", soft_wrap=True)
    output.console.print()


def _figure(cases: Sequence[_Case], names: Sequence[str]) -> Figure:
    """Epsilon over tau with a panel a capacity, or over the capacity where there are more of those."""
    taus, caps = sorted({c.requirement.tau for c in cases}), sorted({c.capacity.cap for c in cases})
    first = cases[0]
    asked, event = first.capacity, first.requirement.event.upper()
    title = f"{asked.users:,} households, total {asked.total:,.12g}: Pr[{event}]"
    if len(cases) == 1:
        rows = [plot.Selection(option.name, "", option.epsilon, _certified(option)) for option in first.options]
        return plot.selections(
            rows, f"{first.requirement.words}, capacity {asked.cap:,.12g}, {title.partition(':')[0]}"
        )
    over_caps = len(caps) > len(taus)
    panels = []
    for fixed in taus if over_caps else caps:
        lines: dict[str, list[tuple[float, float]]] = {}
        for case in cases:
            here = case.requirement.tau if over_caps else case.capacity.cap
            place = case.capacity.cap if over_caps else case.requirement.tau
            for option in case.options:
                if here == fixed and option.epsilon is not None:
                    lines.setdefault(option.name, []).append((place, option.epsilon))
        named = {name: sorted(lines[name]) for name in dict.fromkeys([*names, *lines]) if name in lines}
        panels.append(plot.BudgetPanel(f"tau = {fixed:g}" if over_caps else f"capacity {fixed:,.12g}", named))
    return plot.budgets(panels, "capacity" if over_caps else "threshold tau", title)


def _certified(option: Option) -> tuple[float, float] | None:
    """Where the epsilon surely lies, if that is known; what simulations found is not."""
    low, high = option.bracket if option.exact else option.interval or (None, None)
    return None if high is None else (low or 0.0, high)
