"""Heavy hitters among very many strings, by prefixes that grow (PEM, Wang, Li and Jha 2021).

Users are split at random into groups, one for each prefix length. A user of group r reports the prefix of length
``r step`` by local hashing with the whole budget; the server keeps the ``beam`` best prefixes of each group and tries
their extensions on the next. The full strings that are left are estimated from the last group.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_chance, require_epsilon, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments
from mechdesign.studies.frequencies.protocols.hashing import (
    LocalHashing,
    Words,
    best_hashes,
    hash_support,
    local_hashing,
    random_seeds,
)
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.tables.kinds.hashing import hash_values
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.values.later import stats

END = "\0"
"""Fills strings up to the full length; it sorts before and differs from every character of an alphabet."""

MOST_CANDIDATES = 1 << 20
MOST_LENGTH = 256


@frozen
class Hitters:
    """Strings of the last group, most frequent first, with estimated frequencies and their standard error.

    ``found`` are those above zero beyond doubt: with at most the probability asked for that an absent string is found.
    The strings are the best of their group by its own reports, so the rarest of them look more frequent than they are.
    """

    strings: tuple[str, ...]
    frequencies: Floats = array(np.asarray)
    standard_error: float
    found: NDArray[np.bool_] = array(np.asarray)


@frozen
class PrefixReports:
    """One row a user: the group, and the seed and the perturbed hash."""

    groups: Counts = array(np.asarray)
    hashes: Words


@frozen
class PrefixSearch:
    """Strings over ``alphabet`` of at most ``length`` characters, found ``step`` characters at a time.

    *Guarantee.* A user is in one group, drawn without looking at the string, and reports once: the loss is that of
    local hashing, ``law.privacy_loss() = epsilon``.

    >>> search = prefix_search(4.0, "abcdefgh", 4, beam=8)
    >>> counts = {"abba": 60_000, "head": 30_000, "cafe": 9_000, "bed": 1_000}
    >>> search.simulate(counts, np.random.default_rng(1)).strings[:3]
    ('abba', 'head', 'cafe')
    """

    alphabet: str
    length: int
    beam: int
    step: int
    law: LocalHashing

    def __attrs_post_init__(self) -> None:
        if not isinstance(self.alphabet, str) or not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise InvalidInput("alphabet", self.alphabet, "be distinct characters in one string")
        if END in self.alphabet:
            raise InvalidInput("alphabet", self.alphabet, "not hold the null character, which ends strings")
        require_whole(self.length, "length", 1, MOST_LENGTH)
        require_whole(self.step, "step", 1, self.length)
        tried = self.beam_limit()
        require_whole(self.beam, "beam", 1, tried, f"at most {MOST_CANDIDATES} candidates are tried a group")

    def beam_limit(self) -> int:
        """The widest beam whose extensions can all be tried."""
        return max(1, MOST_CANDIDATES // int((len(self.alphabet) + 1) ** self.step))

    @property
    def groups(self) -> int:
        """The number of groups, one for each prefix length."""
        return -(-self.length // self.step)

    @property
    def epsilon(self) -> float:
        return self.law.epsilon

    @property
    def report_bits(self) -> float:
        return self.law.report_bits + (self.groups - 1).bit_length()

    def privacy_loss(self) -> float:
        return self.law.privacy_loss()

    def report(self, strings: Sequence[str], rng: Randomness) -> PrefixReports:
        """A group, a seed and a perturbed hash of the group's prefix for each user."""
        source = require_randomness(rng)
        texts = [self._padded(text, f"strings[{place}]") for place, text in enumerate(strings)]
        groups = source.integers(0, self.groups, len(texts), np.int64)
        pairs = zip(texts, groups.tolist(), strict=True)
        keys = np.array([_key(text[: (group + 1) * self.step]) for text, group in pairs], dtype=np.uint64)
        seeds = random_seeds(len(texts), source)
        said = self.law.perturb(hash_values(keys, seeds, self.law.hashes), source)
        return PrefixReports(groups, np.stack([seeds, said], axis=1))

    def search(self, reports: PrefixReports, error: float = 0.05) -> Hitters:
        """The strings that survive all groups."""
        groups = arguments.require_items(reports.groups, self.groups, "groups")

        def supports(group: int, candidates: Sequence[str]) -> tuple[Counts, int]:
            mine = reports.hashes[groups == group]
            keys = np.array([_key(text) for text in candidates], dtype=np.uint64)
            return hash_support(mine, keys, self.law.hashes), len(mine)

        return self._grow(supports, error)

    def simulate(self, counts: Mapping[str, int], rng: np.random.Generator, error: float = 0.05) -> Hitters:
        """The search among ``counts[s]`` users with string s under an ideal hash, at a cost free of their number."""
        generator = require_generator(rng)
        strings, held = arguments.require_named_counts(counts)
        texts = [self._padded(text, f"counts[{text!r}]") for text in strings]
        members = generator.multinomial(held, np.full(self.groups, 1 / self.groups))

        def supports(group: int, candidates: Sequence[str]) -> tuple[Counts, int]:
            of_prefix: dict[str, int] = defaultdict(int)
            for text, count in zip(texts, members[:, group].tolist(), strict=True):
                of_prefix[text[: (group + 1) * self.step]] += count
            own = np.array([of_prefix.get(text, 0) for text in candidates], dtype=np.int64)
            users = int(members[:, group].sum())
            return generator.binomial(own, self.law.p) + generator.binomial(users - own, self.law.q), users

        return self._grow(supports, error)

    def standard_error(self, n: int) -> float:
        """Of the estimate of an absent string, from the last group of n users."""
        return math.sqrt(self.law.variance(0.0, max(1, n // self.groups)).item())

    def _grow(self, supports: Callable[[int, Sequence[str]], tuple[Counts, int]], error: float) -> Hitters:
        require_chance(error, "error")
        kept, shares, users = [""], np.zeros(0), 0
        for group in range(self.groups):
            candidates = self._extended(kept, min(self.step, self.length - group * self.step))
            counted, users = supports(group, candidates)
            if users == 0:
                rule = f"have users in each of the {self.groups} groups"
                raise InvalidInput("reports", f"none in group {group}", rule, "collect more, or use a larger step")
            shares = (counted / users - self.law.q) / (self.law.p - self.law.q)
            best = np.argsort(-shares, kind="stable")[: self.beam]
            kept, shares = [candidates[place] for place in best.tolist()], shares[best]
        spread = math.sqrt(self.law.variance(0.0, users).item())
        # the beam is the best of all candidates tried in the last group
        tried = self.beam * (len(self.alphabet) + 1) ** self.step
        found = shares > float(stats.norm.isf(error / tried)) * spread
        return Hitters(tuple(text.rstrip(END) for text in kept), shares, spread, found)

    def _extended(self, prefixes: Sequence[str], by: int) -> list[str]:
        """All prefixes longer by so many characters; one that has ended goes on with the end."""
        grown = []
        for prefix in prefixes:
            for letters in product((END, *self.alphabet), repeat=by):
                tail = "".join(letters)
                if END in tail.rstrip(END) or (prefix.endswith(END) and tail.strip(END)):
                    continue
                grown.append(prefix + tail)
        return grown

    def _padded(self, text: str, field: str) -> str:
        if not isinstance(text, str) or not set(text) <= set(self.alphabet):
            raise InvalidInput(field, text, "be a string over the alphabet", f"the alphabet is {self.alphabet!r}")
        if len(text) > self.length:
            raise InvalidInput(field, text, f"have at most {self.length} characters")
        return text.ljust(self.length, END)


def _key(text: str) -> int:
    """Eight bytes of BLAKE2b of the prefix: the whole number that local hashing hashes."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def prefix_search(
    epsilon: float, alphabet: str, length: int, beam: int = 32, step: int = 1, g: int | None = None
) -> PrefixSearch:
    """The search with local hashing at epsilon; unless given, g is the best one for many candidates."""
    budget = require_epsilon(epsilon)
    size = arguments.require_item_count(max(2, min(arguments.MOST_ITEMS, beam * (len(alphabet) + 1))))
    hashes = best_hashes(budget, size) if g is None else g
    return PrefixSearch(alphabet, length, beam, step, local_hashing(budget, size, hashes, "prefix search"))
