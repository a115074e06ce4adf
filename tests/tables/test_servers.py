"""The dealer and the three servers: what is drawn, what one server sees, and what happens when somebody leaves."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
from collections import Counter, defaultdict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput, MissingExtra
from mechdesign.exact.hidden import hidden_excess, hidden_loss, liars_of
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.methods.registry import solve
from mechdesign.tables import server, servers
from mechdesign.tables.member import say
from mechdesign.tables.processes import RunFailed
from mechdesign.tables.server import Server, Users, order, product
from mechdesign.tables.servers import deal, drawn_delta, drawn_law, run_servers, thresholds
from tests.methods.problems import hidden_problem

RATE = 1e-6
LAW = CountedResponse((Fraction(1, 4), Fraction(1, 4), Fraction(3, 8), Fraction(1, 8), Fraction(0)))
TWO = CountedResponse((Fraction(0), Fraction(0), Fraction(1), *[Fraction(0)] * 4))
PEAKED = PeakedResponse(1000, 308, exp_lower(1.0))


# -- what is drawn -----------------------------------------------------------------------------------------------------


def test_thresholds_draw_the_law_up_to_two_to_the_minus_128():
    for law in (LAW, PeakedResponse(40, 11, Fraction(5, 2)), PeakedResponse(30, 15, exp_lower(1.0), 3)):
        exact, drawn = liars_of(law, law.users), drawn_law(law).chances
        assert max(abs(a - b) for a, b in zip(exact, drawn, strict=True)) <= Fraction(2, 2**128)


@pytest.mark.parametrize("users", [5, 40, 100])
def test_what_is_drawn_breaks_epsilon_by_no_more_than_the_delta_that_is_said(users):
    law = PeakedResponse(users, users * 3 // 10, exp_lower(1.0))
    drawn = drawn_law(law)
    excess = hidden_excess(drawn, exp_lower(1.0))
    assert 0 < excess <= Fraction(drawn_delta(law, 1.0))
    assert hidden_loss(drawn, users, users - 1, drawn_delta(law, 1.0)).upper <= 1.0


def test_far_out_the_chances_of_a_thousand_users_are_nothing_and_the_loss_without_a_delta_is_endless():
    drawn = drawn_law(PEAKED)
    assert drawn.chances[-1] == 0
    assert hidden_loss(drawn, 1000, 999).upper == float("inf")
    assert drawn_delta(PEAKED, 1.0) < 1e-34


def test_a_dealer_draws_the_law_and_every_set_alike():
    """Chi-square over the 16 sets of 4 users; n = 4000, false-positive rate 1e-6. Sets in order are found for sure."""
    counts = Counter(deal(LAW) for _ in range(4000))
    assert _p_of_sets(counts, 4000) > RATE


def _p_of_sets(counts: Counter[tuple[bool, ...]], total: int) -> float:
    sets = [lies for lies in itertools.product((False, True), repeat=4) if LAW.chances[sum(lies)]]
    assert set(counts) <= set(sets)
    expected = [float(LAW.chances[sum(lies)]) / len([s for s in sets if sum(s) == sum(lies)]) * total for lies in sets]
    return float(stats.chisquare([counts[lies] for lies in sets], expected).pvalue)


# -- the protocol without processes ------------------------------------------------------------------------------------


class Wire:
    """Messages between coroutines, counted as the engine counts them."""

    def __init__(self, crowd: dict[tuple[int, int, int], asyncio.Future[object]], pid: int, members: int) -> None:
        self.crowd, self.pid, self.members, self.step = crowd, pid, members, 0
        self.received: list[object] = []

    def _slot(self, step: int, sender: int, receiver: int) -> asyncio.Future[object]:
        return self.crowd.setdefault((step, sender, receiver), asyncio.get_running_loop().create_future())

    async def transfer(self, said, senders=None, receivers=None, sender_receivers=None):
        step, self.step = self.step, self.step + 1
        if sender_receivers is None:
            all_of = range(self.members)
            sender_receivers = [(a, b) for a in senders or all_of for b in (receivers or all_of)]
        for sender, receiver in sender_receivers:
            if sender == self.pid:
                self._slot(step, sender, receiver).set_result(said)
        got = [await self._slot(step, a, b) for a, b in sender_receivers if b == self.pid]
        senders_of = [a for a, b in sender_receivers if b == self.pid]
        self.received += [message for message, a in zip(got, senders_of, strict=True) if a != self.pid]
        return got


def play(law: CountedResponse, values: list[int]) -> tuple[list[bool], list[Wire]]:
    """One run of the protocol as coroutines, with 8 random bits: who lied, and what each received."""
    bounds = [bound >> 120 for bound in thresholds(law)]
    certain = sum(bound >> 8 for bound in bounds)
    task = {
        "users": law.users,
        "certain": certain,
        "thresholds": [f"{bound:x}" for bound in bounds[certain:] if bound],
        "categories": 2,
        "values": values,
        "absent": [],
    }
    heard: list[list[bool]] = []

    async def run() -> list[Wire]:
        slots: dict[tuple[int, int, int], asyncio.Future[object]] = {}
        wires = [Wire(slots, pid, 4) for pid in range(4)]
        members = [*(Server(wires[i], task | {"index": i}, say) for i in range(3)), Users(wires[3], task, say)]
        listen = members[3].listen

        async def listening():
            lies = await listen()
            heard.append([bool(lie) for lie in lies])
            return lies

        members[3].listen = listening
        await asyncio.gather(*(member.take_part() for member in members))
        return wires

    wires = asyncio.run(run())
    return heard[0], wires


def test_servers_draw_the_law_and_every_set_alike(capsys, monkeypatch):
    """Chi-square over the 16 sets of 4 users; n = 3000 runs, false-positive rate 1e-6. 8 bits draw this law exactly.

    A shuffle that leaves out its passes has liars in the first slots only and fails for sure; a law off by 10 points of
    total variation is found with power above 0.99: 14 degrees, noncentrality at least 3000 * (2 * .1)^2 = 120.
    """
    monkeypatch.setattr(server, "RANDOM_BITS", 8)
    counts = Counter(tuple(play(LAW, [1, 1, 0, 0])[0]) for _ in range(3000))
    assert _p_of_sets(counts, 3000) > RATE
    capsys.readouterr()


def test_the_comparison_is_that_of_whole_numbers(monkeypatch, capsys):
    """With 3 random bits all numbers R and all thresholds are tried: liars are the slots whose threshold is above R."""
    monkeypatch.setattr(server, "RANDOM_BITS", 3)
    bounds = list(range(8, 0, -1))
    for number in range(8):
        tape = {f"R{place}": number >> (2 - place) & 1 for place in range(3)}
        real = server.stream

        def fixed(key, label, size, tape=tape, real=real):
            if label in tape:
                return np.full(size, tape[label] if key == b"0" else 0, dtype=np.uint8)
            return real(key, label, size)

        monkeypatch.setattr(server, "stream", fixed)
        rows = _three(lambda one: one.draw(), {"users": 8, "certain": 0, "thresholds": [f"{b % 8:x}" for b in bounds]})
        monkeypatch.setattr(server, "stream", real)
        row = rows[0][0] ^ rows[1][0] ^ rows[2][0]
        assert row.tolist() == [int(number < bound % 8) for bound in bounds]
    capsys.readouterr()


def _three(act, task, keys=(b"0", b"1", b"2"), wires=None):
    """What three servers return when each of them does something."""

    async def run():
        slots: dict[tuple[int, int, int], asyncio.Future[object]] = {}
        found = []
        for i in range(3):
            one = Server(Wire(slots, i, 3), task | {"index": i}, say)
            one.keys = {i: keys[i], (i + 1) % 3: keys[(i + 1) % 3]}
            found.append(one)
        if wires is not None:
            wires.extend(one.network for one in found)
        return await asyncio.gather(*(act(one) for one in found))

    return asyncio.run(run())


# -- what one server sees ----------------------------------------------------------------------------------------------

BIT = (0, 1)


def test_a_product_tells_no_single_server_anything():
    """All shares of both factors and all masks: each server's view is equally likely whatever the factors are."""
    views: list[dict[tuple[int, int], Counter[tuple[int, ...]]]] = [defaultdict(Counter) for _ in range(3)]
    for x, y in itertools.product(BIT, repeat=2):
        for x0, x1, y0, y1, *masks in itertools.product(BIT, repeat=7):
            xs, ys = (x0, x1, x ^ x0 ^ x1), (y0, y1, y ^ y0 ^ y1)
            components = []
            for i in range(3):
                j = (i + 1) % 3
                pair = [(np.uint8(v[i]), np.uint8(v[j])) for v in (xs, ys)]
                components.append(int(product(*pair, np.uint8(masks[i] ^ masks[j]))))
            assert components[0] ^ components[1] ^ components[2] == x & y
            for i in range(3):
                j = (i + 1) % 3
                views[i][x, y][xs[i], xs[j], ys[i], ys[j], masks[i], masks[j], components[j]] += 1
    for seen in views:
        assert len({frozenset(counts.items()) for counts in seen.values()}) == 1


@pytest.mark.parametrize("first", [0, 1, 2])
def test_a_pass_of_the_shuffle_tells_no_single_server_anything(first, monkeypatch):
    """Two users; all rows, shares, masks and orders. The server that misses the order has the same views whatever row
    and order are; the two that know it have the same views whatever the row is. What comes out is a fresh sharing."""
    views: list[dict[tuple[object, ...], Counter[tuple[object, ...]]]] = [defaultdict(Counter) for _ in range(3)]
    out: dict[tuple[object, ...], Counter[tuple[int, ...]]] = defaultdict(Counter)
    third = (first + 2) % 3
    tape: dict[str, np.ndarray] = {}
    monkeypatch.setattr(server, "stream", lambda key, label, size: tape[key.decode()])
    monkeypatch.setattr(server, "order", lambda key, label, size: tape["order"])
    rows = list(itertools.product(BIT, repeat=2))
    for row, one, two, low, high, turn in itertools.product(rows, rows, rows, rows, rows, ((0, 1), (1, 0))):
        shares = [np.array(one), np.array(two), np.array(row) ^ np.array(one) ^ np.array(two)]
        shares = [share.astype(np.uint8) for share in shares]
        tape |= {str(first): np.array(low, np.uint8), str(third): np.array(high, np.uint8), "order": np.array(turn)}
        wires: list[Wire] = []
        got = _three(
            lambda who, shares=shares: who.reorder((shares[who.index], shares[(who.index + 1) % 3]), first),
            {"users": 2, "certain": 0, "thresholds": []},
            wires=wires,
        )
        after = [got[i][0] for i in range(3)]
        assert all((got[i][1] == got[(i + 1) % 3][0]).all() for i in range(3))
        assert (after[0] ^ after[1] ^ after[2]).tolist() == [row[place] for place in turn]
        out[row, turn][tuple(after[0].tolist() + after[1].tolist())] += 1
        for i in range(3):
            known = (row, turn) if i == third else (row,)
            view = (shares[i].tobytes(), shares[(i + 1) % 3].tobytes(), *(part.tobytes() for part in got[i]))
            masks = (low, high) if i == third else (low,) if i == first else (high,)
            views[i][(i == third or turn, known)][(*view, *masks, *map(bytes, wires[i].received))] += 1
    for i, seen in enumerate(views):
        alike = defaultdict(set)
        for (group, _), counts in seen.items():
            alike[group].add(frozenset(counts.items()))
        assert all(len(kinds) == 1 for kinds in alike.values())
        assert len(alike) == (1 if i == third else 2)
    for counts in out.values():
        assert len(counts) == 16
        assert len(set(counts.values())) == 1


def test_whoever_misses_one_order_of_three_knows_nothing_of_the_whole():
    """Three users: whichever two orders a server knows, over the third every place is equally likely for every slot."""
    orders = list(itertools.permutations(range(3)))
    for missing in range(3):
        for known in itertools.product(orders, repeat=2):
            ends = Counter()
            for unknown in orders:
                chain = list(known)
                chain.insert(missing, unknown)
                row = list(range(3))
                for one in chain:
                    row = [row[place] for place in one]
                ends[tuple(row)] += 1
            assert ends == Counter(dict.fromkeys(orders, 1))


def test_a_server_misses_the_key_of_the_order_it_is_not_to_know():
    for index in range(3):
        known = {index, (index + 1) % 3}
        missed = [first for first in range(3) if (first + 1) % 3 not in known]
        assert missed == [(index + 1) % 3]
        assert (missed[0] + 2) % 3 == index  # it is the third server of that pass


def test_two_servers_who_pool_their_shares_know_everything():
    """The guarantee ends there, as is said."""
    rows = _three(lambda one: one.draw(), {"users": 3, "certain": 2, "thresholds": []})
    assert (rows[0][0] ^ rows[0][1] ^ rows[1][1]).tolist() == [1, 1, 0]


def test_an_order_is_uniformly_random():
    """Chi-square over the 24 orders of 4; n = 4800 keys, false-positive rate 1e-6. One order left out is found."""
    counts = Counter(tuple(order(str(k).encode(), "x", 4).tolist()) for k in range(4800))
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > RATE


# -- processes ---------------------------------------------------------------------------------------------------------


def test_exactly_as_many_lie_as_the_law_says():
    run = run_servers(TWO, [1] * 6)
    assert sorted(run.reports) == [0, 0, 1, 1, 1, 1]
    assert run.shown == 6
    assert len(set(run.sent)) == 1


def test_a_thousand_users_report_in_seconds_and_the_estimate_is_near():
    """The count is 30 with a standard error of 17.1 by the certified variance; 5 errors: false-positive rate 1e-6."""
    design = solve(hidden_problem(1.0, 1000, 0.03))
    happenings = []
    run = run_servers(design.mechanism, [1] * 30 + [0] * 970, on_progress=happenings.append)
    assert abs(run.estimate(1) - 30) < 5 * design.certificate.upper**0.5
    assert [h.done for h in happenings] == list(range(1, happenings[-1].total + 1))
    assert Counter(h.stage for h in happenings) == servers._STEPS
    assert max(run.sent) < 10_000  # bytes a server


def test_users_who_stay_away_are_never_ignored():
    with pytest.raises(RunFailed, match="2 of 6 users did not report, and 1 were allowed"):
        run_servers(TWO, [1] * 6, absent=[0, 3], most_absent=1)
    run = run_servers(TWO, [1] * 6, absent=[0, 3], most_absent=2)
    assert (run.reports[0], run.reports[3], run.shown) == (None, None, 4)
    assert run.estimate(1) == pytest.approx((run.reports.count(1) - 4 / 3) / (1 / 3))


@pytest.fixture
def pausing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever says something waits a moment, so that whoever is killed then is killed at that stage."""
    text = (
        "import runpy, time\n"
        f"program = runpy.run_path({server.__file__!r})\n"
        "class Pausing:\n"
        "    def __init__(self, mpc, task, say):\n"
        "        def pause(**news):\n"
        "            say(**news)\n"
        "            time.sleep(0.4)\n"
        "        self.member = program['member'](mpc, task, pause)\n"
        "    async def take_part(self):\n"
        "        time.sleep(0.4)\n"
        "        await self.member.take_part()\n"
        "member = Pausing\n"
    )
    program = tmp_path / "pausing.py"
    program.write_text(text)
    monkeypatch.setattr(servers, "_PROGRAM", str(program))


@pytest.mark.parametrize(
    ("stage", "who"),
    [
        ("connected", 0),
        ("drawn", 1),
        ("shuffled", 2),
        ("told", 0),
        ("connected", 3),
        ("heard", 3),
        ("reported", 3),
    ],
)
@pytest.mark.usefixtures("pausing")
def test_whoever_is_killed_at_whatever_stage_ends_the_run_and_all_reports_are_discarded(stage, who):
    """Server 3 is the process of the users."""
    left = []

    def leave(happening):
        if (happening.stage, happening.party) == (stage, who):
            left.append(who)
            os.kill(happening.process, signal.SIGKILL)

    with pytest.raises(RunFailed, match=r"left in the middle of the protocol; .* its reports are discarded"):
        run_servers(TWO, [1] * 6, on_progress=leave)
    assert left == [who]


def test_a_run_past_its_time_fails_cleanly():
    with pytest.raises(RunFailed, match="time"):
        run_servers(TWO, [1] * 6, seconds=0.05)


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "options", "field"),
    [
        ([1] * 5, {}, "values"),
        ([1, 0, 2, 0, 0, 0], {}, "values[2]"),
        ([1] * 6, {"absent": [6]}, "absent"),
        ([1] * 6, {"most_absent": 6}, "most absent"),
        ([1] * 6, {"seconds": 0.0}, "seconds"),
    ],
)
def test_bad_input_names_its_field(values, options, field):
    with pytest.raises(InvalidInput) as caught:
        run_servers(TWO, values, **options)
    assert caught.value.field == field


def test_without_the_engine_the_extra_is_named(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"mechdesign\[mpc\]"):
        run_servers(TWO, [1] * 6)


def test_a_server_imports_nothing_of_the_package():
    lines = Path(server.__file__).read_text().splitlines()
    imports = [line for line in lines if line.lstrip().startswith(("import ", "from "))]
    assert imports
    assert not any("mechdesign" in line for line in imports)
