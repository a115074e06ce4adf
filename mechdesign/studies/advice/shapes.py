"""Advice on how numbers are spread: square waves made a histogram by EM, against protocols whose items are bins.

No formula gives the error of an EM estimate, so both kinds are simulated in the same way: collections of the same
users, as many as are asked about, whose estimates are compared with the true shares of the same bins. Without data the
users are made, of three shapes: even, a bell, and falling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.bits import MOST_BITS
from mechdesign.intervals import CONFIDENCE, LEAST_RUNS, interval_of_runs
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.methods.registry import solve
from mechdesign.methods.workload.supports import LEAST_EPSILON, MOST_EPSILON
from mechdesign.studies.advice.answer import Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, number, python, to_an_answer
from mechdesign.studies.advice.question import Numbers, Question, numbers_of
from mechdesign.studies.advice.shares import ONE_TIME
from mechdesign.studies.frequencies.em_histogram import MOST_BINS, fine_bins
from mechdesign.studies.frequencies.postprocess import norm_sub
from mechdesign.studies.frequencies.protocols.catalogue import protocol
from mechdesign.studies.frequencies.protocols.designed import Designed, designed
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.shipping import SHIPPED
from mechdesign.studies.frequencies.square_wave import (
    EM_SLACK,
    MOST_STEPS,
    TOLERANCE,
    Reconstruction,
    em,
    ems,
    square_wave_channel,
)
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Ranges, Workload

EM, EMS = "sw-em", "sw-ems"
OPTIMUM = "workload optimum"
BINS = 20
RUNS = 12
_ATOMS = 512  # places that values are rounded to for the simulation of square waves
_SLOW_RUNS = LEAST_RUNS  # of reconstructions, which may be slow; further ones end at so many multiplications
_MOST_WORK = 10**9
_SEED = 17
_TABLE = "wave.table.json"
_DESIGN, _DESIGN_TABLE = "ranges.json", "ranges.table.json"
_BINS, _BINS_TABLE = "bins.csv", "bins.table.json"
_DESIGN_GAP, _WIDE_GAP = 0.03, 0.06  # of the noise: an error, its root, is within half of it
MOST_DESIGNED = 48
"""Bins for which the optimum is found while one waits; beyond `MOST_BITS` to the wider gap."""
Measure = Callable[[Floats, Floats], float]
"""The error of an estimate, from the true shares and the estimated ones."""

UNITS = {
    "distribution": "sum over the bins of the absolute errors of their shares",
    "ranges": "root mean squared error of the share of a range of bins, over all ranges",
}


@frozen
class Population:
    """Users by place, and by bin: ``held[b]`` of them in bin b."""

    places: Floats = array()
    users: Counts = array(lambda said: np.asarray(said, dtype=np.int64))
    held: Counts = array(lambda said: np.asarray(said, dtype=np.int64))

    @property
    def shares(self) -> Floats:
        return np.asarray(self.held / self.held.sum())


def advise_shape(question: Question) -> Advice:
    """The least error of a histogram, or of all ranges: a distribution function is made of those."""
    numbers = numbers_of(question, whole_too=True)
    bins = _bins(question, numbers)
    users = question.users(None if numbers.values is None else numbers.values.size)
    inputs = span_of(numbers)
    people = populations(numbers, bins, users)
    rated = shape_field(question.want, question.epsilon, inputs, people)
    made = None if numbers.values is not None else "There are no data: users are made, even, as a bell and falling."
    wave = next((one for one in rated if one.mechanism in (EM, EMS)), None)
    binned = next(one for one in rated if one.mechanism in ONE_TIME)
    slow = sorted({EM, EMS} - {one.mechanism for one in rated})
    why = (
        f"Of {len(rated)} ways to estimate the shares of {bins} bins of {inputs} from {users} users, "
        f"{rated[0].mechanism} has the least error "
        f"in simulated collections.",
        f"The best protocol on bins, its estimate made a distribution by norm-sub, is {binned.mechanism} "
        f"({binned.expected_error.ends})"
        + (f"; the best square wave {wave.mechanism} ({wave.expected_error.ends})." if wave is not None else "."),
        f"Not settled within {MOST_STEPS} steps of EM: {', '.join(slow)}." if slow else None,
        made,
        _with_proof(question, bins),
        numbers.warning,
    )
    commands, later = _commands(question, inputs, bins, users, [one.mechanism for one in rated])
    return advice(question.want, question.epsilon, users, rated, why, commands, later)


def _with_proof(question: Question, bins: int) -> str:
    """The way to answers without bias that are proven to have the least noise."""
    queries = "ranges" if question.want == "ranges" else "histogram"
    asked = f"workload --eps {question.epsilon:g} --queries {queries} --size {bins}"
    return f"Unbiased answers with the least noise there is, proven: {asked} (a distribution function: prefix)."


def span_of(numbers: Numbers) -> Interval:
    """The interval that bins divide; whole numbers are the middles of theirs."""
    inputs = numbers.inputs
    return Interval(inputs.lower - 0.5, inputs.upper + 0.5) if isinstance(inputs, Finite) else inputs


def populations(numbers: Numbers, bins: int, users: int) -> list[Population]:
    """The users in the data, scaled to as many as are asked about; without data three made populations."""
    inputs = span_of(numbers)
    if numbers.values is not None:
        return [_population(*_counted(numbers.values, inputs), inputs, bins, users)]
    fine = bins * math.ceil(_ATOMS / bins)
    grid = (np.arange(fine) + 0.5) / fine
    shapes = (np.ones(grid.size), np.exp(-0.5 * ((grid - 0.5) / 0.15) ** 2), np.exp(-5 * grid))
    places = inputs.lower + inputs.length * grid
    return [_population(places, shape, inputs, bins, users) for shape in shapes]


def shape_field(want: str, epsilon: float, inputs: Interval, people: list[Population], runs: int = RUNS) -> list[Rated]:
    """Ways to a histogram by the average error in simulated collections, each with the interval it is in."""
    measure = _ranges_error if want == "ranges" else _sum_of_errors
    bins = people[0].held.size
    errors = {key: _of_law(protocol(key, epsilon, bins), people, runs, measure) for key in ONE_TIME}
    if want == "ranges" and bins <= MOST_DESIGNED and LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        errors[OPTIMUM] = _of_law(ranges_optimum(epsilon, bins), people, runs, measure)
    errors |= _of_waves(epsilon, inputs, people, runs, measure)
    return ranked(Rated(key, _simulated(values, UNITS[want])) for key, values in errors.items())


def ranges_optimum(epsilon: float, bins: int) -> Designed:
    """The mechanism with the least noise over all ranges, proven, as a protocol (a histogram's is subset selection)."""
    problem = Problem(loss=Workload(Ranges(bins)), privacy=Pure(epsilon), criterion=Average())
    try:
        return designed(solve(problem, gap=_gap_of(bins)))
    except NoAnswer as stopped:  # a mechanism is as good as it is, whatever could be proven
        if stopped.design is None:
            raise
        return designed(stopped.design)


def _gap_of(bins: int) -> float:
    return _DESIGN_GAP if bins <= MOST_BITS else _WIDE_GAP


def _of_law(law: FrequencyProtocol, people: Sequence[Population], runs: int, measure: Measure) -> Floats:
    """The error of each run, averaged over the populations."""
    rng = np.random.default_rng(_SEED)
    errors = np.empty((runs, len(people)))
    for place, population in enumerate(people):
        users = int(population.held.sum())
        for run in range(runs):
            estimate = norm_sub(law.estimate(law.simulate(population.held, rng), users))
            errors[run, place] = measure(population.shares, estimate)
    return np.asarray(errors.mean(axis=1))


def _of_waves(
    epsilon: float, inputs: Interval, people: Sequence[Population], runs: int, measure: Measure
) -> dict[str, Floats]:
    """EM and EM with smoothing on the same reports; what does not converge is left out."""
    mechanism, rng = catalogue.sw(epsilon, inputs), np.random.default_rng(_SEED)
    bins = people[0].held.size
    fine = fine_bins(bins)
    channel = square_wave_channel(mechanism, fine)
    edges = np.linspace(mechanism.outputs.lower, mechanism.outputs.upper, fine + 1)
    slack = {EM: TOLERANCE * min(math.exp(epsilon), EM_SLACK), EMS: TOLERANCE}
    laws = [_law_of_bins(mechanism, population.places, edges) for population in people]
    climbs: dict[str, Callable[..., Reconstruction]] = {EM: em, EMS: ems}
    errors: dict[str, list[float]] = {key: [] for key in climbs}
    work = dict.fromkeys(climbs, 0)
    for run in range(runs):
        seen = [
            rng.multinomial(population.users, law).sum(axis=0) for population, law in zip(people, laws, strict=True)
        ]
        for key in list(errors):
            if run >= _SLOW_RUNS and work[key] > _MOST_WORK:
                continue
            try:
                found = [climbs[key](counts, channel, inputs, slack[key]) for counts in seen]
            except NoAnswer:
                del errors[key]
                continue
            work[key] += fine**2 * sum(one.steps for one in found)
            estimates = [one.weights.reshape(bins, -1).sum(axis=1) for one in found]
            off = [measure(group.shares, estimate) for group, estimate in zip(people, estimates, strict=True)]
            errors[key].append(float(np.mean(off)))
    return {key: np.asarray(values) for key, values in errors.items()}


def _law_of_bins(mechanism: ScalarMechanism, places: Floats, edges: Floats) -> Floats:
    """The chance of each bin of reports, a row for each place."""
    law = np.clip(np.diff(mechanism.cdf(edges[None, :], places[:, None]), axis=1), 0.0, None)
    return np.asarray(law / law.sum(axis=1, keepdims=True))


def _sum_of_errors(truth: Floats, estimate: Floats) -> float:
    return float(np.abs(truth - estimate).sum())


def _ranges_error(truth: Floats, estimate: Floats) -> float:
    """The root mean square, over all ranges from bin a to bin b, of the error of their share.

    With S_0 = 0 and S_b the errors summed up to bin b, ranges are the pairs of these ``bins + 1`` sums.
    """
    sums = np.concatenate([[0.0], np.cumsum(estimate - truth)])
    pairs = sums.size * (sums.size - 1) / 2
    return math.sqrt(max(0.0, float(sums.size * (sums**2).sum() - sums.sum() ** 2)) / pairs)


def _simulated(values: Floats, unit: str) -> Expected:
    found = interval_of_runs(values)
    assert found is not None
    basis = f"simulated: {100 * CONFIDENCE:g}% interval over {values.size} collections"
    return Expected(max(0.0, found[0]), found[1], unit, basis)


def _population(places: Floats, weights: Floats, inputs: Interval, bins: int, users: int) -> Population:
    many = _shared(weights, users)
    position = np.minimum((places - inputs.lower) / inputs.length * bins, bins - 1).astype(np.int64)
    return Population(places, many, np.bincount(position, weights=many, minlength=bins).round())


def _counted(values: Floats, inputs: Interval) -> tuple[Floats, Floats]:
    """Places and how many users hold each; where those are many, the middles of narrow bins."""
    places, counts = np.unique(values, return_counts=True)
    if places.size > _ATOMS:
        edges = np.linspace(inputs.lower, inputs.upper, _ATOMS + 1)
        counts, places = np.histogram(values, edges)[0], (edges[1:] + edges[:-1]) / 2
    return places, counts.astype(np.float64)


def _shared(weights: Floats, users: int) -> Counts:
    """So many users shared out in proportion, by largest remainders."""
    wanted = weights / weights.sum() * users
    counts: Counts = np.floor(wanted).astype(np.int64)
    missing = users - int(counts.sum())
    counts[np.argsort(counts - wanted, kind="stable")[:missing]] += 1
    return np.asarray(counts)


def _bins(question: Question, numbers: Numbers) -> int:
    points = len(numbers.inputs) if isinstance(numbers.inputs, Finite) else None
    if points is not None and points > MOST_BINS:
        points = None
    bins = question.size if question.size is not None else points or BINS
    if not 2 <= bins <= MOST_BINS:
        raise InvalidInput("size", bins, f"be from 2 to {MOST_BINS} bins")
    if points is not None and bins != points:
        raise InvalidInput("size", bins, f"be {points}, one bin for each whole number", "drop --size")
    return bins


def _commands(
    question: Question, inputs: Interval, bins: int, users: int, names: list[str]
) -> tuple[tuple[str, ...], str | None]:
    eps, best, source = question.epsilon, names[0], question.source
    if best in (EM, EMS):
        ends = f"{number(inputs.lower)},{number(inputs.upper)}"
        table = command("table", eps=eps, mechanism="sw", domain=ends, out=_TABLE)
        then, later = to_an_answer(_TABLE, source, question.column, bins=bins, smooth=best == EMS)
        return (table, *([command("verify", _TABLE)] if source is None else []), *then), later
    made, table = _of_bins(eps, bins, names), _DESIGN_TABLE if best == OPTIMUM else _BINS_TABLE
    if source is None:
        then, later = to_an_answer(table, None, None)
        look = command("protocols", eps=eps, size=bins, users=users)
        return (*made, *then, *([] if best == OPTIMUM else [look])), later
    width = number(inputs.length / bins)
    program = (
        "import numpy as np; from mechdesign.words.priors import values_of_file as read; "
        f"bins = (read({str(source)!r}, {question.column!r}) - {number(inputs.lower)}) // {width}; "
        f"np.savetxt('{_BINS}', np.clip(bins, 0, {bins - 1}), fmt='%d', header='bin', comments='')"
    )
    then, later = to_an_answer(table, _BINS, "bin")
    return (*made, python(program), *then), later


def _of_bins(epsilon: float, bins: int, names: Sequence[str]) -> tuple[str, ...]:
    """The commands to a table on the numbers of bins: the optimum, or the best protocol that has one."""
    if names[0] == OPTIMUM:
        gap = None if bins <= MOST_BITS else _gap_of(bins)
        asked = command("workload", eps=epsilon, queries="ranges", size=bins, gap=gap, out=_DESIGN)
        return asked, command("table", _DESIGN, out=_DESIGN_TABLE)
    shipped = next(name for name in names if name in SHIPPED)
    return (command("table", eps=epsilon, protocol=shipped, size=bins, out=_BINS_TABLE),)
