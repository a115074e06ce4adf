"""Reports for servers that add without reading: each report as bits, each bit as shares whose sum it is modulo a prime.

*What is gained.* No server, nor all but one of them together, learns a report: their shares are uniform whatever it is.
Together they learn the sums, which is what an estimate needs. If all of them work together they have the reports, which
are still epsilon-private: that does not rest on the servers.

*What is not.* Nothing here proves that the shares of a client add up to bits. One client can send any vector and so
change the sums by any amount, which with reports in the open it cannot: there it has one report. Prio proves bits in
zero knowledge; this does not, so use it among clients you trust to be honest, or put such a proof in front of it. No
loss smaller than the tables' epsilon is claimed for the sums.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import numpy as np

from mechdesign.errors import InvalidData, InvalidInput, require_whole
from mechdesign.tables.estimators import Tally
from mechdesign.tables.kinds import Listed, UnaryLaw
from mechdesign.tables.reports.payload import payload_of
from mechdesign.tables.table import Table
from mechdesign.values.declare import field, frozen, whole

PRIME = 2**64 - 2**32 + 1
"""Shares are whole numbers below this prime, as in the field of 64 bits that Prio3 uses."""
_ENTRY = 8  # bytes
_MOST_OUTPUTS = 1 << 16


def width_of(table: Table) -> int:
    """How many bits a report is: of unary encoding one an item, else one for each output but the first.

    So reports with two values are one bit.
    """
    law = table.law
    if isinstance(law, UnaryLaw):
        return law.count
    if not isinstance(law, Listed) or len(law.outputs) > _MOST_OUTPUTS:
        rule = f"be of unary encoding, or list at most {_MOST_OUTPUTS} outputs: what is added are bits, one for each"
        raise InvalidInput("table", f"{table.kind} table", rule, "send the reports in envelopes")
    return len(law.outputs) - 1


def bits_of(table: Table, report: bytes) -> tuple[int, ...]:
    """The bits of a report, given as an envelope holds it: its own, or which output but the first it is.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import randomised_response
    >>> bits_of(make_table(randomised_response(1.0, Finite((0, 1, 2)))), b"\\x02")
    (0, 1)
    """
    width, law = width_of(table), table.law
    found = payload_of(table).read(report, table)
    if isinstance(law, UnaryLaw):
        return tuple((byte >> place) & 1 for byte in report for place in range(8))[:width]
    assert isinstance(law, Listed)
    place = law.outputs.index(found)
    return tuple(int(j == place) for j in range(1, width + 1))


def split(bits: Sequence[int], servers: int = 2) -> tuple[bytes, ...]:
    """Shares of the bits, one for each server: 8 bytes an entry, little-endian, that add up to the bits modulo `PRIME`.

    All but the last are uniform, drawn with the system's randomness; so is, by itself, every one of them.

    >>> shares = [np.frombuffer(share, "<u8") for share in split((0, 1), servers=3)]
    >>> [sum(int(share[j]) for share in shares) % PRIME for j in (0, 1)]
    [0, 1]
    """
    count = require_whole(servers, "servers", 2, 64)
    if any(bit not in (0, 1) for bit in bits):
        raise InvalidData("bits", bits, "be 0 or 1 each")
    drawn = [[_uniform() for _ in bits] for _ in range(count - 1)]
    last = [(bit - sum(column)) % PRIME for bit, *column in zip(bits, *drawn, strict=True)]
    return tuple(_packed(share) for share in (*drawn, last))


@frozen
class Added:
    """What one server has: the sums of the shares it was sent, modulo `PRIME`, and how many it was sent.

    >>> Added.of(1, [split((1,))[0]]).count
    1
    """

    sums: tuple[int, ...] = field(repr=False)
    count: int = whole("count", 0)

    @classmethod
    def of(cls, width: int, shares: Iterable[bytes]) -> Added:
        """The sums of shares with ``width`` entries; one that is of another form is `InvalidData`, by its place."""
        sums, count = [0] * width, 0
        for count, share in enumerate(shares, 1):
            entries = np.frombuffer(share, "<u8") if len(share) == _ENTRY * width else None
            if entries is None or (entries >= PRIME).any():
                rule = f"be {_ENTRY * width} bytes: {width} numbers below 2^64 - 2^32 + 1"
                raise InvalidData(f"share {count}", share, rule)
            sums = [(a + b) % PRIME for a, b in zip(sums, entries.tolist(), strict=True)]
        return cls(tuple(sums), count)


def opened(table: Table, servers: Sequence[Added]) -> Tally:
    """What the servers' sums say of the reports: a tally, whose ``estimate`` is as of reports in the open.

    Sums that no reports have are an `InvalidData`: some share is missing or was damaged, or a client sent no bits. That
    is noticed only if a sum leaves its range; a client that lies within it is not.
    """
    width = width_of(table)
    counts = {server.count for server in servers}
    if len(servers) < 2 or len(counts) != 1 or any(len(server.sums) != width for server in servers):
        rule = f"be two or more, each with {width} sums of the same number of shares"
        raise InvalidInput("servers", f"{len(servers)} servers", rule, "they have to agree which reports they add")
    total = counts.pop()
    sums = [sum(column) % PRIME for column in zip(*(server.sums for server in servers), strict=True)]
    is_unary = isinstance(table.law, UnaryLaw)
    if any(one > total for one in sums) or (not is_unary and sum(sums) > total):
        rule = f"be those of {total} reports"
        raise InvalidData("sums", sums, rule, "a share is missing or damaged, or a client did not send bits")
    if is_unary:
        return Tally(table).add_ones(sums, total)
    return Tally(table).add_counts([total - sum(sums), *sums])


def _uniform() -> int:
    while True:
        drawn = int.from_bytes(os.urandom(_ENTRY), "little")
        if drawn < PRIME:
            return drawn


def _packed(share: Sequence[int]) -> bytes:
    return b"".join(entry.to_bytes(_ENTRY, "little") for entry in share)
