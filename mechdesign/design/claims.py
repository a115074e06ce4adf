"""What a saved certificate without evidence may say: designs whose lower bound a solver or doubles only claim.

The question is read from the problem as values; the upper end must be what the mechanism attains, computed again here
in doubles. The lower end stays a claim. Where every design of a kind has evidence, a file without it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mechdesign.design.evidence import EVERYWHERE, IN_CLASS, ONE_PIECE
from mechdesign.design.finite.proof import EVERYWHERE_ON_OUTPUTS
from mechdesign.design.piecewise.proof import is_hardest_input, piecewise_fields
from mechdesign.design.result import Certificate
from mechdesign.domains import Circle, Interval
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.losses import Power, parse_loss
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.mechanisms.window import Window

EACH_COORDINATE = "an independent piecewise mechanism for each coordinate"

_DOUBLES = 1e-9  # relative: how near two ways to compute an error in doubles come
_SEARCHED = 1e-6  # relative: how near a search over inputs comes to the worst of them
_PROVEN_EXPONENTS = (1.0, 2.0)


def statement_of_claim(
    problem: Mapping[str, Any], mechanism: Mechanism | Product, certificate: Certificate
) -> Statement:
    """The question a claimed certificate is about, or `FileProblem` if its ends or its words do not fit."""
    match problem.get("kind"), mechanism:
        case "piecewise", Piecewise():
            statement = _piecewise(problem, mechanism, certificate)
        case "minimax", Window():
            statement = _minimax(problem, mechanism, certificate)
        case "polar", Product():
            statement = _polar(problem, mechanism, certificate)
        case "custom", Discrete():
            statement = _custom(problem, mechanism)
        case kind, _:
            rule = "be there: every such design has one"
            raise FileProblem("certificate evidence", f"null for the kind {kind!r} and {mechanism.name}", rule)
    if certificate.valid_for != statement.scope:
        raise FileProblem("certificate valid_for", certificate.valid_for, f"be {statement.scope!r}")
    return statement


def _piecewise(problem: Mapping[str, Any], mechanism: Piecewise, certificate: Certificate) -> Statement:
    if mechanism.window != AffineWindow():
        raise CheckFailed("the mechanism's windows are not centred at the input")
    period = mechanism.inputs.period if isinstance(mechanism.inputs, Circle) else None
    loss = _power(problem.get("loss"), period)
    criterion, x = _asked_at(problem, mechanism)
    fields = piecewise_fields(problem, mechanism, x)
    if fields["pieces"] is None and loss.exponent == int(loss.exponent):
        raise FileProblem("certificate evidence", None, f"be there: a design for the {loss.name} error has one")
    scope = EVERYWHERE if period is not None else IN_CLASS
    if fields["pieces"] is not None:
        scope = ONE_PIECE if fields["pieces"] == 1 else scope
    _require_attained(certificate, float(mechanism.expected_loss(x, loss)), _DOUBLES)
    said = {"epsilon": mechanism.epsilon, "loss": loss.name, "criterion": criterion.words}
    return stated(problem, fields | said, criterion, loss.name, scope)


def _asked_at(problem: Mapping[str, Any], mechanism: Piecewise) -> tuple[Criterion, float]:
    """The criterion, and the input it is decided at: for the worst case the hardest."""
    inputs, said = mechanism.inputs, problem.get("criterion")
    if said == Aim.WORST.value:
        if isinstance(inputs, Circle):
            return Criterion(Aim.WORST), inputs.middle
        return Criterion(Aim.WORST), next(x for x in (inputs.lower, inputs.upper) if is_hardest_input(mechanism, x))
    try:
        criterion = Criterion(Aim.AT, float(str(said).removeprefix("at ")))
    except ValueError:
        criterion = Criterion(Aim.WORST)
    if isinstance(inputs, Circle) or criterion.x is None or criterion.words != said:
        raise FileProblem("problem criterion", said, "be the worst case, or at an input of an interval")
    if not inputs.lower <= criterion.x <= inputs.upper:
        raise FileProblem("problem criterion", said, f"be about one of the inputs {inputs}")
    return criterion, criterion.x


def _minimax(problem: Mapping[str, Any], mechanism: Window, certificate: Certificate) -> Statement:
    loss, criterion = _power(problem.get("loss"), None), Criterion(Aim.WORST)
    if loss.exponent in _PROVEN_EXPONENTS:
        raise FileProblem("certificate evidence", None, f"be there: a design for the {loss.name} error has one")
    _require_attained(certificate, mechanism.worst_case(loss)[0], _SEARCHED)
    fields = {
        "kind": "minimax",
        "epsilon": mechanism.epsilon,
        "loss": loss.name,
        "inputs": domain_to_dict(mechanism.inputs),
        "criterion": criterion.words,
    }
    return stated(problem, fields, criterion, loss.name, EVERYWHERE)


def _polar(problem: Mapping[str, Any], mechanism: Product, certificate: Certificate) -> Statement:
    is_pair = len(mechanism.parts) == 2
    distance, angle = mechanism.parts if is_pair else (None, None)
    if not (isinstance(distance, Piecewise) and isinstance(angle, Piecewise)):
        raise CheckFailed("the mechanism is not a pair of piecewise mechanisms")
    if not (isinstance(distance.inputs, Interval) and isinstance(angle.inputs, Circle)):
        raise CheckFailed("the mechanism's inputs are not a distance and an angle")
    if not distance.window == angle.window == AffineWindow():
        raise CheckFailed("the mechanism's windows are not centred at the input")
    line = _power(str(problem.get("loss")).partition(" + ")[0], None)
    losses, criterion = (line, line.on_circle(angle.inputs.period)), Criterion(Aim.WORST)
    worst = next(x for x in (distance.inputs.lower, distance.inputs.upper) if is_hardest_input(distance, x))
    places = (worst, angle.inputs.middle)
    errors = [
        float(part.expected_loss(x, loss)) for part, x, loss in zip((distance, angle), places, losses, strict=True)
    ]
    _require_attained(certificate, math.fsum(errors), _DOUBLES)
    name = " + ".join(loss.name for loss in losses)
    fields = {
        "kind": "polar",
        "epsilon": problem.get("epsilon"),  # the sum of two shares, compared with them when the file is read
        "loss": name,
        "inputs": {"kind": "product", "parts": [domain_to_dict(part.inputs) for part in (distance, angle)]},
        "criterion": criterion.words,
    }
    return stated(problem, fields, criterion, name, EACH_COORDINATE)


def _custom(problem: Mapping[str, Any], mechanism: Discrete) -> Statement:
    """Objective and constraints are texts: nothing of such a file but privacy is decided."""
    outputs = problem.get("outputs")
    points = outputs.get("points") if isinstance(outputs, Mapping) else None
    if not isinstance(points, list) or not set(mechanism.outputs.points) <= set(points):
        raise FileProblem("problem outputs", outputs, "hold the outputs of the mechanism")
    linear = dict.fromkeys(("costs", "offset", "rows", "limits", "equal"))  # linear designs have evidence
    fields = {
        "kind": "custom",
        "epsilon": mechanism.epsilon,
        "inputs": domain_to_dict(mechanism.inputs),
        "outputs": {"kind": "finite", "points": points},
        "tolerance": problem.get("tolerance"),
    }
    if type(fields["tolerance"]) is not float:
        raise FileProblem("problem tolerance", fields["tolerance"], "be a number")
    scope = EVERYWHERE_ON_OUTPUTS + (" that meet the stated constraints" if problem.get("constraints") else "")
    loss = "an objective that is only named in the file"
    return stated(problem, fields | linear, Criterion(Aim.OBJECTIVE), loss, scope)


def _power(said: Any, period: float | None) -> Power:
    try:
        loss = parse_loss(str(said).removeprefix("circular "), period)
    except InvalidInput:
        loss = None
    if loss is None or loss.name != said:
        raise FileProblem("problem loss", said, "be a power of the distance, as its name says it")
    return loss


def _require_attained(certificate: Certificate, attained: float, tolerance: float) -> None:
    if not abs(certificate.upper - attained) <= tolerance * attained:
        rule = f"be {attained!r}, what the mechanism attains"
        raise FileProblem("certificate upper", certificate.upper, rule)
