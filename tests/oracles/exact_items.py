"""Laws on items, written down from FORMAT.md and not from the sampler."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

from mechdesign.tables import Table
from mechdesign.tables.kinds.hashing import hashed


def exact(table: Table, item: int, seed: int = 0) -> dict[bytes, Fraction]:
    """The chances of all reports of an item; where a hash function is drawn, under this one."""
    said, whole, k = table.document["law"], 1 << table.bits, table.document["domain"]["count"]

    def choice(groups: int, mine: int) -> list[Fraction]:
        return [Fraction(said["own"] if group == mine else said["other"], whole) for group in range(groups)]

    def coins(width: int, mine: int) -> Iterator[tuple[bytes, Fraction]]:
        for bits in itertools.product((0, 1), repeat=width):
            pairs = [said["own_bit" if v == mine else "other_bit"][bit] for v, bit in enumerate(bits)]
            number = sum(bit << v for v, bit in enumerate(bits))
            yield number.to_bytes((width + 7) // 8, "little"), math.prod(Fraction(count, whole) for count in pairs)

    match table.kind:
        case "response":
            return {bytes([y]): chance for y, chance in enumerate(choice(k, item))}
        case "unary":
            return dict(coins(k, item))
        case "hashing":
            mine = hashed(item, seed) % said["hashes"]
            head = seed.to_bytes(8, "little")
            return {head + bytes([y]): chance for y, chance in enumerate(choice(said["hashes"], mine))}
        case "sketch":
            mine = hashed(item, seed) % said["buckets"]
            return {bytes([seed]) + bits: chance for bits, chance in coins(said["buckets"], mine)}
        case "subset":
            found = {}
            for members in itertools.combinations(range(k), said["subset"]):
                inside = item in members
                alike = math.comb(k - 1, said["subset"] - inside)
                number = sum(1 << v for v in members)
                found[bytes([number])] = Fraction(said["own" if inside else "other"], whole * alike)
            return found
    blocks, rows = said["blocks"], -(-k // said["blocks"])
    width, row = 1 << rows.bit_length(), item // blocks + 1
    found = {}
    for index in range(blocks * width):
        is_own = index // width == item % blocks and (index % width & row).bit_count() % 2 == 0
        found[bytes([index])] = Fraction(said["own" if is_own else "other"], whole * width // 2)
    return found
