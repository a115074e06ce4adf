"""Bounds on joint responses: derived again from files, weaker but never wrong with other multipliers, not believed."""

from __future__ import annotations

import itertools
import json
import math
import pickle
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest

from mechdesign import Interval
from mechdesign.errors import CheckFailed, FileProblem, InvalidInput
from mechdesign.exact.collusion import averaged_ratio
from mechdesign.exact.joint_limits import Box, Caps, Split
from mechdesign.exact.joint_variance import Goal, least_on_lines, least_pair
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.mechanisms.catalogue import pm
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import solve
from mechdesign.methods.joint import ClosedForm, DualBound, JointClaim
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.proof import Duals, Leaf, scope_of, second_moment
from mechdesign.methods.result import Design
from mechdesign.methods.saved import load_design
from mechdesign.words import priors
from mechdesign.words.counts import Moments
from mechdesign.words.priors import Atoms
from tests.methods.problems import joint_problem

UNIT = Interval(0, 1)
PROBLEMS = {
    "pair": joint_problem(1.0, 10000, 0.03, colluders=500),
    "capped": joint_problem(1.0, 10000, 0.03, colluders=500, caps=(2.0,)),
    "group": joint_problem(1.0, 800, 0.03, colluders=20, group=8, caps=(1.0, None, 3.0)),
    "boxes": joint_problem(1.0, 10000, 0.033, colluders=500, group=4),
    "positive": joint_problem(1.0, 900, 0.25, colluders=5, group=3, categories=4),
    "independent": joint_problem(1.0, 900, 0.5, group=3),
    "across": joint_problem(1.0, 10000, (0.1, 0.7), group=4),
    "categories": joint_problem(1.0, 1000, 0.4, group=2, categories=4),
    "range": joint_problem(0.5, 1000, (0.02, 0.1)),
    "atoms": joint_problem(1.0, 1000, Atoms([0.1, 0.3], [0.4, 0.6]), group=4),
    "density": joint_problem(1.0, 1000, priors.normal(0.1234567891, 0.05, UNIT), group=4),
    "fine": joint_problem(60.0, 160, 0.1, group=16),
}


ASKED = {name: grouping_of(problem) for name, problem in PROBLEMS.items()}


def _rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    return path


def _saved(tmp_path: Path, name: str = "pair") -> tuple[Design, Path]:
    design = solve(PROBLEMS[name])
    return design, design.save(tmp_path / "joint.json")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_design_is_read_back_as_the_same_design_with_the_same_certificate(tmp_path: Path, name: str) -> None:
    design, file = _saved(tmp_path, name)
    again = load_design(file)
    assert again == design
    assert again.certificate == design.certificate
    assert again.document() == design.document()


@pytest.mark.parametrize("name", ["pair", "boxes", "density"])
def test_a_design_is_pickled(name: str) -> None:
    design = solve(PROBLEMS[name])
    assert pickle.loads(pickle.dumps(design)) == design


def test_of_a_density_the_design_s_problem_holds_the_moments_and_the_report_the_name(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "density")
    assert isinstance(grouping_of(design.problem).share, Moments)
    assert grouping_of(design.problem).goal() == ASKED["density"].goal()
    assert load_design(file).report.details["prior"] == "normal(0.1234567891, 0.05)"


def test_a_claimed_bound_stays_a_claim(tmp_path: Path) -> None:
    pytest.importorskip("pyscipopt")
    design = solve(PROBLEMS["pair"], method="joint_program")
    again = load_design(design.save(tmp_path / "joint.json"))
    assert again.certificate == design.certificate
    assert again.certificate.claimed


def test_a_joint_design_has_no_law_of_one_user_and_what_to_do_instead_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"no table holds that.*run_parties.*randomised_response"):
        _ = solve(PROBLEMS["pair"]).own_law


def _set(*path: str | int, to: Any) -> Callable[[dict[str, Any]], object]:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = to(place[path[-1]]) if callable(to) else to

    return change


def _weights(*weights: str) -> Callable[[dict[str, Any]], object]:
    """Another law, with all that follows from its weights."""
    law = JointResponse(tuple(map(Fraction, weights)))
    said = {"weights": list(weights), "p": float(law.truth), "rho": float(law.rho)}
    return lambda document: document["mechanism"].update(said)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_set("certificate", "privacy_loss", to=0.5), "privacy_loss must be 1.0, what"),
        (_set("certificate", "privacy", "averaged_epsilon", to=0.5), "averaged_epsilon must be 1.0, what"),
        (_set("certificate", "privacy", "conditional_epsilons", to=[0.5, 0.5]), "conditional_epsilons must be"),
        (_set("certificate", "privacy", "conditional_epsilons", to=[]), "conditional_epsilons must be"),
        (_set("certificate", "privacy", "colluders", to=600), "colluders must be 500, what was derived"),
        (_set("certificate", "privacy", "kind", to="pure"), "kind must be 'collusion'"),
        (_set("certificate", "privacy", to={}), "privacy must hold kind"),
        (_set("problem", "privacy", "epsilon", to=0.9), "averaged epsilon .* is above 0.9"),
        (_set("problem", "privacy", "epsilon", to=1.1), "must be"),
        (_set("problem", "privacy", "colluders", to=5000), "is above 1.0"),
        (_set("problem", "privacy", "colluders", to=0), "must be"),
        (_set("problem", "privacy", "caps", to=[1.5]), "with 1 known"),
        (_set("problem", "loss", "share", to=0.04), "must be"),
        (_set("problem", "count", to=300), "problem count must be left out"),
        (_set("problem", "kind", to="piecewise"), "must"),
        (_set("problem", "among", "group", to=4), "no closed form for groups of 4"),
        (_set("problem", "inputs", "points", to=[0.0, 1.0, 2.0]), "no closed form"),
        (_set("problem", "privacy", "users", to=9999), "multiple of the group size"),
        (_set("problem", "privacy", "users", to=True), "whole number"),
        (_set("problem", "loss", "share", to="uniform"), "share must be of a kind that is known"),
        (
            _set("problem", "loss", "share", to={"kind": "moments", "mean": 0.1, "mean_square": 0.5}),
            "share must be the mean",
        ),
        (_set("problem", "loss", "share", to={"kind": "moments", "mean": 0.1}), "mean_square"),
        (_set("problem", "note", to="private"), "problem note must be left out"),
        (_set("mechanism", "p", to=0.7), "mechanism p must be"),
        (_set("mechanism", "rho", to=-0.1), "mechanism rho must be"),
        (_weights("0/1", "0/1", "1/1"), "averaged epsilon inf"),
        (_set("mechanism", "weights", to=["0/1", "1/2", "1/4"]), "add up to exactly 1"),
        (_weights("0/1", "1/2", "1/2"), "averaged epsilon 1.166.* above 1.0"),
        (_weights("3/10", "0/1", "7/10"), "certificate (upper|privacy_loss) must be"),
        (_set("mechanism", "weights", to=["0/1", "1e999999999", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "1/0", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "--1/2", "1/2"]), "be a fraction"),
        (_set("mechanism", "weights", to=["0/1", "9" * 9000 + "/1", "0/1"]), "be a fraction"),
        (_set("mechanism", "weights", to=[0, 0.5, 0.5]), "be a text like"),
        (_set("mechanism", "weights", to=3), "be a list"),
        (_set("certificate", "upper", to=lambda value: value * 1.01), "certificate upper must be"),
        (_set("certificate", "lower", to=lambda value: value * 1.01), "certificate lower must be"),
        (_set("certificate", "lower", to=-1.0), "certificate lower must be"),
        (_set("certificate", "lower", to="0"), "be a number"),
        (_set("certificate", "valid_for", to="all mechanisms"), "certificate valid_for must be"),
        (_set("certificate", "claimed", to=1), "certificate claimed must be"),
        (_set("certificate", "claimed", to=True), "certificate claimed must be"),
        (_set("certificate", "evidence", to={"kind": "joint duals", "parts": []}), "boxes hold no law of small p"),
        (_set("certificate", "evidence", "kind", to="joint"), "evidence kind must be one of"),
        (_set("report", "seconds", to="fast"), "seconds must be a number"),
        (_set("report", "versions", to={"numpy": 2}), "be a text"),
        (_set("report", "details", to=[]), "be an object"),
        (_set("format", to="mechdesign joint response"), "file format must be"),
        (_set("version", to=1), "file version must be 3"),
        (_set("certificate", to=[]), "hold an object under 'certificate'"),
        (lambda document: document.pop("report"), "hold an object under 'report'"),
        (lambda document: document["problem"].pop("criterion"), "problem criterion must be there"),
    ],
    ids=range(52),
)
def test_a_file_that_says_anything_else_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], words: str
) -> None:
    _, file = _saved(tmp_path)
    with pytest.raises(InvalidInput, match=words):
        load_design(_rewritten(file, change))


def test_every_prefix_of_a_file_is_refused(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    content = file.read_bytes()
    for size in range(0, len(content) - 1, 37):
        file.write_bytes(content[:size])
        with pytest.raises(FileProblem, match="valid JSON"):
            load_design(file)


def test_a_bound_above_what_is_proven_is_refused_and_not_cut_down(tmp_path: Path) -> None:
    design, file = _saved(tmp_path, "boxes")
    assert design.certificate.lower < design.certificate.upper
    with pytest.raises(FileProblem, match="certificate lower must be"):
        load_design(_rewritten(file, _set("certificate", "lower", to=design.certificate.upper)))


def test_a_worse_law_is_no_optimum_whatever_its_file_says(tmp_path: Path) -> None:
    """A law with all numbers its own, in a file that calls its own variance the lower bound."""
    design = solve(PROBLEMS["pair"])
    worse = solve(joint_problem(1.0, 10000, 0.03, colluders=500, caps=(1.0,)))
    forged = Design(design.problem, worse.mechanism, design.evidence, design.report)
    assert forged.certificate.lower == design.certificate.lower < forged.certificate.upper
    file = _rewritten(forged.save(tmp_path / "joint.json"), _set("certificate", "lower", to=worse.certificate.upper))
    with pytest.raises(FileProblem, match="certificate lower must be"):
        load_design(file)


def test_a_saved_law_keeps_its_averaged_budget_as_a_rational(tmp_path: Path) -> None:
    _, file = _saved(tmp_path)
    law = load_design(file).mechanism
    assert isinstance(law, JointResponse)
    ratio = averaged_ratio(law, 10000, 500)
    assert ratio is not None
    assert ratio <= exp_lower(1.0)


# -- evidence ----------------------------------------------------------------------------------------------------------


def _evidence(name: str) -> DualBound:
    evidence = solve(PROBLEMS[name]).evidence
    assert isinstance(evidence, DualBound)
    return evidence


def _mutants(evidence: DualBound) -> list[DualBound]:
    """Every multiplier, slope, cut and list of lines changed, one at a time."""
    found = []
    for place, part in enumerate(evidence.parts):
        for other in _other_splits(part) if isinstance(part, Split) else _other_leaves(part):
            found.append(DualBound((*evidence.parts[:place], other, *evidence.parts[place + 1 :])))
    return found


def _other_splits(part: Split) -> list[Split]:
    return [
        attrs.evolve(part, at=part.at * Fraction(9, 10)),
        attrs.evolve(part, at=Fraction(2)),
        attrs.evolve(part, of_truth=not part.of_truth),
        attrs.evolve(part, known=part.known + 1),
        attrs.evolve(part, known=0),
    ]


def _other_leaves(part: Leaf) -> list[Leaf]:
    found = [attrs.evolve(part, largest=other) for other in _other_duals(part.largest)]
    for place, duals in enumerate(part.lines):
        rest = part.lines[:place], part.lines[place + 1 :]
        found.append(attrs.evolve(part, lines=(*rest[0], *rest[1])))
        found += [attrs.evolve(part, lines=(*rest[0], other, *rest[1])) for other in _other_duals(duals)]
    return found


def _other_duals(duals: Duals) -> list[Duals]:
    found = [attrs.evolve(duals, slope=duals.slope * factor) for factor in (0.9, 1.1)]
    for place, (known, truthful, of_truth, weight) in enumerate(duals.multipliers):
        for other in (
            (known, truthful, of_truth, weight * 2),
            (known, truthful, of_truth, 0.0),
            (known, truthful, not of_truth, weight),
        ):
            multipliers = (*duals.multipliers[:place], other, *duals.multipliers[place + 1 :])
            found.append(attrs.evolve(duals, multipliers=multipliers))
    return found


@pytest.mark.parametrize("name", ["group", "boxes", "positive", "categories"])
def test_no_other_multipliers_and_cuts_prove_more_than_a_law_attains(name: str) -> None:
    evidence, design = _evidence(name), solve(PROBLEMS[name])
    mutants = _mutants(evidence)
    assert len(mutants) >= 8
    values = [mutant.value(ASKED[name]) for mutant in mutants]
    assert max(values) <= Fraction(design.certificate.upper)
    assert min(values) < evidence.value(ASKED[name])


@pytest.mark.parametrize("name", ["boxes", "positive"])
def test_a_box_left_out_or_too_many_is_refused(name: str) -> None:
    parts = _evidence(name).parts
    assert len(parts) > 1
    with pytest.raises(CheckFailed, match="leaves out"):
        DualBound(parts[:-1]).value(ASKED[name])
    with pytest.raises(CheckFailed, match="more boxes than there are"):
        DualBound((*parts, parts[-1])).value(ASKED[name])


def test_a_multiplier_below_zero_infinite_or_of_nobody_is_refused() -> None:
    for multiplier in ((1, 0, True, -1.0), (1, 0, True, math.inf), (1, 2, True, 1.0), (-1, -1, True, 1.0)):
        with pytest.raises(InvalidInput, match="multiplier"):
            Duals(0.0, (multiplier,))
    with pytest.raises(CheckFailed, match="9 partners in a group of 4"):
        DualBound((Leaf(Duals(0.0, ((9, 0, True, 1.0),))),)).value(ASKED["boxes"])


def test_without_lines_nothing_is_proven() -> None:
    assert DualBound((Leaf(),)).value(ASKED["boxes"]) == 0


def test_the_law_must_be_for_the_problem_s_groups() -> None:
    group = solve(PROBLEMS["group"])
    with pytest.raises(CheckFailed, match="3 partners are capped, and a group of 2 has fewer"):
        Design(group.problem, JointResponse.independent(0.6), group.evidence, group.report)
    boxes = solve(PROBLEMS["boxes"])
    with pytest.raises(CheckFailed, match="groups of 2 with 2 values, the problem for groups of 4"):
        Design(boxes.problem, JointResponse.independent(0.6), boxes.evidence, boxes.report)


def test_a_mechanism_of_one_user_is_no_joint_response() -> None:
    pair = solve(PROBLEMS["pair"])
    with pytest.raises(CheckFailed, match="matter of joint responses"):
        Design(pair.problem, pm(1.0), pair.evidence, pair.report)


def test_the_evidence_must_be_about_the_problem() -> None:
    pair, group = solve(PROBLEMS["pair"]), solve(PROBLEMS["group"])
    with pytest.raises(CheckFailed, match="no closed form for groups of 8"):
        Design(group.problem, group.mechanism, ClosedForm(), group.report)
    with pytest.raises(CheckFailed, match="a claim is about pairs"):
        Design(group.problem, group.mechanism, JointClaim(1.0), group.report)
    with pytest.raises(CheckFailed, match="which another law attains"):
        Design(pair.problem, pair.mechanism, JointClaim(pair.certificate.upper * 1.001), pair.report)


@pytest.mark.parametrize(("mean", "square"), [(1.1, 1.0), (0.2, 0.01), (0.2, 0.3), (float("nan"), 0.1), (True, 1.0)])
def test_moments_of_no_share_are_refused(mean: float, square: float) -> None:
    with pytest.raises(InvalidInput):
        Moments(mean, square)


@pytest.mark.parametrize("name", ["pair", "across"])
def test_boxes_prove_nothing_where_a_closed_form_is_about_laws_of_any_p(name: str) -> None:
    """Boxes leave out laws that are hardly ever truthful, which the scope of a closed form does not."""
    design = solve(PROBLEMS[name])
    boxes = DualBound((Leaf(lines=(Duals(1.0),)),))
    with pytest.raises(CheckFailed, match="no law of small p"):
        Design(design.problem, design.mechanism, boxes, design.report)


def test_the_least_p_that_a_scope_names_is_rounded_up() -> None:
    problem = ASKED["boxes"]
    least = problem.limits(up=True).least_truth(problem.categories)
    said = Fraction(scope_of(problem).words.rpartition(" ")[2])
    assert least <= said <= least * (1 + Fraction(1, 10**5))


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _cost_of_caps(caps: Caps, group: int, multipliers: Any, truthful: int) -> Fraction:
    """What multipliers make of ``N1 <= cap (N1 + N0)`` (or with N0) where exactly so many users, drawn evenly, are
    truthful: all sets of them are counted. Known are the first partners, of whom the first s are truthful."""
    sets = list(itertools.combinations(range(group), truthful))
    total = Fraction(0)
    for known, true, of_truth, weight in multipliers:
        fitting = [s for s in sets if all((1 + i in s) == (i < true) for i in range(known))]
        told = [sum(1 for s in fitting if (0 in s) == truth) for truth in (of_truth, not of_truth)]
        cap = (caps.true if of_truth else caps.false)[known]
        total += Fraction(weight) * Fraction((1 - cap) * told[0] - cap * told[1], len(sets))
    return total


def _line_by_hand(duals: Duals, costs: list[int], caps: Caps, slope: Fraction) -> tuple[Fraction, Fraction]:
    group = len(costs) - 1
    parts = [_cost_of_caps(caps, group, duals.multipliers, t) for t in range(group + 1)]
    return min(cost - slope * t + part for t, (cost, part) in enumerate(zip(costs, parts, strict=True))), slope


def _least_by_hand(part: Leaf, problem: Grouping, box: Box) -> Fraction | None:
    goal, limits = problem.goal(), problem.limits(up=True)
    ends, caps, group = box.ends(limits, goal.categories), box.caps(limits), goal.group
    if ends is None:
        return None
    below, _ = _line_by_hand(part.largest, [-t for t in range(group + 1)], caps, Fraction(0))
    if min(ends[1], -below / group) < ends[0]:
        return None
    sign = -1 if goal.helpful < 0 else 1
    costs = [sign * t**2 for t in range(group + 1)]
    lines = [_line_by_hand(duals, costs, caps, Fraction(duals.slope)) for duals in part.lines]
    return least_on_lines(goal, lines, ends[0], min(ends[1], -below / group))[0] if lines else Fraction(0)


def _value_by_hand(parts: tuple[Split | Leaf, ...], problem: Grouping) -> Fraction:
    """The parts as a tree: a split, all below it, all above it."""
    rest = list(parts)

    def bounds(box: Box) -> list[Fraction | None]:
        part = rest.pop(0)
        if isinstance(part, Leaf):
            return [_least_by_hand(part, problem, box)]
        below, above = box.halves(part)
        return [*bounds(below), *bounds(above)]

    found = [bound for bound in bounds(Box.of_all(problem.limits(up=True), problem.goal())) if bound is not None]
    assert not rest
    return max(Fraction(0), min(found, default=Fraction(0)))


@pytest.mark.parametrize("name", ["group", "boxes", "positive", "categories", "independent", "atoms"])
def test_the_bound_of_boxes_is_that_of_the_page_exactly(name: str) -> None:
    problem, parts = ASKED[name], _evidence(name).parts
    value = DualBound(parts).value(problem)
    assert value == _value_by_hand(parts, problem) > 0
    assert 0 < Fraction(DualBound(parts).bound(PROBLEMS[name], None)) <= value


@pytest.mark.parametrize("name", ["boxes", "positive"])
def test_any_tree_of_boxes_has_the_bound_of_the_page(name: str) -> None:
    problem = ASKED[name]
    group, rng, least = problem.group, random.Random(4), set()
    proven = [part for part in _evidence(name).parts if isinstance(part, Leaf)]

    def duals() -> Duals:
        multipliers = []
        for _ in range(rng.randrange(4)):
            known = rng.randrange(group)
            multipliers.append((known, rng.randint(0, known), rng.random() < 0.5, rng.random() * 3))
        return Duals(rng.uniform(-1, 8), tuple(multipliers))

    def tree(depth: int) -> tuple[Split | Leaf, ...]:
        if depth and rng.random() < 0.7:
            split = Split(rng.randrange(group), rng.random() < 0.5, Fraction(rng.randint(0, 32), 32))
            return (split, *tree(depth - 1), *tree(depth - 1))
        if rng.random() < 0.7:
            return (rng.choice(proven),)
        return (Leaf(duals(), tuple(duals() for _ in range(rng.randrange(3)))),)

    for _ in range(80):
        parts = tree(3)
        value = DualBound(parts).value(problem)
        assert value == _value_by_hand(parts, problem)
        least.add(value)
    assert len(least) > 5


def test_a_box_without_laws_proves_nothing_and_hides_nothing() -> None:
    """No one known tells more than a share of 1/4 of two values: such a box holds no law, and the rest is the bound."""
    problem, all_of_them = ASKED["group"], _evidence("group").parts[0]
    assert isinstance(all_of_them, Leaf)
    small = Split(0, True, Fraction(1, 4))
    alone = DualBound((all_of_them,)).value(problem)
    assert DualBound((small, Leaf(), all_of_them)).value(problem) == alone > 0
    never = Split(0, True, Fraction(2))
    assert DualBound((small, Leaf(), never, Leaf(), Leaf())).value(problem) == 0


def test_boxes_are_counted_with_their_lines_multipliers_and_long_numbers() -> None:
    one = (1, 0, True, 1.0)
    for parts in (
        lambda more: (Leaf(),) * (50_000 + more),
        lambda more: (Leaf(Duals(0.0, (one,) * (99_998 + more))),),
        lambda more: (Leaf(lines=(Duals(0.0, (one,) * (49_996 + more)), Duals(0.0, (one,) * 50_000))),),
        lambda more: (Split(0, True, Fraction(1, 1 << 256 * (99_999 + more) - 1)),),
        lambda more: (Split(0, True, Fraction(1, 1 << 255)),) * (50_000 + more),
    ):
        assert DualBound(parts(0)).parts
        with pytest.raises(InvalidInput, match="at most 100000"):
            DualBound(parts(1))


def test_of_pairs_the_closed_form_is_the_least_over_all_correlations() -> None:
    """``p <= U / (1 + a r)`` and ``p <= S / (1 + r)`` at correlations of -r."""
    for name in ("pair", "capped", "range"):
        problem = ASKED[name]
        goal, a = problem.goal(), Fraction(problem.colluders, problem.users - 1)
        budget = exp_upper(problem.epsilon) / (1 + exp_upper(problem.epsilon))
        caps = problem.privacy.caps
        cap = exp_upper(caps[0]) / (1 + exp_upper(caps[0])) if caps else Fraction(1)
        value = ClosedForm().value(problem)
        assert value == least_pair(goal, budget, cap, a).variance
        found = []
        for i in range(2001):
            rho = -Fraction(i, 2000)
            p = min(budget / (1 - a * rho), cap / (1 - rho))
            if 2 * p > 1:
                found.append(goal.variance(p, rho * p * (1 - p)))
        assert value <= min(found) <= value * Fraction(1001, 1000)
        assert Fraction(ClosedForm().bound(PROBLEMS[name], None)) < value


@pytest.mark.parametrize("caps", [(), (0.5,), (0.5, 0.75, None)])
def test_where_correlation_does_not_help_answers_on_their_own_are_best(caps: tuple[float | None, ...]) -> None:
    """For the even share: ``n p (1 - p) / (2 p - 1)^2`` at the largest p."""
    problem = joint_problem(1.0, 10000, (0.1, 0.7), group=4, caps=caps)
    ratio = exp_upper(0.5 if caps else 1.0)
    p = ratio / (ratio + 1)
    value = ClosedForm().value(grouping_of(problem))
    assert Fraction(ClosedForm().bound(problem, None)) < value == 10000 * p * (1 - p) / (2 * p - 1) ** 2


def test_a_claim_may_miss_by_a_hundred_thousandth() -> None:
    best = ClosedForm().value(ASKED["pair"])
    assert JointClaim(float(best) * (1 + 0.99e-5)).bound(PROBLEMS["pair"], None) == float(best) * (1 + 0.99e-5)
    assert JointClaim(0.5).bound(PROBLEMS["pair"], None) == 0.5
    with pytest.raises(CheckFailed, match="which another law attains"):
        JointClaim(float(best) * (1 + 1.01e-5)).bound(PROBLEMS["pair"], None)
    assert (JointClaim.claimed, DualBound.claimed, ClosedForm.claimed) == (True, False, False)


def test_what_a_law_attains_is_its_variance_rounded_up() -> None:
    problem, law = (
        ASKED["positive"],
        JointResponse((Fraction(1, 10), Fraction(1, 5), Fraction(3, 10), Fraction(2, 5)), 4),
    )
    own = problem.count
    assert own is not None
    goal, p, q = problem.goal(), law.truth, law.lie
    spread = own * p * (1 - p) + (900 - own) * q * (1 - q)
    exact = (spread + goal.low * law.covariance) / (p - q) ** 2
    attained = Fraction(DualBound((Leaf(),)).attained(PROBLEMS["positive"], law))
    assert exact < attained < exact * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("law", [JointResponse.independent(0.6, 3, 5), JointResponse.independent(0.6, 4, 4)])
def test_a_law_of_other_groups_or_values_is_refused(law: JointResponse) -> None:
    for evidence in (DualBound((Leaf(),)), ClosedForm(), JointClaim(1.0)):
        with pytest.raises(CheckFailed, match="the problem for groups of 3 with 4"):
            evidence.attained(PROBLEMS["positive"], law)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pair", "joint responses of pairs"),
        ("range", "joint responses of pairs"),
        ("across", "joint responses of exchangeable groups of 4"),
        ("boxes", "joint responses of exchangeable groups of 4, p at least 0.500232"),
        (
            "categories",
            "joint responses of exchangeable groups of 2, each lie drawn on its own, p at least 0.250226",
        ),
    ],
)
def test_the_scope_says_which_laws_and_how_their_lies_are_drawn(name: str, words: str) -> None:
    assert ClosedForm().scope(PROBLEMS[name], None).words == words


def test_lies_are_drawn_on_their_own_from_three_values_on() -> None:
    three = joint_problem(1.0, 1000, 0.4, categories=3)
    assert "each lie drawn on its own" in ClosedForm().scope(three, None).words


def test_a_box_with_one_p_is_not_empty() -> None:
    """Cut at the least p there is: laws of just that p are still to be bounded."""
    problem, rest = ASKED["group"], _evidence("group").parts[0]
    least = problem.limits(up=True).least_truth(problem.categories)
    assert DualBound((Split(0, True, least), Leaf(), rest)).value(problem) == 0
    below = Split(0, True, least * Fraction(999, 1000))
    assert DualBound((below, Leaf(), rest)).value(problem) == DualBound((rest,)).value(problem) > 0


@pytest.mark.parametrize("known", [4, 5])
def test_a_user_has_one_partner_less_than_the_group_is_large(known: int) -> None:
    with pytest.raises(CheckFailed, match=f"{known} partners in a group of 4"):
        DualBound((Leaf(Duals(0.0, ((known, 0, True, 1.0),))),)).value(ASKED["boxes"])


@pytest.mark.parametrize(("low", "high", "sign"), [("1/2", "3/4", 1), ("-3/4", "-1/2", -1), ("1/2", "9", 1)])
def test_what_is_bounded_is_the_second_moment_or_its_negative_where_positive_correlation_helps(
    low: str, high: str, sign: int
) -> None:
    goal = Goal(12, 3, 2, Fraction(4), Fraction(low), Fraction(high))
    assert second_moment(goal) == [0, sign, 4 * sign, 9 * sign]
