"""One of three servers that draw who lies, or all users together: a program that `member` runs for `servers`.

It imports nothing of this package. Every secret bit is the sum (XOR) of three, ``x = x_0 + x_1 + x_2``; server i knows
``x_i`` and ``x_(i+1)`` (all indices modulo 3), so that one server alone knows nothing and two know everything. The
component c has a key that the servers c and c - 1 share: what both derive from it needs no message.

1. *How many lie.* `RANDOM_BITS` joint random bits R. Slot i of the users' row is a liar's where ``R < 2^128 P(K > i)``:
   for public thresholds that are known beforehand a comparison bit by bit, each with one joint product. So the first K
   slots hold liars, and nobody knows K.
2. *Who lies.* Three passes. In pass a the servers a and a + 1 turn what they hold into two summands, put both in the
   same random order, which comes from the key that only these two share, and share the row anew with fresh masks. Every
   server misses one of the three orders, so to any one of them the row is in a uniformly random order. Each pass sends
   one bit a user each way.
3. *Telling.* Only when all three have come this far does each of them send its component to the users; a user adds the
   three bits of its own slot.
4. *Reporting.* Only when all users have theirs does anybody report.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

RANDOM_BITS = 128
SERVERS = 3
_KEY_BYTES = 32

Bits = NDArray[np.uint8]
Shares = tuple[Bits, Bits]
"""The two components that a server holds: its own, and the next one's."""


# -- arithmetic of shares ----------------------------------------------------------------------------------------------


def stream(key: bytes, label: str, size: int) -> Bits:
    """So many bits of a key, the same for both who have it; every label has its own."""
    digest = hashlib.shake_256(key + label.encode()).digest((size + 7) // 8)
    return unpacked(digest, size)


def order(key: bytes, label: str, size: int) -> NDArray[np.intp]:
    """A uniformly random order: that of distinct random numbers of 128 bits, drawn again if two are equal."""
    attempt = 0
    while True:
        digest = hashlib.shake_256(key + f"{label} {attempt}".encode()).digest(16 * size)
        high, low = np.frombuffer(digest, dtype=np.uint64).reshape(size, 2).T
        found = np.lexsort((low, high))
        same = (np.diff(high[found]) == 0) & (np.diff(low[found]) == 0)
        if not same.any():
            return found
        attempt += 1


def product(x: Shares, y: Shares, zero: Bits) -> Bits:
    """A server's component of ``x y``: the products it can form, hidden by its part of a random sharing of nothing."""
    return np.asarray((x[0] & y[0]) ^ (x[0] & y[1]) ^ (x[1] & y[0]) ^ zero)


def summand(role: int, x: Shares) -> Bits:
    """What the first (0) or the second (1) server of a pass holds of ``x = summand + summand``."""
    return x[0] ^ x[1] if role == 0 else x[1]


def one_to(index: int, bits: Bits) -> Shares:
    """A server's shares of public bits: they are component 0, and the others are nothing."""
    own, after = (bits if holds else np.zeros_like(bits) for holds in (index == 0, index == SERVERS - 1))
    return own.copy(), after.copy()


# -- who takes part ----------------------------------------------------------------------------------------------------


class Server:
    """One server: ``index`` 0, 1 or 2. ``network`` moves messages; ``keys`` are those of its two components."""

    def __init__(self, network: Any, task: dict[str, Any], say: Callable[..., None]) -> None:
        self.network, self.say = network, say
        self.index: int = task["index"]
        self.users: int = task["users"]
        self.certain: int = task["certain"]
        self.thresholds = [int(bound, 16) for bound in task["thresholds"]]
        self.keys: dict[int, bytes] = {}
        self.sent = 0

    @property
    def next(self) -> int:
        return (self.index + 1) % SERVERS

    @property
    def previous(self) -> int:
        return (self.index - 1) % SERVERS

    async def take_part(self) -> None:
        await self.agree()
        bits = await self.draw()
        await all_arrived(self.network)
        self.say(stage="drawn")
        bits = await self.shuffle(bits)
        await all_arrived(self.network)
        self.say(stage="shuffled")
        await self.tell(bits)
        await all_arrived(self.network)
        self.say(stage="told", bytes=self.sent)
        await all_arrived(self.network)

    async def agree(self) -> None:
        """A key for each component: server c draws that of c and tells server c - 1."""
        own = secrets.token_bytes(_KEY_BYTES)
        self.keys = {self.index: own, self.next: await self.pass_on(own)}

    async def draw(self) -> Shares:
        """Shares of a row that begins with the liars: who is certain, then one comparison for each threshold."""
        below = self.nothing(len(self.thresholds))
        for place in reversed(range(RANDOM_BITS)):
            known = np.array([bound >> (RANDOM_BITS - 1 - place) & 1 for bound in self.thresholds], dtype=np.uint8)
            random = tuple(stream(self.keys[c], f"R{place}", 1) for c in (self.index, self.next))
            both = await self.multiply((random[0], random[1]), below, f"AND{place}")
            # R < T from the lowest bit on: where T has a 1, not r or below; where it has a 0, not r and below
            flipped = one_to(self.index, known)
            below = tuple(  # type: ignore[assignment]
                np.where(known == 1, flipped[k] ^ random[k] ^ both[k], below[k] ^ both[k]) for k in range(2)
            )
        row = np.zeros(self.users, dtype=np.uint8)
        row[: self.certain] = 1
        whole = one_to(self.index, row)
        for k in range(2):
            whole[k][self.certain : self.certain + len(self.thresholds)] ^= below[k]
        return whole

    async def multiply(self, x: Shares, y: Shares, label: str) -> Shares:
        """Shares of the products of two rows of bits: each server sends its component to the one before it."""
        size = max(x[0].size, y[0].size)
        zero = stream(self.keys[self.index], label, size) ^ stream(self.keys[self.next], label, size)
        own = product(x, y, zero)
        return own, unpacked(await self.pass_on(packed(own)), size)

    async def shuffle(self, bits: Shares) -> Shares:
        """Three passes, in each of which two servers know the order."""
        for first in range(SERVERS):
            bits = await self.reorder(bits, first)
        return bits

    async def reorder(self, bits: Shares, first: int) -> Shares:
        """One pass: server ``first`` and the next one know the order, the third one gets two masks and no message."""
        second, third = (first + 1) % SERVERS, (first + 2) % SERVERS
        size = bits[0].size
        arcs = [(first, second), (second, first)]
        if self.index == third:
            await self.network.transfer(None, sender_receivers=arcs)
            return self.mask(third, first, size), self.mask(first, first, size)
        role = 0 if self.index == first else 1
        hidden = self.mask(first if role == 0 else third, first, size)
        ordered = summand(role, bits)[order(self.keys[second], f"order{first}", size)] ^ hidden
        message = packed(ordered)
        self.sent += len(message)
        (received,) = await self.network.transfer(message, sender_receivers=arcs)
        middle = ordered ^ unpacked(received, size)
        return (hidden, middle) if role == 0 else (middle, hidden)

    def mask(self, component: int, turn: int, size: int) -> Bits:
        """The fresh component of a pass that two servers derive from their key."""
        return stream(self.keys[component], f"mask{turn}", size)

    async def tell(self, bits: Shares) -> None:
        """Each server sends its own component to the users."""
        message = packed(bits[0])
        self.sent += len(message)
        await self.network.transfer(message, senders=range(SERVERS), receivers=[SERVERS])

    async def pass_on(self, message: bytes) -> bytes:
        """Send something to the server before, and receive from the one after."""
        self.sent += len(message)
        arcs = [(i, (i - 1) % SERVERS) for i in range(SERVERS)]
        (received,) = await self.network.transfer(message, sender_receivers=arcs)
        return bytes(received)

    def nothing(self, size: int) -> Shares:
        return np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)


class Users:
    """All users in one process: each adds the three bits of its own slot, and reports its value or another one."""

    def __init__(self, network: Any, task: dict[str, Any], say: Callable[..., None]) -> None:
        self.network, self.say = network, say
        self.users: int = task["users"]
        self.categories: int = task["categories"]
        self.values: list[int] = task["values"]
        self.absent = set(task["absent"])

    async def take_part(self) -> None:
        await self.stand_by(1 + RANDOM_BITS)
        await all_arrived(self.network)
        await self.stand_by(SERVERS)
        await all_arrived(self.network)
        lies = await self.listen()
        self.say(stage="heard")
        await all_arrived(self.network)
        reports = [None if i in self.absent else self.report(i, bool(lie)) for i, lie in enumerate(lies.tolist())]
        self.say(stage="reported", reports=reports)
        await all_arrived(self.network)

    async def stand_by(self, messages: int) -> None:
        """Count messages of the servers to each other: the engine numbers those of all processes together."""
        for _ in range(messages):
            await self.network.transfer(None, sender_receivers=[])

    async def listen(self) -> Bits:
        """Whether each user lies."""
        told = await self.network.transfer(None, senders=range(SERVERS), receivers=[SERVERS])
        first, second, third = (unpacked(message, self.users) for message in told)
        return first ^ second ^ third

    def report(self, user: int, lies: bool) -> int:
        """The value, or any other category, drawn by the operating system."""
        value = self.values[user]
        return (value + 1 + secrets.randbelow(self.categories - 1)) % self.categories if lies else value


async def all_arrived(network: Any) -> None:
    """Return once every process has come this far."""
    await network.transfer(None)


def packed(bits: Bits) -> bytes:
    return np.packbits(bits).tobytes()


def unpacked(message: bytes, size: int) -> Bits:
    return np.asarray(np.unpackbits(np.frombuffer(message, dtype=np.uint8))[:size])


def member(network: Any, task: dict[str, Any], say: Callable[..., None]) -> Server | Users:
    """What takes part, made of the engine, the task and what says the news."""
    return Server(network, task, say) if task["index"] < SERVERS else Users(network, task, say)
