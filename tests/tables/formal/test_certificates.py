"""The extracted checker refuses altered certificates exactly where Python's own arithmetic of fractions does."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mechdesign.exact.phi import Quadratic, least_phi_of_distances, least_phi_sum
from mechdesign.methods.result import Design
from mechdesign.tables import Table, checker, make_table
from mechdesign.tables.formal import stated_floor
from tests.tables.conftest import rehashed
from tests.tables.formal.test_extracted import verdicts

Numbers = dict[str, Any]
UNIT, FINE = 2**40, 2**96


def is_above(num: int, den: int, ratio: int, unit: int) -> bool:
    """Whether ratio / unit is at least e^(num / den): by the checker's floor of 2^96 times that."""
    return num > 0 and den > 0 and ratio * FINE > checker.exponential(Fraction(num, den)) * unit


def phi(c: Fraction, t: Fraction) -> Fraction:
    return min(t, c * t)


def least(n: Numbers, letter: str) -> Fraction | None:
    num, den = n[f"{letter}_least_num"], n[f"{letter}_least_den"]
    return Fraction(num, den) if den > 0 else None


def has_columns(lists: list[list[int]], count: int) -> bool:
    return count > 0 and all(len(line) == count for line in lists)


def proves_matrix(n: Numbers) -> bool:
    weights, k, scale, said = n["f_weights"], len(n["f_losses"]), n["f_scale"], least(n, "f")
    if not is_above(n["f_num"], n["f_den"], n["f_ratio"], UNIT) or scale <= 0 or said is None or n["f_gap"] > 0:
        return False
    if min(weights) < 0 or sum(weights) <= 0 or not has_columns(n["f_losses"], n["f_answers"]):
        return False
    c, gap = Fraction(n["f_ratio"], UNIT), Fraction(n["f_gap"], scale * UNIT)
    levels = [Fraction(v, scale) for v in n["f_levels"]]
    columns = [[Fraction(row[a], scale) for row in n["f_losses"]] for a in range(n["f_answers"])]
    values = [sum(weights[x] * phi(c, column[x] - levels[x]) for x in range(k)) for column in columns]
    level = sum(w * v for w, v in zip(weights, levels, strict=True))
    return all(gap <= value for value in values) and said * sum(weights) <= level + gap


def proves_line(n: Numbers) -> bool:
    atoms = [(a["at_"], a["radius"], a["weight"]) for a in n["l_atoms"]]
    scale, said, total = n["l_scale"], least(n, "l"), sum(w for _, _, w in atoms)
    if not is_above(n["l_num"], n["l_den"], n["l_ratio"], FINE) or scale <= 0 or said is None or n["l_gap"] > 0:
        return False
    if min(n["l_low_den"], n["l_high_den"]) <= 0 or total <= 0 or any(r < 0 or w < 0 for _, r, w in atoms):
        return False
    low, high = Fraction(n["l_low_num"], n["l_low_den"]), Fraction(n["l_high_num"], n["l_high_den"])
    if not all(low <= Fraction(x, scale) <= high for x, _, _ in atoms):
        return False
    c, some = Fraction(n["l_ratio"], FINE), [atom for atom in atoms if atom[2]]
    if n["l_squared"]:
        value = least_phi_sum([Quadratic(w, -w * (x + r), x - r) for x, r, w in some], c)
    else:
        value = least_phi_of_distances(some, c)
    p = 2 if n["l_squared"] else 1
    gap = Fraction(n["l_gap"], FINE)
    proven = sum(w * r**p for _, r, w in atoms) + gap
    return gap <= value and said * total * scale**p <= proven


def proves_pairs(n: Numbers) -> bool:
    k, weights, scale, said = len(n["p_losses"]), n["p_weights"], n["p_scale"], least(n, "p")
    if scale <= 0 or said is None or min(weights) < 0 or sum(weights) <= 0:
        return False
    if not has_columns(n["p_losses"], n["p_answers"]) or not has_columns(n["p_places"], len(n["p_places"])):
        return False
    limits = zip(n["p_epsilons"], n["p_ratios"], strict=True)
    if not all(is_above(num, den, ratio, UNIT) for (num, den), ratio in limits):
        return False
    taken: dict[tuple[int, int], Fraction] = {}
    for f in n["p_flows"]:
        if min(f["answer_of"], f["first"], f["second"], f["amount"]) < 0 or max(f["first"], f["second"]) >= k:
            return False
        place = n["p_places"][f["first"]][f["second"]]
        if not 0 <= place < len(n["p_epsilons"]):
            return False
        ratio = n["p_ratios"][place]
        for x, part in ((f["first"], Fraction(-f["amount"])), (f["second"], Fraction(ratio * f["amount"], UNIT))):
            taken[x, f["answer_of"]] = taken.get((x, f["answer_of"]), Fraction(0)) + part / UNIT
    for x, a in product(range(k), range(n["p_answers"])):
        left = weights[x] * n["p_losses"][x][a] - taken.get((x, a), Fraction(0))
        if Fraction(n["p_levels"][x], UNIT) > left:
            return False
    return said * sum(weights) * scale <= Fraction(sum(n["p_levels"]), UNIT)


def proves_unbiased(n: Numbers) -> bool:
    tangents, scale, said = n["u_tangents"], n["u_scale"], least(n, "u")
    total = sum(t["share"] for t in tangents)
    if not is_above(n["u_num"], n["u_den"], n["u_ratio"], UNIT) or scale <= 0 or said is None or n["u_gap"] > 0:
        return False
    if total <= 0 or any(t["share"] < 0 or t["low"] > t["high"] or t["share"] * t["slope"] for t in tangents):
        return False
    quadratics = [
        Quadratic(t["share"], t["slope"] - t["share"] * t["high"], t["low"])
        for t in tangents
        if t["share"] or t["slope"]
    ]
    gap, value = Fraction(n["u_gap"], UNIT), least_phi_sum(quadratics, Fraction(n["u_ratio"], UNIT))
    # what a quadratic is on average at its input, without the variance
    level = -sum(
        t["share"] * (t["place_of"] - t["low"]) * (t["place_of"] - t["high"]) + t["slope"] * (t["place_of"] - t["low"])
        for t in tangents
    )
    return gap <= value and said * total * scale**2 <= level + gap


def proves_workload(n: Numbers) -> bool:
    k, r = len(n["w_matrix"]), n["w_queries"]
    scales = [n[f"w_{name}_scale"] for name in ("matrix", "column", "price", "weight")]
    prior, weights, prices, said = n["w_prior"], n["w_weights"], n["w_prices"], least(n, "w")
    if not is_above(n["w_num"], n["w_den"], n["w_ratio"], UNIT) or min(scales) <= 0 or said is None:
        return False
    if min(prior) < 0 or sum(prior) <= 0 or r != len(n["w_columns"][0]) or min(weights) < 0:
        return False
    if not has_columns(n["w_matrix"], r):
        return False
    matrix, column, price, weight = scales
    c = Fraction(n["w_ratio"], UNIT)
    p = [Fraction(share, sum(prior)) for share in prior]
    nu, g = [Fraction(x, price) for x in prices], [Fraction(x, weight) for x in weights]
    a = [[Fraction(x, column) for x in line] for line in n["w_columns"]]
    w = [[Fraction(x, matrix) for x in line] for line in n["w_matrix"]]
    for z in product((Fraction(1), c), repeat=k):
        at = [sum(z[x] * a[x][i] for x in range(k)) for i in range(r)]
        right = sum(z[x] * nu[x] for x in range(k)) * sum(z[x] * p[x] for x in range(k))
        if sum(g[i] * at[i] ** 2 for i in range(r)) > right:
            return False
    worth = sum(g[i] * a[x][i] * w[x][i] for x in range(k) for i in range(r))
    return said <= 2 * worth - sum(nu) - sum(p[x] * g[i] * w[x][i] ** 2 for x in range(k) for i in range(r))


PROVES: dict[str, Callable[[Numbers], bool]] = {
    "finite": proves_matrix,
    "line": proves_line,
    "pairs": proves_pairs,
    "unbiased": proves_unbiased,
    "workload": proves_workload,
}


def places_of(value: Any) -> list[tuple[Any, Any]]:
    """Where whole numbers stand, at any depth."""
    keys = value if isinstance(value, dict) else range(len(value))
    found = []
    for key in keys:
        part = value[key]
        if isinstance(part, dict | list):
            found += places_of(part)
        elif type(part) is int:
            found.append((value, key))
    return found


def mutant(document: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A number is another one; often the floor is lowered beside it, so that some prove less and pass."""
    altered: dict[str, Any] = json.loads(json.dumps(document))
    numbers = altered["numbers"]
    name = rng.choice(sorted(numbers))
    here, key = rng.choice(places_of(numbers[name]) if isinstance(numbers[name], list) else [(numbers, name)])
    if type(here[key]) is bool:
        here[key] = not here[key]
    else:
        step = rng.choice((1, -1)) * rng.choice((1, 2, 1 << rng.randrange(1, 1 + max(2, here[key].bit_length()))))
        here[key] = rng.choice((here[key] + step, here[key] + step, here[key] + step, here[key] * 2, -here[key], 0))
    lowered = next(name for name in numbers if name.endswith("least_num"))
    if rng.random() < 0.6:
        numbers[lowered] -= abs(numbers[lowered]) // rng.choice((2, 10, 1000, 10**6))
    if rng.random() < 0.5 and f"{lowered[0]}_gap" in numbers:
        numbers[f"{lowered[0]}_gap"] *= rng.choice((1, 2, 10**3, 10**8))
    return altered


def written(document: dict[str, Any]) -> bytes:
    return checker.canonical(document)


CERTIFICATES = [
    "matrix, worst case",
    "distance",
    "square",
    "prior, square",
    "pairs, average",
    "without bias",
    "workload, average",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_thousand_altered_certificates_are_refused_where_fractions_refuse_them(
    designs: dict[str, Design], extracted: Path, tmp_path: Path, name: str
) -> None:
    floor = stated_floor(make_table(designs[name]), designs[name])
    assert floor is not None
    document = json.loads(floor.document)
    rng = random.Random(f"{name} 1")
    altered = [document, *(mutant(document, rng) for _ in range(1000))]
    found = verdicts(extracted, list(map(written, altered)), tmp_path)
    assert found == [PROVES[floor.kind](one["numbers"]) for one in altered]
    assert found[0]
    assert 200 < found.count(False) < 900


@pytest.mark.parametrize("name", ["matrix, worst case", "pairs, worst case", "workload, average"])
def test_a_floor_of_no_answers_or_of_lists_that_end_early_is_refused(
    designs: dict[str, Design], extracted: Path, tmp_path: Path, name: str
) -> None:
    floor = stated_floor(make_table(designs[name]), designs[name])
    assert floor is not None
    document = json.loads(floor.document)
    numbers = document["numbers"]
    lists = [key for key in ("f_losses", "p_losses", "p_places", "w_matrix") if key in numbers]
    none = {key: 0 for key in ("f_answers", "p_answers", "w_queries") if key in numbers} | {
        key: [[]] * len(numbers[key]) for key in (*lists, "w_columns") if key in numbers and key != "p_places"
    }
    lowered = {key: -(10**30) for key in numbers if key.endswith("least_num")}
    early = [lowered | {key: [numbers[key][0][:-1], *numbers[key][1:]]} for key in lists]
    altered = [document | {"numbers": numbers | other} for other in (none | lowered, *early, lowered)]
    assert verdicts(extracted, list(map(written, altered)), tmp_path) == [False] * (len(altered) - 1) + [True]


def with_other_atoms(table: Table, rng: random.Random) -> bytes:
    """An atom of the certificate in a table, an end of its domain or its bound is another one."""
    document = json.loads(table.content)
    said, domain = document["certificate"], document["domain"]
    lower = Fraction(said["lower"])
    match rng.randrange(6):
        case 0 | 1 | 2:
            atom, i = rng.choice(said["atoms"]), rng.randrange(3)
            number = float(atom[i]) * (1 + rng.choice((1, -1)) * 2.0 ** -rng.randrange(3, 50))
            atom[i] = text_of(number if i else min(max(number, 0.0), 1.0))
        case 3:
            lower += rng.choice((1, -1)) * Fraction(1, 1 << rng.randrange(4, 400))
        case 4:
            domain[rng.choice(("lower", "upper"))] = text_of(rng.uniform(-0.1, 1.1))
        case _:
            said["exponent"] = 3 - said["exponent"]
    if rng.random() < 0.6:
        lower -= lower * Fraction(1, 1 << rng.randrange(1, 40))
    said["lower"] = str(lower)
    return rehashed(document)


def text_of(number: float) -> str:
    return format(Decimal(number), "f") if number else "0"


def proves_lower(content: bytes) -> bool:
    """Whether the checker's own atoms prove the bound that the file says, within the file's domain."""
    document = json.loads(content)
    said = document["certificate"]
    low, high = (Fraction(document["domain"][end]) for end in ("lower", "upper"))
    inside = all(low <= Fraction(atom[0]) <= high for atom in said["atoms"])
    proven = checker.proven_lower(said["atoms"], int(document["cap"]), said["exponent"])
    return inside and Fraction(said["lower"]) <= proven


@pytest.mark.slow
@pytest.mark.parametrize("name", ["distance", "square"])
def test_a_thousand_altered_certificates_of_tables_are_refused_where_the_checker_refuses_them(
    designs: dict[str, Design], extracted: Path, tmp_path: Path, name: str
) -> None:
    table, rng = make_table(designs[name]), random.Random(f"{name} 2")
    contents = [table.content, *(with_other_atoms(table, rng) for _ in range(1000))]
    found = verdicts(extracted, contents, tmp_path)
    assert found == [proves_lower(content) for content in contents]
    assert found[0]
    assert 200 < found.count(False) < 900


def test_epsilon_is_rounded_up_in_every_certificate(designs: dict[str, Design]) -> None:
    for design in designs.values():
        floor = stated_floor(make_table(design), design)
        assert floor is not None
        for name in floor.fields:
            if name.endswith("_ratio"):
                unit = FINE if floor.kind == "line" else UNIT
                epsilon = floor.fields[f"{name[0]}_num"] / floor.fields[f"{name[0]}_den"]
                assert math.isclose(floor.fields[name] / unit, math.exp(epsilon), rel_tol=1e-11)
