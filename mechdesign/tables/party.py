"""One party of the joint response, a program that `member` runs for `parties`. It imports nothing of this package.

Protocol (section 4.4), on Shamir shares among all parties (mpyc; semi-honest, fewer than half of the parties may pool
what they see):

1. *Grouping.* Each user inputs a random key as shares. An oblivious network sorts the keys; slots 1..g of the sorted
   list are the first group, and so on. What each comparison said stays shared, so nobody learns where anybody stands.
2. *Truthfulness.* Each group has 64 joint random bits R. The user in slot s of the group is truthful where
   ``R < floor(2^64 P(more than s - 1 are truthful))``: with random slots exactly the exchangeable law, and no party
   knows R. The network run backwards, with the same swaps, brings the truth bits back to their owners.
3. *Opening.* Only when all shares of all truth bits are computed is each bit opened, to its owner alone. Whoever leaves
   before that takes everybody's bits along: shares of an unfinished run say nothing. Who leaves during the opening may
   leave others with their own bits.
4. *Reporting.* Only when every party has its bits does anybody report.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

KEY_BITS = 62
RANDOM_BITS = 64
_WIDTH = 64  # whole numbers of the protocol: keys and a sign, with room for differences
_TOGETHER = 25  # rounds that share their messages' way


def comparators(size: int) -> list[tuple[int, int]]:
    """Batcher's odd-even merge exchange: pairs of places to be put in order, whatever the keys are.

    >>> comparators(4)
    [(0, 2), (1, 3), (0, 1), (2, 3), (1, 2)]
    """
    network = []
    top = 1 << max(size - 1, 1).bit_length() - 1
    block = top
    while block:
        reach, rest, distance = top, 0, block
        while True:
            network += [(i, i + distance) for i in range(size - distance) if i & block == rest]
            if reach == block:
                break
            distance, reach, rest = reach - block, reach >> 1, block
        block >>= 1
    return network


class Party:
    """What one process knows and does. ``value`` is None for a helper, who has no data and gets no bit."""

    def __init__(self, mpc: Any, task: dict[str, Any], say: Callable[..., None]) -> None:
        self.mpc, self.say = mpc, say
        self.index: int = task["index"]
        self.users: int = task["users"]
        self.group: int = task["group"]
        self.categories: int = task["categories"]
        self.rounds: int = task["rounds"]
        self.bounds: list[int] = task["bounds"]
        self.value: int | None = task["value"]
        self.integer = mpc.SecInt(_WIDTH)

    async def take_part(self) -> None:
        for start in range(0, self.rounds, _TOGETHER):
            await self.play(range(start, min(start + _TOGETHER, self.rounds)))
        await self.all_arrived()

    async def play(self, rounds: range) -> None:
        """Some rounds at once: group all, draw all, wait for everybody, open, wait for everybody, report."""
        swaps = [self.swaps() for _ in rounds]
        for bits in swaps:
            await self.mpc.gather(bits)
        for number in rounds:
            self.say(stage="grouped", round=number)
        truths = [self.route(self.slots(), bits) for bits in swaps]
        for bits in truths:
            await self.mpc.gather(bits)
        await self.all_arrived()
        for number in rounds:
            self.say(stage="drawn", round=number)
        opened = [await self.open_own(bits) for bits in truths]
        await self.all_arrived()
        for number, mine in zip(rounds, opened, strict=True):
            if mine is not None:
                self.say(stage="reported", round=number, report=self.report(bool(mine)))

    def swaps(self) -> list[Any]:
        """Sort the users' random keys; shares of which comparators swapped."""
        key = self.integer(secrets.randbits(KEY_BITS) if self.value is not None else 0)
        keys = self.mpc.input(key, senders=list(range(self.users)))
        result = []
        for i, j in comparators(self.users):
            swap = keys[j] < keys[i]
            keys[i], keys[j] = self.mpc.if_swap(swap, keys[i], keys[j])
            result.append(swap)
        return result

    def slots(self) -> list[Any]:
        """The truth bits of all slots: of every group the first ones, as many as its random number says."""
        bits = self.mpc.random_bits(self.integer, RANDOM_BITS * (self.users // self.group))
        numbers = [bits[start : start + RANDOM_BITS] for start in range(0, len(bits), RANDOM_BITS)]
        return self.all_below([number for number in numbers for _ in self.bounds], self.bounds * len(numbers))

    def all_below(self, numbers: list[list[Any]], bounds: list[int]) -> list[Any]:
        """Whether each number, given as shared bits from the highest on, is below its public bound.

        Every stretch of bits is (below, equal); two neighbours are (below + equal * below', equal * equal').
        """
        one = self.integer(1)
        result: list[Any] = [one if bound >> RANDOM_BITS else None for bound in bounds]  # 2^64 itself: always below
        open_places = [place for place, known in enumerate(result) if known is None]
        stretches = [
            [
                (one - bit, bit) if bounds[place] >> (RANDOM_BITS - 1 - k) & 1 else (0 * bit, one - bit)
                for k, bit in enumerate(numbers[place])
            ]
            for place in open_places
        ]
        for _ in range(RANDOM_BITS.bit_length() - 1):
            pairs = [pair for row in stretches for pair in zip(row[::2], row[1::2], strict=True)]
            left = [equal for (_, equal), _ in pairs for _ in range(2)]
            right = [part for _, low in pairs for part in low]
            parts = self.mpc.schur_prod(left, right)
            merged = [(high[0] + parts[2 * k], parts[2 * k + 1]) for k, (high, _) in enumerate(pairs)]
            width = len(merged) // max(len(stretches), 1)
            stretches = [merged[start : start + width] for start in range(0, len(merged), max(width, 1))]
        for place, row in zip(open_places, stretches, strict=True):
            result[place] = row[0][0]
        return result

    def route(self, slots: list[Any], swaps: list[Any]) -> list[Any]:
        """The truth bits in the order of the users."""
        bits = list(slots)
        for (i, j), swap in zip(reversed(comparators(self.users)), reversed(swaps), strict=True):
            bits[i], bits[j] = self.mpc.if_swap(swap, bits[i], bits[j])
        return bits

    async def open_own(self, truths: list[Any]) -> int | None:
        """Every truth bit is opened to its owner; the own one, if there is one."""
        opened = [self.mpc.output(bit, receivers=[user]) for user, bit in enumerate(truths)]
        mine = None
        for user, future in enumerate(opened):
            bit = await future
            if user == self.index:
                mine = int(bit)
        return mine

    def report(self, truthful: bool) -> int:
        """The value, or any other category, drawn by the operating system."""
        assert self.value is not None
        if truthful:
            return self.value
        return (self.value + 1 + secrets.randbelow(self.categories - 1)) % self.categories

    async def all_arrived(self) -> None:
        """Return once every party has come this far."""
        await self.mpc.transfer(self.index)


member = Party
"""What takes part, made of the engine, the task and what says the news."""
