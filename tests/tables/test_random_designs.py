"""Random designs: each becomes a table that passes the stand-alone checker, or is told the bits with which it does."""

import copy
import hashlib
import importlib.util
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mechdesign.tables
from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.tables import BITS, make_table
from mechdesign.words.domains import Finite, Interval

KINDS = {"window": 0.45, "unbiased": 0.15, "finite": 0.2, "two-point": 0.05, "pieces": 0.08, "additive": 0.07}
LEAST, MOST = 0.05, 12.0


@pytest.fixture(scope="module")
def alone():
    """The checker as a module of its own, loaded from its file."""
    spec = importlib.util.spec_from_file_location("alone", Path(mechdesign.tables.__file__).with_name("checker.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_mechanism(rng):
    """A mechanism of a random kind, epsilon, size and domain."""
    epsilon = float(np.exp(rng.uniform(np.log(LEAST), np.log(MOST))))
    ratio = math.exp(epsilon) * (1 - 1e-12)
    lower = float(rng.choice([0.0, -1.0, 5.0, -1e4, 0.3]))
    inputs = Interval(lower, lower + float(np.exp(rng.uniform(-3, 3))))
    size = int(rng.choice([rng.integers(1, 14), rng.integers(14, 80)], p=[0.9, 0.1]))
    points = np.sort(inputs.lower + inputs.length * rng.uniform(-0.3, 1.3, size))
    base = rng.dirichlet(np.full(size, rng.uniform(0.3, 3))) + 1e-9
    match rng.choice(list(KINDS), p=list(KINDS.values())):
        case "window":
            total = np.exp(rng.uniform(np.log(1.0001 / ratio), np.log(0.9999)))
            return Window(epsilon, inputs, points, base * (total / base.sum()), ratio)
        case "unbiased":
            reach = inputs.length * rng.uniform(1.5, 3) / math.tanh(epsilon / 2)
            masses = np.concatenate([[1.0], base * 0.1, [1.0]])
            outputs = np.concatenate([[inputs.middle - reach], points, [inputs.middle + reach]])
            return UnbiasedWindow(epsilon, inputs, outputs, masses / masses.sum() * 2 / (1 + ratio), ratio)
        case "finite":
            table = base * np.exp(0.49 * epsilon * rng.random((int(rng.integers(1, 8)), size)))
            domain = Finite(tuple(range(len(table))))
            return Discrete(epsilon, domain, Finite(tuple(range(size))), table / table.sum(axis=1, keepdims=True))
        case "two-point":
            return catalogue.duchi(epsilon, inputs)
        case "pieces":
            build = rng.choice([catalogue.pm, catalogue.sw, catalogue.ogpm, catalogue.ogpm_squared])
            return build(epsilon, inputs)
        case _:
            return rng.choice([catalogue.laplace, catalogue.truncated_laplace])(epsilon, inputs)


def ship(mechanism, bits, refusals):
    """The table, by way of the next step where the first number of bits is refused; None where there is none."""
    try:
        return make_table(mechanism, bits)
    except InvalidInput as refused:
        step = re.fullmatch(r"take (\d+) bits", refused.next_step)
        refusals[re.sub(r"\d[\d.e+-]*", "N", f"{refused.field}: {refused.rule}; {refused.next_step}")] += 1
        return make_table(mechanism, int(step[1])) if step else None


def bits_for(mechanism, rng):
    return int(rng.choice(BITS[:2] if mechanism.name in ("unbiased window", "Duchi") else BITS))


def tables_of(count, seed, refusals):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        mechanism = random_mechanism(rng)
        yield ship(mechanism, bits_for(mechanism, rng), refusals)


def require_all_verify(count, seed, alone):
    refusals, kinds = Counter(), Counter()
    for table in tables_of(count, seed, refusals):
        assert table is not None, refusals
        found = alone.check(table.content)
        assert found["ratio"] == table.ratio
        assert table.ratio * 2**96 <= int(table.document["cap"])
        kinds[table.kind] += 1
    assert kinds.keys() == {"window", "unbiased", "finite", "pieces", "additive"}
    assert sum(refusals.values()) <= 0.06 * count, refusals


def test_random_designs_verify_or_say_how_many_bits_will(alone):
    require_all_verify(500, 20_260, alone)


@pytest.mark.slow
def test_ten_thousand_random_designs_verify_or_say_how_many_bits_will(alone):
    require_all_verify(10_000, 4, alone)


def whole_numbers(value, path=()):
    """The places in a law where an entry off by one is another law: not where equal cells merely start."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if type(inner) is int and key != "first":
            yield (*path, key)
        yield from whole_numbers(inner, (*path, key))


def test_a_whole_number_off_by_one_in_a_random_table_is_caught_behind_a_new_hash(alone):
    rng = np.random.default_rng(11)
    for table in tables_of(100, 12, Counter()):
        places = list(whole_numbers(dict(table.document["law"])))
        for k in rng.choice(len(places), min(len(places), 8), replace=False):
            document = copy.deepcopy(dict(table.document))
            inner = document["law"]
            for key in places[k][:-1]:
                inner = inner[key]
            inner[places[k][-1]] += int(rng.choice([-1, 1]))
            del document["sha256"]
            document["sha256"] = hashlib.sha256(alone.canonical(document)).hexdigest()
            with pytest.raises(alone.Failed):
                alone.check(alone.canonical(document))


@pytest.mark.parametrize("bits", [53, 62])
def test_a_table_too_fine_for_64_bits_says_which_is_not(bits):
    mechanism = Window(10.0, Interval(0, 1), [0.0, 0.5, 1.0], [0.1, 0.1, 0.1], math.exp(10) * (1 - 1e-12))
    with pytest.raises(InvalidInput, match=r"below 2\^63 in sum .*; take 32 bits"):
        make_table(mechanism, bits)
    assert make_table(mechanism, 32).bits == 32


def test_a_table_too_fine_at_every_number_of_bits_says_that_eps_is_the_reason():
    mechanism = Window(40.0, Interval(0, 1), [0.0, 1.0], [0.3, 0.3], math.exp(40) * (1 - 1e-12))
    with pytest.raises(InvalidInput, match="take a smaller eps"):
        make_table(mechanism, 16)


def test_a_table_too_coarse_for_its_base_says_which_is_not():
    # 16 bits hold 0.8 counts of this base: a table of one output would be private and useless
    mechanism = catalogue.duchi(12.0)
    with pytest.raises(InvalidInput, match="take 32 bits"):
        make_table(mechanism, 16)
    assert len(make_table(mechanism, 32).law.outputs) == 2


def test_a_table_whose_caps_round_away_says_which_does_not():
    # 80 counts an output, a ratio of 1.01: every cap is its count, and no row could follow its input
    points = np.linspace(0, 1, 801)
    mechanism = Window(0.01, Interval(0, 1), points, np.full(801, 0.9951 / 801), math.exp(0.01) * (1 - 1e-12))
    with pytest.raises(InvalidInput, match=r"enough for the number of outputs at this eps .*; take 32 bits"):
        make_table(mechanism, 16)
    assert make_table(mechanism, 32).privacy_loss <= 0.01


def test_unbiased_tables_say_how_many_bits_they_can_have():
    with pytest.raises(InvalidInput, match="take 32 bits"):
        make_table(catalogue.duchi(1.0), 53)
