"""The protocol: its exact law on plain numbers, then real processes: law, views, and parties that leave."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import CheckFailed, InvalidInput, MissingExtra
from mechdesign.exact.collusion import prove_joint_privacy
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods import solve
from mechdesign.tables import member, parties, party
from mechdesign.tables.making import make_table
from mechdesign.tables.member import say
from mechdesign.tables.parties import RunFailed, implemented_law, law_to_run, run_parties, truth_bounds
from mechdesign.tables.party import Party, comparators
from mechdesign.tables.processes import free_ports
from mechdesign.words.privacy import Collusion
from tests.methods.problems import joint_problem

RATE = 1e-6
TABLE_4_2 = JointResponse.pair(F(3, 4), F(-3, 10))


class PlainNumbers:
    """The engine's arithmetic without any sharing, with the random bits and keys a test wants."""

    def __init__(self, bits=(), keys=()):
        self.bits, self.keys = list(bits), list(keys)

    def SecInt(self, width):
        return int

    def input(self, own, senders):
        return list(self.keys)

    def random_bits(self, kind, count):
        taken, self.bits = self.bits[:count], self.bits[count:]
        return taken

    def if_swap(self, swap, first, second):
        return (second, first) if swap else (first, second)

    def schur_prod(self, first, second):
        return [a * b for a, b in zip(first, second, strict=True)]

    async def gather(self, shares):
        return shares


def task_of(law, users, bounds=None):
    return {
        "index": 0,
        "users": users,
        "group": law.group,
        "categories": law.categories,
        "rounds": 1,
        "bounds": truth_bounds(law) if bounds is None else bounds,
        "value": 1,
    }


@pytest.mark.parametrize("size", range(2, 11))
def test_the_network_sorts_everything(size):
    """The 0-1 principle: what sorts all zeros and ones sorts all keys."""
    for bits in itertools.product((0, 1), repeat=size):
        keys = list(bits)
        for i, j in comparators(size):
            if keys[j] < keys[i]:
                keys[i], keys[j] = keys[j], keys[i]
        assert keys == sorted(keys)


@pytest.mark.parametrize("bound", [0, 1, 5, 8, 15, 16])
def test_the_comparison_with_a_public_bound_is_exact(monkeypatch, bound):
    monkeypatch.setattr(party, "RANDOM_BITS", 4)
    user = Party(PlainNumbers(), task_of(TABLE_4_2, 2, [bound, bound]), say)
    numbers = [[n >> k & 1 for k in (3, 2, 1, 0)] for n in range(16)]
    assert user.all_below(numbers, [bound] * 16) == [int(n < bound) for n in range(16)]


def test_over_all_random_numbers_and_orders_the_law_is_the_weights(monkeypatch):
    """All 256 random numbers and 24 orders of four users in pairs, with weights in sixteenths."""
    monkeypatch.setattr(party, "RANDOM_BITS", 4)
    weights = (F(1, 16), F(6, 16), F(9, 16))
    bounds = [15, 9]
    seen = Counter()
    for keys in itertools.permutations(range(4)):
        groups = [sorted(keys).index(key) // 2 for key in keys]
        for numbers in itertools.product(range(16), repeat=2):
            bits = [n >> k & 1 for n in numbers for k in (3, 2, 1, 0)]
            user = Party(PlainNumbers(bits, keys), task_of(TABLE_4_2, 4, bounds), say)
            truths = user.route(user.slots(), user.swaps())
            seen[tuple(groups), tuple(truths)] += F(1, 24 * 256)
    for first_group in itertools.combinations(range(4), 2):
        for truths in itertools.product((0, 1), repeat=4):
            groups = tuple(0 if i in first_group else 1 for i in range(4))
            expected = F(1, 6)
            for number in (0, 1):
                own = [truths[i] for i in range(4) if groups[i] == number]
                expected *= weights[sum(own)] / (2 if sum(own) == 1 else 1)
            assert seen[groups, truths] == expected


def test_rounding_to_64_bits_never_makes_reports_more_truthful():
    law = JointResponse.pair(F(2, 3), F(-1, 7))
    rounded = implemented_law(law)
    assert rounded.truth <= law.truth
    assert max(abs(a - b) for a, b in zip(law.weights, rounded.weights, strict=True)) < F(1, 2**62)
    assert implemented_law(rounded) == rounded


def test_lies_go_to_all_other_categories():
    user = Party(PlainNumbers(), task_of(JointResponse.pair(F(3, 4), 0, 4), 2), say)
    assert user.report(True) == 1
    assert {user.report(False) for _ in range(400)} == {0, 2, 3}  # misses one with probability below 1e-69


def test_nothing_is_opened_before_everybody_has_arrived():
    """The order of events inside a round, on plain numbers."""
    events = []

    class Watched(Party):
        async def all_arrived(self):
            events.append("arrived")

        async def open_own(self, truths):
            events.append("opened")

    bits = [0] * 64
    asyncio.run(Watched(PlainNumbers(bits, [1, 2]), task_of(TABLE_4_2, 2), say).play(range(1)))
    assert events == ["arrived", "opened", "arrived"]


def test_nobody_reports_before_everybody_has_opened(capsys):
    class Waiting(Party):
        async def all_arrived(self):
            assert "reported" not in capsys.readouterr().out

        async def open_own(self, truths):
            return 1

    asyncio.run(Waiting(PlainNumbers([0] * 64, [1, 2]), task_of(TABLE_4_2, 2), say).play(range(1)))
    assert "reported" in capsys.readouterr().out


def test_a_law_to_run_keeps_every_budget_and_every_finite_loss():
    """Rounding to 64 bits breaks the cap of independent answers at the very budget, unless something is mixed in."""
    repaired = 0
    for eps in (0.3, 1.0, 2.0, 5.0, 16.0):
        law = solve(joint_problem(eps, 1000, 0.1, colluders=100, caps=(eps,))).mechanism
        drawn = law_to_run(law, Collusion(eps, 1000, 100, (eps,)))
        prove_joint_privacy(drawn, eps, 1000, 100, (eps,))
        assert implemented_law(drawn) == drawn
        assert abs(drawn.lie / law.lie - 1) < 1e-4
        with contextlib.suppress(CheckFailed):
            prove_joint_privacy(implemented_law(law), eps, 1000, 100, (eps,))
            continue
        repaired += 1
    assert repaired


def test_a_law_at_the_edge_is_run_as_it_is():
    law = solve(joint_problem(1.0, 1000, 0.03)).mechanism
    assert law_to_run(law, Collusion(1.0, 1000)) == law
    with pytest.raises(InvalidInput, match="at most 16"):
        law_to_run(law, Collusion(17.0, 1000))


def test_no_table_is_made_of_a_joint_response_and_what_to_do_instead_is_said():
    design = solve(joint_problem(1.0, 1000, 0.03))
    for source in (design, design.mechanism):
        with pytest.raises(InvalidInput, match=r"no table holds that.*run_parties.*randomised_response"):
            make_table(source)


# -- processes ---------------------------------------------------------------------------------------------------------


def test_two_users_and_a_helper_report_and_every_step_is_told():
    happenings = []
    run = run_parties(TABLE_4_2, [1, 0], on_progress=happenings.append)
    assert (run.parties, run.threshold, len(run.reports)) == (3, 1, 1)
    assert set(run.reports[0]) <= {0, 1}
    assert [h.done for h in happenings] == list(range(1, happenings[-1].total + 1))
    assert Counter(h.stage for h in happenings) == {"connected": 3, "grouped": 3, "drawn": 3, "reported": 2}
    assert len({h.process for h in happenings}) == 3


def test_a_law_that_never_lies_brings_every_value_back():
    run = run_parties(JointResponse((0, 0, 1), 3), [2, 0, 1, 1])
    assert run.reports == ((2, 0, 1, 1),)


@pytest.mark.parametrize("stage", ["connected", "grouped"])
def test_if_a_party_leaves_the_run_fails_for_all_and_no_bit_is_revealed(stage):
    seen, left = [], []

    def leave(happening):
        seen.append((happening.stage, happening.party))
        if happening.stage == stage and not left:
            left.append(happening.party)
            os.kill(happening.process, signal.SIGKILL)

    with pytest.raises(RunFailed, match="left in the middle"):
        run_parties(TABLE_4_2, [1, 1, 0, 0], rounds=25, on_progress=leave)
    assert ("drawn", left[0]) not in seen
    assert "reported" not in {happened for happened, _ in seen}


@pytest.mark.parametrize("stage", ["drawn", "reported"])
def test_if_a_party_leaves_during_or_after_the_opening_all_reports_are_discarded(stage):
    """Of 50 rounds 25 are opened together: whoever is killed in the first half cannot have finished."""
    left = []

    def leave(happening):
        if happening.stage == stage and not left:
            left.append(happening.party)
            os.kill(happening.process, signal.SIGKILL)

    with pytest.raises(RunFailed, match=r"left in the middle of the protocol; .* its reports are discarded"):
        run_parties(TABLE_4_2, [1, 1], rounds=50, on_progress=leave)
    assert left


def test_a_party_that_waits_for_others_ends_when_its_caller_does():
    """Its partners never come: it would try to reach them for ever."""
    task = task_of(TABLE_4_2, 2) | {"threshold": 1, "ports": free_ports(3), "program": party.__file__}
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", member.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "MPYC_NONUMPY": "1"},
    )
    try:
        process.stdin.write(json.dumps(task).encode() + b"\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1.0)
        process.stdin.close()
        assert process.wait(20) == member.LEFT
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_as_many_parties_as_are_allowed_come_to_an_end():
    run = run_parties(JointResponse((0, 0, 1)), [1, 0] * (parties.MOST_PARTIES // 2), seconds=300)
    assert run.reports == ((1, 0) * (parties.MOST_PARTIES // 2),)


def test_a_run_past_its_time_fails_cleanly():
    with pytest.raises(RunFailed, match="time"):
        run_parties(TABLE_4_2, [1, 1], rounds=2000, seconds=0.5)


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """300 rounds of two users with ones and a helper; each also writes down what it received, and its shares."""
    folder = tmp_path_factory.mktemp("views")
    program = folder / "watching.py"
    program.write_text(
        "import json, runpy\n"
        f"party = runpy.run_path({party.__file__!r})\n"
        f"folder = {str(folder)!r}\n"
        "Party, received = party['Party'], [0]\n"
        "class Watching(Party):\n"
        "    async def open_own(self, truths):\n"
        "        shares = [int((await self.mpc.gather(bit)).value) for bit in truths]\n"
        "        mine = await super().open_own(truths)\n"
        "        with open(f'{folder}/{self.index}', 'a') as log:\n"
        "            log.write(json.dumps([shares, received[0], mine]) + chr(10))\n"
        "        received[0] = 0\n"
        "        return mine\n"
        "def member(mpc, task, say):\n"
        "    from mpyc import asyncoro\n"
        "    receive = asyncoro.MessageExchanger.data_received\n"
        "    def data_received(exchanger, data):\n"
        "        received[0] += sum(data)\n"
        "        receive(exchanger, data)\n"
        "    asyncoro.MessageExchanger.data_received = data_received\n"
        "    Party.play.__globals__['_TOGETHER'] = 1\n"
        "    return Watching(mpc, task, say)\n"
    )
    patch = pytest.MonkeyPatch()
    patch.setattr(parties, "_PROGRAM", str(program))
    try:
        run = run_parties(TABLE_4_2, [1, 1], rounds=300, seconds=300)
    finally:
        patch.undo()
    logs = [[json.loads(line) for line in (folder / str(i)).read_text().splitlines()] for i in range(3)]
    return run, logs


@pytest.mark.slow
def test_real_reports_follow_table_4_2(watched):
    """All values are 1, so reports are truths. Four exact binomial tests, n = 300 rounds, false positives 1e-6 in all.

    Independent answers with the same p have both lying in 6.25% of rounds instead of 0.625%: found with power 0.96.
    """
    run, _ = watched
    counts = Counter(run.reports)
    law = run.law
    chances = {(1, 1): law.weights[2], (1, 0): law.weights[1] / 2, (0, 1): law.weights[1] / 2, (0, 0): law.weights[0]}
    for reports, chance in chances.items():
        assert stats.binomtest(counts[reports], 300, float(chance)).pvalue > RATE / 4


@pytest.mark.slow
def test_each_view_is_independent_of_the_other_s_bit(watched):
    """Chi-square of independence given the own bit: shares modulo 8, and the sum of all bytes received modulo 8.

    n = 300 rounds, false positives 1e-6 in all 12 tests. A view that gave the bit away would fail every time.
    """
    run, logs = watched
    truths = np.array(run.reports)
    for viewer in range(3):
        for other in range(2):
            if other == viewer:
                continue
            shares = np.array([entry[0][other] % 8 for entry in logs[viewer]])
            received = np.array([entry[1] % 8 for entry in logs[viewer]])
            known = [truths[:, viewer] == bit for bit in (0, 1)] if viewer < 2 else [np.full(300, True)]
            for chosen, view in itertools.product(known, (shares, received)):
                table = np.array([np.bincount(view[chosen & (truths[:, other] == bit)], minlength=8) for bit in (0, 1)])
                table = table[:, table.sum(axis=0) > 0]
                if (table.sum(axis=1) > 0).all():
                    assert stats.chi2_contingency(table).pvalue > RATE / 12


@pytest.mark.slow
def test_the_test_of_views_finds_a_leak(watched):
    """The same statistic with the other's bit added to the share."""
    run, logs = watched
    truths = np.array(run.reports)[:, 1]
    leaked = np.array([(entry[0][1] // 8 * 8 + int(bit)) % 8 for entry, bit in zip(logs[0], truths, strict=True)])
    table = np.array([np.bincount(leaked[truths == bit], minlength=2) for bit in (0, 1)])
    assert stats.chi2_contingency(table).pvalue < RATE


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "options", "field"),
    [
        ([1, 0, 1], {}, "parties"),
        ([1], {}, "parties"),
        ([1, 2], {}, "values[1]"),
        ([1] * 18, {}, "parties"),
        ([1, 0], {"rounds": 0}, "rounds"),
        ([1, 0], {"seconds": 0.0}, "seconds"),
    ],
)
def test_bad_input_names_its_field(values, options, field):
    with pytest.raises(InvalidInput) as caught:
        run_parties(TABLE_4_2, values, **options)
    assert caught.value.field == field


def test_without_the_engine_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"mechdesign\[mpc\]"):
        run_parties(TABLE_4_2, [1, 0])


@pytest.mark.parametrize("program", [member, party], ids=lambda program: program.__name__)
def test_a_party_imports_nothing_of_the_package(program):
    lines = Path(program.__file__).read_text().splitlines()
    imports = [line for line in lines if line.lstrip().startswith(("import ", "from "))]
    assert imports
    assert not any("mechdesign" in line for line in imports)
