"""The table of certified constants: the best any epsilon-LDP mechanism can do, to the digits that are proven.

Every row is an interval: the lower end holds for all mechanisms of its class and is printed rounded down, the upper end
is attained by a mechanism and is printed rounded up, so the digits the two share are digits of the optimum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.methods.result import Design, is_open
from mechdesign.values.declare import evolved, frozen
from mechdesign.values.digits import DIGITS, rounded_down, rounded_up, shared_digits, shortest
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.domains import Interval, cube_of
from mechdesign.words.losses import Squared, parse_loss
from mechdesign.words.priors import parse_prior
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Sphere

EPSILONS = (0.5, 1.0, 2.0, 4.0)
LOSSES = ("absolute", "squared")
UNBIASED_PRIORS = ("uniform", "normal:0,0.1", "normal:0,0.2", "exponential:6", "beta:0.5,0.5")
WORST, AVERAGE, UNBIASED, SEVERAL = "worst case", "average", "unbiased", "several"
UNBIASED_WORST, DIRECTIONS = "unbiased worst", "directions"
CRITERIA = (WORST, AVERAGE, UNBIASED, UNBIASED_WORST, SEVERAL, DIRECTIONS)
SEVERAL_NUMBERS = (2, 3, 5, 10)
COORDINATES = (2, 3, 10, 100, 1024)

_MOST_DIGITS = 17
_UNIT, _SYMMETRIC = Interval(0.0, 1.0), Interval(-1.0, 1.0)
_UNBIASED_GRID = 33
_FURTHER = 8.0  # the epsilon that the usual rows without a prior and a bias go on to


@frozen
class Constant:
    """One certified optimum: ``lower <= optimum <= upper`` over ``valid_for``."""

    criterion: str
    loss: str
    prior: str
    inputs: str
    epsilon: float
    lower: float
    upper: float
    valid_for: str
    claimed: bool
    command: str

    def digits(self) -> str:
        """The digits that are proven: those on which both ends agree.

        >>> Constant("", "", "", "", 2.0, 0.200820041, 0.200820489, "", False, "").digits()
        '0.200820'
        """
        return shared_digits(self.lower, self.upper)

    def echo(self) -> dict[str, str]:
        """The digits that are proven."""
        return {"digits": self.digits()}


def certified_constants(
    gap: float = 1e-5,
    criteria: Sequence[str] = CRITERIA,
    epsilons: Sequence[float] = EPSILONS,
    seconds: float | None = None,
    *,
    best_so_far: bool = False,
) -> Iterator[Constant]:
    """Every row of the table, one at a time, each solved and proven anew.

    ``gap`` is the relative gap of the worst-case rows (averages are narrower, unbiased rows at least 1e-4), ``seconds``
    the most that a row may take; if it takes longer, `NoAnswer`, or with ``best_so_far`` the interval found until then.

    >>> row = next(certified_constants(1e-4, ["worst case"], [0.5]))
    >>> row.loss, row.digits()[:6], row.valid_for
    ('absolute', '0.3952', 'all mechanisms')
    """
    for criterion in criteria:
        if criterion not in CRITERIA:
            raise InvalidInput("criterion", criterion, f"be one of {', '.join(CRITERIA)}")
    limits = Limits(seconds, best_so_far)
    if WORST in criteria:
        yield from _worst_case(gap, epsilons, limits)
    if AVERAGE in criteria:
        yield from _average(min(gap, 1e-6), epsilons, limits)
    if UNBIASED in criteria:
        yield from _unbiased(max(gap, 1e-4), epsilons, limits)
    if UNBIASED_WORST in criteria:
        yield from _unbiased_worst(max(gap, 1e-4), epsilons, limits)
    if SEVERAL in criteria:
        yield from _several(epsilons)
    if DIRECTIONS in criteria:
        yield from _directions(epsilons)


@frozen
class Limits:
    """The seconds a row may take, and whether the best design found then stands for the optimum."""

    seconds: float | None
    best_so_far: bool

    def solve(self, problem: Problem, gap: float, **options: Any) -> Design:
        from mechdesign.methods.registry import solve

        try:
            return solve(problem, self.seconds, gap=gap, **options)
        except NoAnswer as stopped:
            if not self.best_so_far or not isinstance(stopped.design, Design):
                raise
            return stopped.design


def _worst_case(gap: float, epsilons: Sequence[float], limits: Limits) -> Iterator[Constant]:
    for loss in LOSSES:
        for epsilon in epsilons:
            problem = Problem(inputs=_UNIT, loss=parse_loss(loss), privacy=Pure(epsilon))
            design = limits.solve(problem, gap)
            command = f"minimax --eps {shortest(epsilon)} --loss {loss} --gap {shortest(gap)}"
            yield _row(design, WORST, loss, "-", _UNIT, command)


def _average(gap: float, epsilons: Sequence[float], limits: Limits) -> Iterator[Constant]:
    prior = parse_prior("uniform", _UNIT)
    for loss in LOSSES:
        for epsilon in epsilons:
            criterion = Average(prior)
            problem = Problem(inputs=_UNIT, loss=parse_loss(loss), privacy=Pure(epsilon), criterion=criterion)
            design = limits.solve(problem, gap)
            options = f"--loss {loss} --criterion prior --prior uniform --gap {shortest(gap)}"
            command = f"minimax --eps {shortest(epsilon)} {options}"
            yield _row(design, AVERAGE, loss, "uniform", _UNIT, command)


def _unbiased(gap: float, epsilons: Sequence[float], limits: Limits) -> Iterator[Constant]:
    for name in UNBIASED_PRIORS:
        prior = parse_prior(name, _SYMMETRIC)
        for epsilon in epsilons:
            privacy, criterion = Pure(epsilon), Average(prior)
            problem = Problem(inputs=_SYMMETRIC, loss=Squared(), privacy=privacy, criterion=criterion, among=Unbiased())
            design = limits.solve(problem, gap, size=_UNBIASED_GRID)
            options = f"--unbiased --domain=-1,1 --prior {name} --gap {shortest(gap)}"
            command = f"minimax --eps {shortest(epsilon)} {options}"
            rounded = f"{design.certificate.valid_for}, under the prior rounded to {_UNBIASED_GRID} inputs"
            yield evolved(_row(design, UNBIASED, "squared", name, _SYMMETRIC, command), valid_for=rounded)


def _unbiased_worst(gap: float, epsilons: Sequence[float], limits: Limits) -> Iterator[Constant]:
    for epsilon in (*epsilons, *_further(epsilons)):
        problem = Problem(inputs=_SYMMETRIC, loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
        design = limits.solve(problem, gap)
        command = f"minimax --eps {shortest(epsilon)} --unbiased --domain=-1,1 --gap {shortest(gap)}"
        yield _row(design, UNBIASED_WORST, "squared", "-", _SYMMETRIC, command)


def _further(epsilons: Sequence[float]) -> tuple[float, ...]:
    return (_FURTHER,) if tuple(epsilons) == EPSILONS else ()


def _several(epsilons: Sequence[float]) -> Iterator[Constant]:
    from mechdesign.methods.registry import solve

    for count in SEVERAL_NUMBERS:
        for epsilon in (*epsilons, *_further(epsilons)):
            problem = Problem(inputs=cube_of(count), loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
            command = f"vector --count {count} --eps {shortest(epsilon)} --by signs"
            design = solve(problem, method="sign_patterns")
            yield _row(design, SEVERAL, f"squared, {count} numbers", "-", _SYMMETRIC, command)


def _directions(epsilons: Sequence[float]) -> Iterator[Constant]:
    from mechdesign.methods.registry import solve

    for count in COORDINATES:
        for epsilon in (*epsilons, *_further(epsilons)):
            problem = Problem(inputs=Sphere(count), loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
            words = f"inputs=md.Sphere({count}), loss=md.Squared(), privacy=md.Pure({shortest(epsilon)})"
            command = f"md.solve(md.Problem({words}, among=md.Unbiased()))"
            loss = f"squared, {count} coordinates"
            yield _row(solve(problem), DIRECTIONS, loss, "-", "unit spheres", command)


def _row(design: Design, criterion: str, loss: str, prior: str, inputs: Interval | str, command: str) -> Constant:
    certificate = design.certificate
    if is_open(design) and criterion not in (SEVERAL, DIRECTIONS):
        command += " --best-so-far"
    return Constant(
        criterion,
        loss,
        prior,
        inputs if isinstance(inputs, str) else f"[{inputs.lower:g}, {inputs.upper:g}]",
        design.problem.epsilon,
        certificate.lower,
        certificate.upper,
        certificate.valid_for,
        certificate.claimed,
        command,
    )


# -- as a document ----------------------------------------------------------------------------------------------------

_HEAD = """\
# Certified constants of local differential privacy

The best any epsilon-LDP mechanism can do, generated by `make constants`. In every row the optimum lies between the two
ends. The lower end holds for all mechanisms of the class, with any outputs, and was derived in rational arithmetic from
stored evidence with a rational upper bound of e^eps; it is printed rounded down. The upper end is attained by a
mechanism whose privacy was computed exactly; it is printed rounded up. *Proven digits* are those the two ends share.
Rows marked *claimed* rest on quadrature or a solver instead. `python -m mechdesign` before the command of a row gives
the mechanism itself and its evidence. A continuous prior enters an average through cells (the mass, mean and variance
it has on each): those rows hold for every prior with the same cells. Where no command asks a question a row has Python,
after `import mechdesign as md`.
"""

_TITLES = {
    WORST: "Worst case of the expected error over the inputs",
    AVERAGE: "Average of the expected error under a prior",
    UNBIASED: f"Variance under a prior, unbiased for every input (prior rounded to {_UNBIASED_GRID} equispaced inputs)",
    UNBIASED_WORST: "Variance at the worst input, unbiased for every input",
    SEVERAL: "Variance of several numbers of one person together, worst case, unbiased",
    DIRECTIONS: "Variance of all coordinates of a vector of length 1 together, worst case, unbiased",
}


def as_markdown(constants: Iterable[Constant]) -> str:
    """The document CERTIFIED.md."""
    rows = list(constants)
    parts = [_HEAD]
    for criterion in dict.fromkeys(row.criterion for row in rows):
        chosen = [row for row in rows if row.criterion == criterion]
        domain = chosen[0].inputs
        parts.append(f"## {_TITLES[criterion]}, inputs in {domain}\n")
        parts.append("| loss | prior | eps | lower | upper | proven digits | class | command |")
        parts.append("|---|---|---|---|---|---|---|---|")
        parts += [_markdown_row(row) for row in chosen]
        parts.append("")
    return "\n".join(parts)


def _markdown_row(row: Constant) -> str:
    digits = f"{row.digits()} (claimed)" if row.claimed else row.digits() or "-"
    # as many as are needed to tell the ends apart
    shown = max(DIGITS, min(_MOST_DIGITS, 2 + sum(mark.isdigit() for mark in row.digits().lstrip("0."))))
    cells = (
        row.loss,
        row.prior,
        shortest(row.epsilon),
        rounded_down(row.lower, shown),
        rounded_up(row.upper, shown),
        digits,
        row.valid_for,
        f"`{row.command}`",
    )
    return f"| {' | '.join(cells)} |"
